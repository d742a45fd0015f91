#include "core/verdict/user/user_file.h"

#include "core/base/checksum.h"
#include "core/base/le.h"
#include "core/base/statedir.h"
#include "core/config/user_thresholds.h"
#include "core/store/table.h"
#include "core/verdict/user/user_table.h"

enum { LOCK_TRIES = 500, LOCK_WAIT_US = 20 * 1000, DIR_MODE = 02750 };

/* The entry that says what the table was made from; names of users have an @. */
#define SOURCE_KEY SLICE_LIT("source")

/* ---- places ---- */

enum err users_file_path(const struct config *c, char ret[FILE_PATH_MAX],
                         struct errinfo *reterr)
{
    return *c->users_file != '\0'
               ? path_make(ret, reterr, "%s", c->users_file)
               : path_make(ret, reterr, "%s/%s", c->state_dir, STATE_USERS_FILE);
}

static enum err table_path(const struct config *c, const char *end,
                           char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/%s%s", c->state_dir, STATE_USERS_TABLE, end);
}

enum err users_file_lock(const struct config *c, struct filelock *ret,
                         struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/%s", c->state_dir, STATE_USERS_DIR);

    THEN(e, path_make(path, reterr, "%s/LOCK", dir));
    THEN(e, statedir_make(c->state_dir, reterr));
    THEN(e, file_make_dir(dir, DIR_MODE, reterr));
    THEN(e, filelock_take(ret, path, reterr));
    for (unsigned i = 0; e == ERR_LOCKED && i < LOCK_TRIES; i++) {
        usleep(LOCK_WAIT_US);
        e = filelock_take(ret, path, reterr);
    }
    return e;
}

enum err users_file_read(const char *path, struct buf *ret, struct errinfo *reterr)
{
    enum err e = file_read(path, ret, reterr);

    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts the next word; empty: none is left. */
static struct slice next_word(struct slice *line)
{
    size_t from = 0;

    while (from < line->n && is_blank(line->p[from])) {
        from++;
    }
    size_t to = from;
    while (to < line->n && !is_blank(line->p[to])) {
        to++;
    }
    struct slice word = slice_head(slice_from(*line, from), to - from);
    *line = slice_from(*line, to);
    return word;
}

static enum err check_word(const struct config *c, struct slice word,
                           struct errinfo *reterr)
{
    struct user_setting s;
    enum err e = user_setting_parse(word, &s, reterr);

    THEN(e, user_setting_check(c, &s, reterr));
    return e;
}

/* The words before it, with one blank between, have other keys. */
static enum err check_once(struct slice before, struct slice word,
                           struct errinfo *reterr)
{
    enum err e = ERR_OK;

    while (e == ERR_OK && before.n > 0) {
        e = user_setting_check_twice(word, slice_cut(&before, ' '), reterr);
    }
    return e;
}

/* A line that is no comment. */
static enum err read_line(const struct config *c, struct slice line,
                          struct users_line *ret, struct errinfo *reterr)
{
    struct slice name = next_word(&line);
    size_t used = 0;

    ret->words[0] = '\0';
    const char *why = line.n >= USERS_LINE_MAX ? "the line is too long"
                                               : user_name_tidy(name, ret->name);
    if (why != NULL) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0, "%s", why);
    }
    for (struct slice word = next_word(&line); word.n > 0; word = next_word(&line)) {
        enum err e = check_word(c, word, reterr);
        THEN(e, check_once(slice_of(ret->words, used), word, reterr));
        if (e != ERR_OK) {
            return e;
        }
        if (used > 0) {
            ret->words[used++] = ' ';
        }
        memcpy(ret->words + used, word.p, word.n);
        used += word.n;
        ret->words[used] = '\0';
    }
    return used > 0 ? ERR_OK
                    : errinfo_set(reterr, ERR_SYNTAX, "", 0,
                                  "the line has no settings; write KEY=VALUE behind "
                                  "the name, or remove it");
}

static bool is_skipped(struct slice line)
{
    line = slice_trim(line);
    return line.n == 0 || *line.p == '#';
}

bool users_file_next(const struct config *c, struct slice *text, unsigned *retline,
                     struct users_line *ret, enum err *e, struct errinfo *reterr)
{
    while (text->p != NULL && text->n > 0) {
        struct slice line = slice_cut(text, '\n');

        ++*retline;
        if (!is_skipped(line)) {
            *e = read_line(c, line, ret, reterr);
            return true;
        }
    }
    return false;
}

/* ---- compiling ---- */

struct compiling {
    const struct config *c;
    struct table_txn *txn;
    users_error_fn *on_error;
    void *context;
    unsigned nwrong;
    size_t n;
    struct users_line line;
};

static void refuse_line(struct compiling *k, unsigned line, const char *why)
{
    if (k->nwrong++ < USERS_ERRORS_MAX) {
        k->on_error(k->context, line, why);
    }
}

static enum err put_line(struct compiling *k, unsigned at)
{
    struct slice name = slice_str(k->line.name);
    struct slice before;

    if (table_get(k->txn, name, &before) == ERR_OK) {
        refuse_line(k, at,
                    "this name has a line above; put its settings into one line");
        return ERR_OK;
    }
    k->n++;
    return table_put(k->txn, name, slice_str(k->line.words));
}

static enum err put_lines(struct compiling *k, struct slice text)
{
    struct errinfo why = {.text = ""};
    unsigned at = 0;
    enum err of_line = ERR_OK;
    enum err e = ERR_OK;

    while (e == ERR_OK && users_file_next(k->c, &text, &at, &k->line, &of_line, &why)) {
        if (of_line != ERR_OK) {
            refuse_line(k, at, why.text);
        } else {
            e = put_line(k, at);
        }
    }
    return e;
}

/* The thresholds of each line, by those that it inherits, of lines above and below, too. */
static void check_thresholds(struct compiling *k, struct slice text)
{
    struct errinfo why = {.text = ""};
    unsigned at = 0;
    enum err e = ERR_OK;

    while (users_file_next(k->c, &text, &at, &k->line, &e, &why)) {
        const char *domain = strrchr(k->line.name, '@');
        struct user_thresholds t;
        struct slice words;

        if (table_get(k->txn, slice_str(domain), &words) != ERR_OK) {
            words = SLICE_NONE;
        }
        config_users_thresholds(k->c, k->line.name, words, &t);
        user_thresholds_take_words(&t, slice_str(k->line.words));
        if (user_thresholds_check(&t, &why) != ERR_OK) {
            refuse_line(k, at, why.text);
        }
    }
}

static enum err put_source(struct table_txn *txn, struct slice text)
{
    char sum[sizeof(uint64_t)];

    le_put(sum, checksum64(text), sizeof(sum));
    return table_put(txn, SOURCE_KEY, slice_of(sum, sizeof(sum)));
}

/* A failure without a text of its own. */
static enum err explain(enum err e, const char *dir, struct errinfo *reterr)
{
    return e == ERR_OK ? e
                       : errinfo_set(reterr, e, dir, 0, "cannot fill the table: %s",
                                     err_text(e));
}

/* Into the empty folder dir. */
static enum err fill_table(struct compiling *k, const char *dir, struct slice text,
                           struct errinfo *reterr)
{
    struct table *table = NULL;
    enum err e = table_open(dir, true, USERS_TABLE_BYTES, &table, reterr);

    THEN(e, table_begin(table, true, &k->txn, reterr));
    if (e == ERR_OK) {
        e = put_lines(k, text);
        if (e == ERR_OK && k->nwrong == 0) {
            check_thresholds(k, text);
        }
        THEN(e, put_source(k->txn, text));
        e = explain(e, dir, reterr);
        if (e == ERR_OK && k->nwrong > 0) {
            e = errinfo_set(reterr, ERR_SYNTAX, "", 0,
                            "wrong lines: %u; nothing was changed", k->nwrong);
        }
        THEN(e, table_commit(&k->txn, reterr));
        table_abort(&k->txn);
    }
    table_close(&table);
    return e;
}

enum err users_file_compile(const struct config *c, struct slice text,
                            users_error_fn *on_error, void *context, size_t *retn,
                            struct errinfo *reterr)
{
    char fresh[FILE_PATH_MAX];
    struct compiling *k = calloc(1, sizeof(*k));
    enum err e = table_path(c, ".new", fresh, reterr);

    if (k == NULL) {
        return errinfo_nomem(reterr, c->state_dir);
    }
    THEN(e, file_remove_tree(fresh, reterr));
    if (e == ERR_OK) {
        *k = (struct compiling){.c = c, .on_error = on_error, .context = context};
        e = fill_table(k, fresh, text, reterr);
        *retn = k->n;
        THEN(e, file_sync_dir(fresh, reterr));
        if (e != ERR_OK) {
            (void)file_remove_tree(fresh, NULL);
        }
    }
    free(k);
    return e;
}

static enum err move(const char *fresh, const char *path, struct errinfo *reterr)
{
    return rename(fresh, path) == 0
               ? ERR_OK
               : errinfo_errno(reterr, path, "cannot put the table in place");
}

enum err users_file_publish(const struct config *c, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    struct stat st;
    enum err e = table_path(c, "", path, reterr);

    THEN(e, table_path(c, ".new", fresh, reterr));
    THEN(e, path_make(dir, reterr, "%s/%s", c->state_dir, STATE_USERS_DIR));
    if (e != ERR_OK) {
        return e;
    }
    statedir_settle(c->state_dir); /* gillnetd can read it from the first moment on */
    if (lstat(path, &st) == 0) {
        e = file_exchange(fresh, path, reterr);
        THEN(e, file_remove_tree(fresh, reterr));
        return e;
    }
    e = move(fresh, path, reterr);
    THEN(e, file_sync_dir(dir, reterr));
    return e;
}

enum err users_file_is_compiled(const struct config *c, struct slice text, bool *ret,
                                struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char file[FILE_PATH_MAX];
    struct table *table = NULL;
    struct table_txn *txn = NULL;
    struct slice sum = SLICE_NONE;
    struct stat st;
    enum err e = table_path(c, "", path, reterr);

    THEN(e, path_make(file, reterr, "%s/data.mdb", path));
    if (e == ERR_OK && stat(file, &st) != 0 && errno == ENOENT) {
        return errinfo_set(reterr, ERR_NOT_FOUND, path, 0, "nothing was compiled yet");
    }
    THEN(e, table_open(path, false, USERS_TABLE_BYTES, &table, reterr));
    THEN(e, table_begin(table, false, &txn, reterr));
    if (e == ERR_OK) {
        *ret = table_get(txn, SOURCE_KEY, &sum) == ERR_OK &&
               sum.n == sizeof(uint64_t) &&
               le_get((const unsigned char *)sum.p, sum.n) == checksum64(text);
    }
    table_abort(&txn);
    table_close(&table);
    return e;
}

/* ---- changing ---- */

/* The key of KEY=VALUE, with its '='. */
static struct slice key_of(struct slice word)
{
    return slice_head(word, slice_find(word, '=') + 1);
}

static bool is_changed(struct slice word, const struct slice *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(key_of(word), key_of(words[i]))) {
            return true;
        }
    }
    return false;
}

/* The words that stay, then the new ones; nothing when none is left. */
static void add_line(struct slice old, const char *name, const struct slice *words,
                     size_t n, struct buf *ret)
{
    size_t begin = ret->n;

    buf_add_str(ret, name);
    size_t bare = ret->n;
    for (struct slice word = next_word(&old); word.n > 0; word = next_word(&old)) {
        if (!is_changed(word, words, n)) {
            buf_printf(ret, " %.*s", SLICE_ARGS(word));
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct slice word = words[i];
        if (key_of(word).n < word.n) {
            buf_printf(ret, " %.*s", SLICE_ARGS(word));
        }
    }
    if (ret->n == bare) {
        ret->n = begin;
    } else {
        buf_add_char(ret, '\n');
    }
}

void users_file_change(struct slice text, const char *name, bool does_clear,
                       const struct slice *words, size_t n, struct buf *ret)
{
    bool is_done = false;

    while (text.p != NULL && text.n > 0) {
        struct slice line = slice_cut(&text, '\n');
        struct slice rest = line;
        char tidied[USER_NAME_MAX + 1];
        bool is_it = !is_skipped(line) &&
                     user_name_tidy(next_word(&rest), tidied) == NULL &&
                     strcmp(tidied, name) == 0;

        if (!is_it) {
            buf_add(ret, line);
            buf_add_char(ret, '\n');
        } else if (!is_done) {
            add_line(does_clear ? SLICE_NONE : rest, name, words, n, ret);
            is_done = true;
        }
    }
    if (!is_done) {
        add_line(SLICE_NONE, name, words, n, ret);
    }
}
