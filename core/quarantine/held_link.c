#include "core/quarantine/held_link.h"

#include "core/base/checksum.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/quarantine/held.h"

enum { TOKEN_BYTES = HELD_TOKEN_CHARS / 2, LINK_MAX = 64 * 1024, FOLDER_MODE = 0700 };

static const char suffix_open[] = ".link";
static const char suffix_used[] = ".used";

static enum err links_folder(const char *state_dir, char ret[FILE_PATH_MAX],
                             struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/quarantine/links", state_dir);
}

/* False: the text has not the form of a token. */
static bool link_path(const char *state_dir, struct slice token, const char *suffix,
                      char ret[FILE_PATH_MAX])
{
    char folder[FILE_PATH_MAX];
    char hash[SHA256_HEX + 1];
    struct sha256 sum;

    for (size_t i = 0; i < token.n; i++) {
        if (strchr("0123456789abcdef", token.p[i]) == NULL || token.p[i] == '\0') {
            return false;
        }
    }
    if (token.n != HELD_TOKEN_CHARS || sha256_init(&sum) != ERR_OK) {
        return false;
    }
    sha256_add(&sum, token);
    sha256_final_hex(&sum, hash);
    return links_folder(state_dir, folder, NULL) == ERR_OK &&
           path_make(ret, NULL, "%s/%s%s", folder, hash, suffix) == ERR_OK;
}

static void make_token(char ret[HELD_TOKEN_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[TOKEN_BYTES];

    random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[HELD_TOKEN_CHARS] = '\0';
}

static enum err make_link_folders(const char *state_dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/quarantine", state_dir);

    THEN(e, file_make_dir(path, FOLDER_MODE, reterr));
    THEN(e, links_folder(state_dir, path, reterr));
    THEN(e, file_make_dir(path, FOLDER_MODE, reterr));
    return e;
}

enum err held_link_make(const char *state_dir, const struct held_link_terms *terms,
                        char rettoken[HELD_TOKEN_SIZE], struct errinfo *reterr)
{
    const json_t *row = terms->row;
    char path[FILE_PATH_MAX];
    char *text = NULL;
    enum err e = make_link_folders(state_dir, reterr);

    if (e != ERR_OK) {
        return e;
    }
    json_t *link = json_pack(
        "{s:s, s:I, s:s, s:s, s:I, s:s, s:s}", "id", held_text(row, "id"), "time_s",
        (json_int_t)held_number(row, "time_s"), "recipient", terms->recipient, "action",
        terms->action, "expires_s", (json_int_t)terms->expires_s, "from",
        held_text(row, "from"), "subject", held_text(row, "subject"));
    text = json_dumps(link, JSON_COMPACT);
    json_decref(link);
    make_token(rettoken);
    if (text == NULL || !link_path(state_dir, slice_str(rettoken), suffix_open, path)) {
        free(text);
        return errinfo_nomem(reterr, "link");
    }
    e = file_write_atomic(path, slice_str(text), 0600, reterr);
    free(text);
    return e;
}

/* NULL: it is not there, or the log says what is wrong with it. */
static json_t *read_link(const char *path)
{
    struct buf text;
    struct errinfo why;
    json_t *link = NULL;

    buf_init(&text, LINK_MAX);
    enum err e = file_read(path, &text, &why);
    if (e == ERR_OK) {
        link = json_loadb(text.p, text.n, 0, NULL);
    }
    if (e == ERR_OK && link == NULL) {
        e = errinfo_set(&why, ERR_CORRUPT, path, 0,
                        "the link of a digest is damaged and works no more; `gillnet "
                        "quarantine` has the message");
    }
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        log_errinfo("quarantine", &why);
    }
    buf_fini(&text);
    return link;
}

enum held_link_state held_link_read(const char *state_dir, struct slice token,
                                    uint64_t now_s, json_t **ret)
{
    char path[FILE_PATH_MAX];

    *ret = NULL;
    if (!link_path(state_dir, token, suffix_open, path)) {
        return HELD_LINK_UNKNOWN;
    }
    json_t *link = read_link(path);
    if (link == NULL) {
        return link_path(state_dir, token, suffix_used, path) && access(path, F_OK) == 0
                   ? HELD_LINK_USED
                   : HELD_LINK_UNKNOWN;
    }
    if (held_number(link, "expires_s") <= now_s) {
        json_decref(link);
        return HELD_LINK_EXPIRED;
    }
    *ret = link;
    return HELD_LINK_OPEN;
}

static bool rename_link(const char *state_dir, struct slice token, const char *from,
                        const char *to)
{
    char old[FILE_PATH_MAX];
    char new[FILE_PATH_MAX];

    return link_path(state_dir, token, from, old) &&
           link_path(state_dir, token, to, new) && rename(old, new) == 0;
}

bool held_link_use(const char *state_dir, struct slice token)
{
    char folder[FILE_PATH_MAX];

    return rename_link(state_dir, token, suffix_open, suffix_used) &&
           links_folder(state_dir, folder, NULL) == ERR_OK &&
           file_sync_dir(folder, NULL) == ERR_OK;
}

void held_link_reopen(const char *state_dir, struct slice token)
{
    (void)rename_link(state_dir, token, suffix_used, suffix_open);
}

enum err held_link_sweep(const char *state_dir, uint64_t now_s, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = links_folder(state_dir, folder, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(folder, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        if (path_make(path, NULL, "%s/%s", folder, w.name) != ERR_OK) {
            continue;
        }
        json_t *link = read_link(path);
        if (link != NULL && held_number(link, "expires_s") <= now_s) {
            (void)unlink(path);
        }
        json_decref(link);
    }
    return dir_walk_end(&w, ERR_OK, reterr);
}
