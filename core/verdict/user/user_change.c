#include "core/verdict/user/user_change.h"

#include "core/verdict/user/user_table.h"

enum { TEXT_MODE = 0640 };

/* A word stands on a line of the file, with others. */
static enum err check_bytes(struct slice word, struct errinfo *reterr)
{
    for (size_t i = 0; i < word.n; i++) {
        if ((unsigned char)word.p[i] <= ' ' || word.p[i] == 0x7f) {
            return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                               "a setting has no blanks and no control characters");
        }
    }
    return ERR_OK;
}

static enum err check_words(const struct user_change *u, struct errinfo *reterr)
{
    enum err e = *u->name == '#' ? errinfo_set(reterr, ERR_SYNTAX, "", 0,
                                               "a name does not begin with #")
                                 : ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < u->nwords; i++) {
        const struct slice word = u->words[i];
        struct user_setting s;

        e = check_bytes(word, reterr);
        if (word.n > 0 && slice_find(word, '=') == word.n - 1) {
            continue; /* the key goes */
        }
        THEN(e, user_setting_parse(word, &s, reterr));
        THEN(e, user_setting_check(u->config, &s, reterr));
    }
    return e;
}

void user_settings_find(const struct config *c, struct slice text, const char *name,
                        struct buf *ret)
{
    struct users_line *line = malloc(sizeof(*line));
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;
    unsigned at = 0;

    while (line != NULL && users_file_next(c, &text, &at, line, &e, &why)) {
        if (e == ERR_OK && strcmp(line->name, name) == 0) {
            buf_add_str(ret, line->words);
            break;
        }
    }
    free(line);
}

/* The text on disk, then the table: see user_file.h. */
static enum err store(const struct user_change *u, const char *path, struct slice text,
                      struct errinfo *reterr)
{
    struct stat st;
    const mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0777 : TEXT_MODE;
    size_t n = 0;
    enum err e =
        users_file_compile(u->config, text, u->on_error, u->context, &n, reterr);

    THEN(e, file_write_atomic(path, text, mode, reterr));
    THEN(e, users_file_publish(u->config, reterr));
    return e;
}

/* Settings that somebody changed since must not be lost. */
static enum err check_was(const struct user_change *u, struct slice now,
                          struct errinfo *reterr)
{
    return u->was.p == NULL || slice_eq(u->was, now)
               ? ERR_OK
               : errinfo_set(reterr, ERR_EXISTS, "", 0,
                             "%s has other settings by now; `gillnet user show` shows "
                             "them, and `gillnet user set` changes them",
                             u->name);
}

/* A new text must not end the settings in force of which only the table is left. */
static enum err check_lost(const struct user_change *u, const char *path,
                           struct slice text, struct errinfo *reterr)
{
    size_t n = 0;
    enum err e =
        text.n > 0 ? ERR_OK : users_count_in_force(u->config->state_dir, &n, reterr);

    return e != ERR_OK || n == 0
               ? e
               : errinfo_set(
                     reterr, ERR_CORRUPT, path, 0,
                     "it is missing or empty, and %zu users and domains have "
                     "settings; put it back from a backup, or accept the loss by "
                     "`gillnet user compile`",
                     n);
}

static enum err change_text(const struct user_change *u, const char *path,
                            struct buf *before, struct buf *after,
                            struct errinfo *reterr)
{
    struct buf old;
    struct buf fresh;

    buf_init(&old, USERS_FILE_BYTES);
    buf_init(&fresh, USERS_FILE_BYTES);
    enum err e = users_file_read(path, &old, reterr);
    THEN(e, check_lost(u, path, buf_slice(&old), reterr));
    if (e == ERR_OK) {
        user_settings_find(u->config, buf_slice(&old), u->name, before);
        e = check_was(u, buf_slice(before), reterr);
    }
    if (e == ERR_OK) {
        users_file_change(buf_slice(&old), u->name, u->does_clear, u->words, u->nwords,
                          &fresh);
        e = buf_failed(&fresh) ? errinfo_nomem(reterr, path)
                               : store(u, path, buf_slice(&fresh), reterr);
    }
    if (e == ERR_OK) {
        user_settings_find(u->config, buf_slice(&fresh), u->name, after);
    }
    buf_fini(&old);
    buf_fini(&fresh);
    return e;
}

enum err user_settings_change(const struct user_change *u, struct buf *before,
                              struct buf *after, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct filelock lock = {.fd = -1};
    enum err e = check_words(u, reterr);

    THEN(e, users_file_path(u->config, path, reterr));
    THEN(e, users_file_lock(u->config, &lock, reterr));
    THEN(e, change_text(u, path, before, after, reterr));
    filelock_drop(&lock);
    return e;
}
