#include "core/quarantine/queue/sendmail_folders.h"

#include "core/base/dir_walk.h"

static bool is_folder_at(const char *path, const char *name)
{
    char whole[FILE_PATH_MAX];
    struct stat st;

    return path_make(whole, NULL, "%s/%s", path, name) == ERR_OK &&
           stat(whole, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum err add_folder(struct sendmail_folders *f, const char *path,
                           struct errinfo *reterr)
{
    if (!is_folder_at(path, ".")) {
        return ERR_OK;
    }
    if (f->n == SENDMAIL_FOLDERS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0, "more than %d folders of queues",
                           SENDMAIL_FOLDERS_MAX);
    }
    struct sendmail_folder *one = &f->v[f->n];
    enum err e = path_make(one->path, reterr, "%s", path);
    one->has_qf = is_folder_at(path, "qf");
    one->has_df = is_folder_at(path, "df");
    f->n += e == ERR_OK;
    return e;
}

/* Adds the folders of "/var/spool/mqueue/q*". */
static enum err add_pattern(struct sendmail_folders *f, const char *pattern,
                            struct errinfo *reterr)
{
    const char *slash = strrchr(pattern, '/');
    struct slice prefix = slice_str(slash + 1);
    char parent[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = path_make(parent, reterr, "%.*s", (int)(slash - pattern), pattern);

    prefix.n--; /* the star */
    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(parent, DIR_OPTIONAL);
    while (e == ERR_OK && dir_walk_next(&w)) {
        if (slice_has_prefix(slice_str(w.name), prefix)) {
            e = path_make(path, reterr, "%s/%s", parent, w.name);
            THEN(e, add_folder(f, path, reterr));
        }
    }
    return dir_walk_end(&w, e, reterr);
}

static enum err add_path(struct sendmail_folders *f, struct slice text,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct slice s = slice_trim(text);
    enum err e = path_make(path, reterr, "%.*s", SLICE_ARGS(slice_head(s, 4095)));

    if (e != ERR_OK || s.n < 2 || s.p[0] != '/') {
        return e;
    }
    return s.p[s.n - 1] == '*' ? add_pattern(f, path, reterr)
                               : add_folder(f, path, reterr);
}

/* "Qlocal, P=/var/spool/mqueue/local, F=f" */
static enum err add_queue_group(struct sendmail_folders *f, struct slice line,
                                struct errinfo *reterr)
{
    enum err e = ERR_OK;

    while (line.n > 0 && e == ERR_OK) {
        struct slice value = slice_trim(slice_cut(&line, ','));
        struct slice name = slice_trim(slice_cut(&value, '='));

        if (value.p != NULL && slice_has_prefix(name, SLICE_LIT("P"))) {
            e = add_path(f, value, reterr);
        }
    }
    return e;
}

enum err sendmail_folders_find(struct slice cf, struct sendmail_folders *ret,
                               struct errinfo *reterr)
{
    struct slice option = SLICE_LIT("O QueueDirectory=");
    enum err e = ERR_OK;

    ret->n = 0;
    while (cf.n > 0 && e == ERR_OK) {
        struct slice line = slice_cut(&cf, '\n');

        if (slice_has_prefix(line, option)) {
            e = add_path(ret, slice_from(line, option.n), reterr);
        } else if (line.n > 1 && line.p[0] == 'Q') {
            e = add_queue_group(ret, slice_from(line, 1), reterr);
        }
    }
    if (e == ERR_OK && ret->n == 0) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, NULL, 0,
                        "no folder of a queue that sendmail.cf names exists");
    }
    return e;
}
