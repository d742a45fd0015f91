/* statedir_try - whether a service can use the state folder. */
#include "core/base/statedir_try.h"

#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/base/user.h"

enum {
    MEND_MAX = 3 * FILE_PATH_MAX,
    ROWS_MAX = 16,
};

struct place {
    const char *path;
    enum statedir_service service;
    bool may_write;
};
static const struct place places[] = {
    {"keys", STATEDIR_GILLNETD, false},
    {"lists", STATEDIR_GILLNETD, false},
    {"counts", STATEDIR_GILLNETD, true},
    {"identity", STATEDIR_GILLNETD, true},
    {"journal", STATEDIR_GILLNETD, true},
    {"users", STATEDIR_GILLNETD, false},
    {"reports", STATEDIR_GILLNETD, true},
    {"model", STATEDIR_GILLNETD, true},
    {"tuning", STATEDIR_GILLNETD, false},
    {"peers/lists", STATEDIR_GILLNETD, false},
    {"peers/counts", STATEDIR_GILLNETD, false},
    {"peers/origins", STATEDIR_GILLNETD, false},
    {"keys", STATEDIR_HUB, false},
    {"lists", STATEDIR_HUB, true},
    {"feeds", STATEDIR_HUB, true},
    {"peers", STATEDIR_HUB, true},
    {"reports/spool/spam", STATEDIR_HUB, true},
    {"reports/spool/ham", STATEDIR_HUB, true},
    {"quarantine", STATEDIR_HUB, true},
    {"tuning", STATEDIR_HUB, true},
    {"users", STATEDIR_HUB, true},
    {"changes", STATEDIR_HUB, true},
    {"counts", STATEDIR_HUB, false},
};
enum { PLACES = LENGTH(places) };

bool statedir_user(const char *dir, enum statedir_service service, uint64_t pid,
                   struct trial_user *ret)
{
    const bool is_hub = service == STATEDIR_HUB;
    char path[FILE_PATH_MAX];
    struct stat st;

    if (pid != 0 && trial_user_of_process(pid, ret)) {
        return ret->uid != 0;
    }
    if (trial_user_named(is_hub ? STATEDIR_HUB_USER : STATEDIR_USER, ret)) {
        return true;
    }
    return file_path(path, "%s%s", dir, is_hub ? "/lists" : "") == ERR_OK &&
           stat(path, &st) == 0 && st.st_uid != 0 && trial_user_of(st.st_uid, ret);
}

/* ---- what mends it ---- */

struct trying {
    const struct statedir_use *use;
    char last
        [FILE_PATH_MAX]; /* the path of the last report: one folder may bar many files */
    statedir_trouble_fn *fn;
    void *context;
};

static bool is_below(const char *path, const char *dir)
{
    const size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* The group that lets the user in: that of the state folder, if the user is in it, so that the same
 * command helps both services; otherwise its own. */
static gid_t group_of(const struct statedir_use *use)
{
    struct stat st;

    if (stat(use->dir, &st) == 0) {
        for (int i = 0; i < use->user.ngroups; i++) {
            if (use->user.groups[i] == st.st_gid) {
                return st.st_gid;
            }
        }
    }
    return use->user.gid;
}

static void say_mend(const struct trying *t, const struct trial_finding *f,
                     char dst[MEND_MAX])
{
    const size_t n = strlen(t->use->dir);
    const char *below = f->row + n + 1;
    struct statedir_owner o = {.uid = t->use->user.uid, .gid = t->use->user.gid};
    char user[USER_NAME_BYTES];
    char group[USER_NAME_BYTES];

    if (strcmp(f->path, t->use->dir) == 0) {
        (void)snprintf(dst, MEND_MAX, "chown %s:%s %s && chmod 2750 %s",
                       user_name(o.uid, user), group_name(o.gid, group), t->use->dir,
                       t->use->dir);
        return;
    }
    if (strlen(f->path) < strlen(f->row) && !is_below(f->path, t->use->dir)) {
        (void)snprintf(dst, MEND_MAX, "chmod o+x %s", f->path);
        return;
    }
    if (!is_below(f->row, t->use->dir)) {
        (void)snprintf(dst, MEND_MAX, "chgrp %s %s && chmod g+rX %s",
                       group_name(group_of(t->use), group), f->path, f->path);
        return;
    }
    statedir_owner(t->use->dir, below, &o);
    if (o.uid == (uid_t)-1) {
        o = (struct statedir_owner){.uid = t->use->user.uid, .gid = t->use->user.gid};
    }
    const int place = (int)(n + 1 + strcspn(below, "/"));
    (void)snprintf(dst, MEND_MAX, "chown -R %s:%s %.*s%s%.*s", user_name(o.uid, user),
                   group_name(o.gid, group), place, f->row,
                   strncmp(below, "peers", 5) == 0 ? "" : " && chmod -R u+rwX,g+rX ",
                   strncmp(below, "peers", 5) == 0 ? 0 : place, f->row);
}

static void on_finding(void *context, const struct trial_finding *f)
{
    struct trying *t = context;
    char what[FILE_PATH_MAX + 256];
    char mend[MEND_MAX];

    if (strcmp(t->last, f->path) == 0) {
        return;
    }
    (void)snprintf(t->last, sizeof(t->last), "%s", f->path);
    (void)snprintf(what, sizeof(what), "%s runs as %s, who may not %s %s: %s",
                   t->use->service == STATEDIR_HUB ? "gillnet-hub" : "gillnetd",
                   t->use->user.name, f->is_write ? "write to" : "read", f->path,
                   f->why);
    say_mend(t, f, mend);
    t->fn(t->context, what, mend);
}

/* ---- trying ---- */

struct rows {
    struct trial_row v[ROWS_MAX];
    char path[ROWS_MAX][FILE_PATH_MAX];
    size_t n;
};

static void add_row(struct rows *r, bool is_tree, bool may_write, const char *dir,
                    const char *path)
{
    const char *between = *path != '\0' ? "/" : "";

    if (r->n < ROWS_MAX &&
        file_path(r->path[r->n], "%s%s%s", dir, between, path) == ERR_OK) {
        r->v[r->n] = (struct trial_row){r->path[r->n], is_tree, may_write};
        r->n++;
    }
}

static void add_config(struct rows *r, const char *file)
{
    char dir[FILE_PATH_MAX];
    char *slash = NULL;

    add_row(r, false, false, file, "");
    if (file_path(dir, "%s", file) == ERR_OK && (slash = strrchr(dir, '/')) != NULL) {
        *slash = '\0';
        add_row(r, true, false, dir, "conf.d");
    }
}

/* All that the service reads and writes. */
static void add_all(struct rows *r, const char *dir, enum statedir_service service)
{
    char counts[FILE_PATH_MAX];
    const bool has_counts =
        file_path(counts, "%s/counts", dir) == ERR_OK && access(counts, F_OK) == 0;

    /* gillnetd makes its counts where there are none */
    add_row(r, false, service == STATEDIR_GILLNETD && !has_counts, dir, "");
    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].service == service) {
            add_row(r, true, places[i].may_write, dir, places[i].path);
        }
    }
}

enum err statedir_try(const struct statedir_use *use, statedir_trouble_fn *fn,
                      void *context, struct errinfo *reterr)
{
    struct trying t = {.use = use, .fn = fn, .context = context};
    struct rows rows = {.n = 0};

    if (geteuid() != 0 && geteuid() != use->user.uid) {
        return errinfo_set(reterr, ERR_DENIED, use->user.name, 0,
                           "only root can try what this user may open");
    }
    if (*use->config_file != '\0') {
        add_config(&rows, use->config_file);
    }
    add_all(&rows, use->dir, use->service);
    return trial_run(&use->user, rows.v, rows.n, on_finding, &t, reterr);
}
