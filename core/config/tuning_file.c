#include "core/config/tuning_file.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/config/config_internal.h"

enum {
    FILE_MODE = 0640,
    DIR_MODE = 02750,
    LOCK_STEP_US = 20000,
    US_PER_S = 1000000,
    DECIMAL = 10
};
#define VERSION_FILE "version-"

/* ---- reading ---- */

/* The owner of the folder changes settings, and so does root. Within gillnetd's own user namespace
 * both have the number of an unknown user, and the folder's rights alone decide. */
static const char *refuse_rights(const char *path, const struct stat *st)
{
    char dir[FILE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat folder;

    if (!S_ISREG(st->st_mode)) {
        return "it is no regular file";
    }
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "other users than its owner may write to it; take the right away: chmod "
               "go-w";
    }
    if (slash == NULL || file_path(dir, "%.*s", (int)(slash - path), path) != ERR_OK ||
        stat(dir, &folder) != 0) {
        return "its folder cannot be looked at";
    }
    if ((folder.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "other users than its owner may write to its folder; take the right "
               "away: chmod go-w";
    }
    if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != folder.st_uid) {
        return "it belongs to a user who may not change settings; give it to the owner "
               "of its folder";
    }
    return NULL;
}

enum err tuning_file_read(const char *path, struct buf *ret, struct errinfo *reterr)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    char chunk[16384];
    ssize_t n = 0;

    if (fd < 0) {
        return errno == ENOENT ? errinfo_set(reterr, ERR_NOT_FOUND, path, 0,
                                             "there is no such file")
                               : errinfo_errno(reterr, path, "cannot be read");
    }
    const char *why =
        fstat(fd, &st) == 0 ? refuse_rights(path, &st) : "it cannot be looked at";
    if (why != NULL) {
        (void)close(fd);
        return errinfo_set(reterr, ERR_DENIED, path, 0, "%s", why);
    }
    while (!buf_failed(ret) && (n = read(fd, chunk, sizeof(chunk))) > 0) {
        buf_add(ret, slice_of(chunk, (size_t)n));
    }
    enum err e = n < 0 ? errinfo_errno(reterr, path, "cannot be read") : ERR_OK;
    (void)close(fd);
    return e == ERR_OK && buf_failed(ret)
               ? errinfo_set(reterr, ERR_LIMIT, path, 0,
                             "it is larger than %d KiB, or memory is short",
                             TUNING_FILE_BYTES >> 10)
               : e;
}

struct first_error {
    const char *path;
    enum err code;
    struct errinfo *ret;
};

static void keep_first_finding(void *context, unsigned line, enum err code,
                               const char *text)
{
    struct first_error *f = context;

    if (f->code == ERR_OK) {
        f->code = errinfo_set(f->ret, code, f->path, line, "%s", text);
    }
}

enum err tuning_file_load(const char *path, struct tuning **ret, struct errinfo *reterr)
{
    struct first_error first = {.path = path, .ret = reterr};
    struct tuning *t = tuning_new();
    struct buf text;

    buf_init(&text, TUNING_FILE_BYTES);
    enum err e =
        t != NULL ? tuning_file_read(path, &text, reterr) : errinfo_nomem(reterr, path);
    if (e == ERR_OK && !tuning_parse(buf_slice(&text), keep_first_finding, &first, t)) {
        e = first.code;
    }
    buf_fini(&text);
    if (e != ERR_OK) {
        tuning_free(&t);
    }
    *ret = t;
    return e;
}

/* ---- one change ---- */

/* The folder, and the change in it. */
struct changing {
    const struct tuning_request *r;
    char dir[FILE_PATH_MAX];
    char current[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX]; /* the file of the new version */
    struct filelock lock;
    struct buf was; /* text of current; empty: there was none */
    bool is_damaged;
    struct tuning *t; /* former settings, then new ones */
    uint64_t of_version;
    struct errinfo why;
};

static enum err version_path(const struct changing *c, uint64_t version,
                             char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/" VERSION_FILE "%llu", c->dir,
                     (unsigned long long)version);
}

/* Gives a file to the owner of the folder, where root makes it. */
static enum err give_to_owner(struct changing *c, const char *path)
{
    struct statedir_owner owner;

    statedir_owner(c->r->state_dir, STATE_TUNING_DIR, &owner);
    return owner.uid == (uid_t)-1 || lchown(path, owner.uid, owner.gid) == 0
               ? ERR_OK
               : errinfo_errno(&c->why, path, "cannot give it to its owner");
}

/* Other changes take a second or two: each waits for a reload. */
static enum err take_lock(struct changing *c)
{
    const uint64_t until_us = clock_mono_us() + (uint64_t)TUNING_LOCK_WAIT_S * US_PER_S;
    char path[FILE_PATH_MAX];
    enum err e = path_make(c->dir, &c->why, "%s/" STATE_TUNING_DIR, c->r->state_dir);

    THEN(e, path_make(c->current, &c->why, "%s/" STATE_TUNING_FILE, c->r->state_dir));
    THEN(e, path_make(path, &c->why, "%s/LOCK", c->dir));
    THEN(e, statedir_make(c->r->state_dir, &c->why));
    THEN(e, file_make_dir(c->dir, DIR_MODE, &c->why));
    THEN(e, give_to_owner(
                c, c->dir)); /* before gillnetd compares its owner with the file's */
    THEN(e, filelock_take(&c->lock, path, &c->why));
    while (e == ERR_LOCKED && clock_mono_us() < until_us) {
        (void)usleep(LOCK_STEP_US);
        e = filelock_take(&c->lock, path, &c->why);
    }
    return e;
}

/* The numbers of the kept versions: the newest one, and the oldest that is to stay. */
static void look_at_versions(const struct changing *c, uint64_t *retnewest)
{
    struct dir_walk w = dir_walk_begin(c->dir, DIR_OPTIONAL);
    const struct slice prefix = SLICE_LIT(VERSION_FILE);

    *retnewest = 0;
    while (dir_walk_next(&w)) {
        uint64_t n = 0;
        const struct slice name = slice_str(w.name);

        if (slice_has_prefix(name, prefix) &&
            slice_to_u64(slice_from(name, prefix.n), DECIMAL, INT64_MAX, &n)) {
            *retnewest = n > *retnewest ? n : *retnewest;
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

static void drop_old_versions(const struct changing *c, uint64_t newest)
{
    struct dir_walk w = dir_walk_begin(c->dir, DIR_OPTIONAL);
    const struct slice prefix = SLICE_LIT(VERSION_FILE);
    char path[FILE_PATH_MAX];

    while (dir_walk_next(&w)) {
        uint64_t n = 0;
        const struct slice name = slice_str(w.name);

        if (slice_has_prefix(name, prefix) &&
            slice_to_u64(slice_from(name, prefix.n), DECIMAL, INT64_MAX, &n) &&
            n + TUNING_VERSIONS <= newest &&
            file_path(path, "%s/%s", c->dir, w.name) == ERR_OK) {
            (void)unlink(path);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

/* The settings in force, into c->t. A damaged file is no error for an undo. */
static enum err read_current(struct changing *c)
{
    enum err e = tuning_file_read(c->current, &c->was, &c->why);

    if (e == ERR_NOT_FOUND) {
        c->t = tuning_new();
        return c->t != NULL ? ERR_OK : errinfo_nomem(&c->why, c->current);
    }
    THEN(e, tuning_file_load(c->current, &c->t, &c->why));
    c->is_damaged = e != ERR_OK;
    return c->is_damaged && c->r->is_undo ? ERR_OK : e;
}

static enum err check_version(struct changing *c)
{
    if (c->is_damaged || !c->r->has_version || c->r->version == c->t->version) {
        return ERR_OK;
    }
    return errinfo_set(&c->why, ERR_EXISTS, c->current, 0,
                       "version %llu is in force by now, of %.64s; look at it first",
                       (unsigned long long)c->t->version, c->t->who);
}

/* The settings of the version before, or of the newest whole one if the file is damaged. */
static enum err take_former(struct changing *c, uint64_t newest)
{
    const uint64_t wanted = c->is_damaged ? newest : c->t->former;
    const bool had_any = c->is_damaged || c->t->version > 0;
    char path[FILE_PATH_MAX];
    struct tuning *former = NULL;
    enum err e = ERR_OK;

    if (!had_any || (!c->is_damaged && c->t->n == 0 && c->t->former == 0)) {
        return errinfo_set(&c->why, ERR_NOT_FOUND, c->dir, 0,
                           "there is no change to undo");
    }
    if (wanted > 0) {
        e = version_path(c, wanted, path, &c->why);
        THEN(e, tuning_file_load(path, &former, &c->why));
    } else {
        former = tuning_new();
        e = former != NULL ? ERR_OK : errinfo_nomem(&c->why, c->dir);
    }
    if (e == ERR_NOT_FOUND) {
        (void)errinfo_set(&c->why, e, path, 0,
                          "the version before is gone: only the newest %d are kept",
                          TUNING_VERSIONS);
    }
    if (e == ERR_OK) {
        tuning_free(&c->t);
        c->t = former;
        c->of_version = wanted;
    }
    return e;
}

static enum err take_changes(struct changing *c)
{
    const uint64_t former = c->t->version;
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < c->r->nsettings; i++) {
        e = tuning_change(c->t, slice_trim(c->r->settings[i]), &c->why);
    }
    c->t->former = former;
    return e;
}

/* Version, time, person and comment of the new one. */
static enum err sign(struct changing *c, uint64_t version)
{
    const char *wrong = tuning_check_text(slice_str(c->r->who), TUNING_WHO_MAX);

    wrong =
        wrong != NULL ? wrong : tuning_check_text(slice_str(c->r->why), TUNING_WHY_MAX);
    if (wrong != NULL) {
        return errinfo_set(&c->why, ERR_SYNTAX, "", 0, "comment: %s", wrong);
    }
    c->t->version = version;
    c->t->at_s = clock_wall_us() / US_PER_S;
    (void)snprintf(c->t->who, sizeof(c->t->who), "%s", c->r->who);
    (void)snprintf(c->t->why, sizeof(c->t->why), "%s", c->r->why);
    return ERR_OK;
}

static enum err put_tuning(struct changing *c, const char *path, struct slice text)
{
    enum err e = file_write_atomic(path, text, FILE_MODE, &c->why);

    THEN(e, give_to_owner(c, path));
    return e;
}

/* The former file, after gillnetd refused the new one. */
static void put_back(struct changing *c)
{
    if (c->was.n > 0) {
        (void)put_tuning(c, c->current, buf_slice(&c->was));
    } else {
        (void)unlink(c->current);
        (void)file_sync_dir(c->dir, NULL);
    }
    (void)unlink(c->fresh);
}

/* A mistyped name would have no effect, and nobody would see it. */
static enum err check_rules(struct changing *c, const struct config *loaded)
{
    struct user_setting s;
    bool is_good = true;

    for (size_t i = 0; is_good && i < c->r->nsettings; i++) {
        const struct slice text = slice_trim(c->r->settings[i]);

        is_good = user_setting_parse(text, &s, &c->why) != ERR_OK || /* KEY= */
                  user_setting_check(loaded, &s, &c->why) == ERR_OK;
    }
    return is_good ? ERR_OK : ERR_UNSUPPORTED;
}

/* Loads the whole configuration with the new version. */
static enum err check(struct changing *c, struct config_errors *reterrors)
{
    struct config *loaded = NULL;
    enum err e =
        config_load_tuned(c->r->config_file, c->fresh, c->r->types, &loaded, reterrors);

    THEN(e, check_rules(c, loaded));
    config_release(&loaded);
    if (e != ERR_OK && reterrors->n > 0) {
        c->why.code = ERR_OK; /* reterrors has them */
    }
    return e;
}

static enum err put_in_force(struct changing *c, struct tuning_result *ret,
                             struct buf *words, struct config_errors *reterrors)
{
    struct buf text;

    buf_init(&text, TUNING_FILE_BYTES);
    tuning_print(c->t, &text);
    enum err e = buf_failed(&text) ? errinfo_nomem(&c->why, c->fresh)
                                   : version_path(c, c->t->version, c->fresh, &c->why);
    THEN(e, put_tuning(c, c->fresh, buf_slice(&text)));
    THEN(e, check(c, reterrors));
    THEN(e, put_tuning(c, c->current, buf_slice(&text)));
    if (e != ERR_OK) {
        (void)unlink(c->fresh);
    } else {
        ret->reload = c->r->reload(c->r->context, words);
        if (ret->reload == TUNING_REFUSED) {
            put_back(c);
            e = errinfo_set(&c->why, ERR_KEY, "gillnetd", 0,
                            "gillnetd refused the configuration; the former settings "
                            "are back: %.400s",
                            words->n > 0 ? words->p : "");
        }
    }
    buf_fini(&text);
    return e;
}

enum err tuning_apply(const struct tuning_request *r, struct tuning_result *ret,
                      struct buf *words, struct config_errors *reterrors)
{
    struct changing *c = calloc(1, sizeof(*c));
    uint64_t newest = 0;

    *ret = (struct tuning_result){.version = 0};
    *reterrors = (struct config_errors){0, NULL};
    if (c == NULL) {
        config_errors_add(reterrors, ERR_NOMEM, r->state_dir, 0, "out of memory");
        return ERR_NOMEM;
    }
    c->r = r;
    c->lock.fd = -1;
    buf_init(&c->was, TUNING_FILE_BYTES);
    enum err e = take_lock(c);
    THEN(e, read_current(c));
    THEN(e, check_version(c));
    if (e == ERR_OK) {
        look_at_versions(c, &newest);
        newest = !c->is_damaged && c->t->version > newest ? c->t->version : newest;
        e = r->is_undo ? take_former(c, newest) : take_changes(c);
    }
    THEN(e, sign(c, newest + 1));
    THEN(e, put_in_force(c, ret, words, reterrors));
    if (e == ERR_OK) {
        ret->version = c->t->version;
        ret->of_version = c->of_version;
        drop_old_versions(c, ret->version);
    } else if (reterrors->n == 0) {
        config_errors_add(reterrors, e, c->why.source, c->why.line, "%s", c->why.text);
    }
    filelock_drop(&c->lock);
    tuning_free(&c->t);
    buf_fini(&c->was);
    free(c);
    return e;
}
