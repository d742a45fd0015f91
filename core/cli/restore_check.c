/* restore_check - a check of the files that were unpacked. */
#include "core/cli/restore_check.h"

#include "core/base/arena.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/count/live.h"
#include "core/list/list.h"
#include "core/ring/trust/manifest.h"
#include "core/ring/trust/peer_identity.h"
#include "core/store/run.h"

enum { NAMES_MEMORY = 16 << 20 };

/* ---- the files of a folder, one by one ---- */

typedef enum err check_fn(void *context, const char *path, struct errinfo *reterr);

/* Checks each entry whose name has this end; a missing folder has none. */
static enum err check_each(const char *dir, const char *end, check_fn *check,
                           void *context, struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    enum err e = ERR_OK;

    while (e == ERR_OK && dir_walk_next(&w)) {
        char path[FILE_PATH_MAX];

        if (w.name[0] != '.' &&
            slice_has_suffix_nocase(slice_str(w.name), slice_str(end)) &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK) {
            e = check(context, path, reterr);
        }
    }
    return dir_walk_end(&w, e, reterr);
}

static enum err check_run(void *context, const char *path, struct errinfo *reterr)
{
    struct run *run = NULL;
    enum err e = run_open(path, &run, reterr);

    (void)context;
    THEN(e, run_verify(run, reterr));
    run_close(&run);
    return e;
}

static enum err check_journal(void *context, const char *path, struct errinfo *reterr)
{
    (void)context;
    return live_verify_journal(path, reterr);
}

/* ---- lists ---- */

static void keep_first(void *context, const struct errinfo *finding)
{
    struct errinfo *first = context;

    if (first->code == ERR_OK) {
        *first = *finding;
    }
}

static enum err check_lists_with(const struct keyring *keys, const char *dir,
                                 struct arena *arena, struct errinfo *reterr)
{
    struct slice *names = NULL;
    size_t n = 0;
    enum err e = list_names(dir, arena, &names, &n, reterr);

    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct errinfo first = {.code = ERR_OK};

        e = list_verify(dir, names[i], keys, keep_first, &first);
        if (first.code == ERR_VERSION || first.code == ERR_UNSUPPORTED) {
            e = ERR_OK; /* of another kind of machine or gillnet: `list rebuild` */
        } else if (e != ERR_OK && first.code != ERR_OK) {
            e = errinfo_set(reterr, first.code, first.source, first.line, "%s",
                            first.text);
        } else if (e != ERR_OK) {
            e = errinfo_set(reterr, e, dir, 0, "a list in it cannot be read");
        }
    }
    return e;
}

/* The lists of a state folder, or of one peer. */
static enum err check_lists(void *context, const char *dir, struct errinfo *reterr)
{
    struct arena *arena = arena_new(NAMES_MEMORY);
    enum err e = arena != NULL ? check_lists_with(context, dir, arena, reterr)
                               : errinfo_nomem(reterr, dir);

    arena_free(&arena);
    return e;
}

/* ---- the ring ---- */

static enum err check_peers(const char *dir, struct errinfo *reterr)
{
    struct identity self;
    struct manifest m;
    enum err e = identity_load(dir, &self, reterr);

    if (e == ERR_OK) {
        identity_wipe(&self);
        e = manifest_load(dir, &m, reterr);
        if (e == ERR_OK) {
            manifest_fini(&m);
        }
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* in no ring */
}

static enum err check_all(struct keyring *keys, const char *state_dir,
                          struct errinfo *reterr)
{
    static const struct {
        const char *dir;
        const char *end;
        check_fn *check;
    } rows[] = {{"counts/runs", ".run", check_run},
                {"peers/counts/runs", ".run", check_run},
                {"counts", ".wal", check_journal},
                {"peers/lists", "", check_lists}};
    char path[FILE_PATH_MAX];
    enum err e = keyring_load(state_dir, keys, reterr);

    if (e == ERR_NOT_FOUND) { /* of a folder where nothing was listed yet */
        e = path_make(path, NULL, "%s/lists", state_dir);
        return access(path, F_OK) == 0
                   ? errinfo_set(reterr, ERR_CORRUPT, path, 0,
                                 "there are lists without the keys that they are made "
                                 "with")
                   : e;
    }
    THEN(e, check_lists(keys, state_dir, reterr));
    for (size_t i = 0; e == ERR_OK && i < LENGTH(rows); i++) {
        e = path_make(path, NULL, "%s/%s", state_dir, rows[i].dir);
        THEN(e, check_each(path, rows[i].end, rows[i].check, keys, reterr));
    }
    if (e == ERR_OK && path_make(path, NULL, "%s/peers", state_dir) == ERR_OK) {
        e = check_peers(path, reterr);
    }
    return e;
}

enum err restore_check(const char *state_dir, struct errinfo *reterr)
{
    struct keyring keys = {.n = 0};
    struct errinfo why = {.code = ERR_OK};
    const size_t n = strlen(state_dir);
    enum err e = check_all(&keys, state_dir, &why);

    explicit_bzero(&keys, sizeof(keys));
    if (e != ERR_OK) { /* the folder goes, so name the file as it is in the backup */
        const bool is_below = strncmp(why.source, state_dir, n) == 0;

        (void)errinfo_set(reterr, e, is_below ? why.source + n + 1 : why.source, 0,
                          "the backup holds it damaged, so nothing was restored; take "
                          "an older one (%.300s)",
                          why.text);
    }
    return e;
}
