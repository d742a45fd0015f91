/* report_spool - files in STATE/reports/spool/spam and ham become reports of their owners. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/base/user.h"
#include "core/report/report_seal.h"

#include "milter/learn.h"
#include "milter/report_request.h"
#include "milter/service.h"

enum {
    US_PER_S = 1000000,
    NOBODY = 65534,
    SPOOL_MODE = 03770, /* everybody of the group drops, only the owner removes */
    FAILED_MODE = 02750,
    AGE_EVERY_S = 3600,
    TEMPS_OLD_S = 3600, /* a report is written in seconds */
    LINE_MAX_BYTES = SCAN_REQUEST_MAX + 16
};
#define SPOOL_DIR STATE_REPORTS_DIR "/spool"

static struct {
    int end_fd;
    bool is_started;
    pthread_t thread;
    char dir[FILE_PATH_MAX];
} spool = {.end_fd = -1};

/* ---- one file ---- */

/* A file of a program that holds the keys begins with a sealed request line (the hub's, while
 * gillnetd was down). True: *line and *body are its parts. */
static bool read_sealed(struct slice bytes, char room[SCAN_REQUEST_MAX],
                        struct scan_request *line, struct slice *body)
{
    const struct keyring *keys;
    struct slice rest = bytes;
    struct slice first = slice_head(rest, LINE_MAX_BYTES);
    struct slice prefix = SLICE_LIT("report ");

    first = slice_head(first, slice_find(first, '\n'));
    rest = slice_from(rest, first.n + 1);
    *body = rest;
    return service_reports(&keys) != NULL && slice_has_prefix(first, prefix) &&
           scan_request_parse(slice_from(first, prefix.n), room, line, NULL) ==
               ERR_OK &&
           report_is_sealed(keys, line, rest);
}

static void name_owner(uid_t uid, char ret[USER_NAME_BYTES])
{
    if (uid == 0 || uid == geteuid()) {
        (void)snprintf(ret, USER_NAME_BYTES, REPORT_ADMINISTRATOR);
    } else if (uid == NOBODY) {
        (void)snprintf(ret, USER_NAME_BYTES, "spool");
    } else {
        (void)user_name(uid, ret);
    }
}

static enum err take_bytes(struct slice bytes, const char *kind, uid_t owner,
                           struct errinfo *reterr)
{
    char room[SCAN_REQUEST_MAX];
    char who[USER_NAME_BYTES];
    struct scan_request line;
    struct slice body = bytes;
    struct slice reporter;

    if (read_sealed(bytes, room, &line, &body)) {
        reporter = line.reporter;
    } else {
        line = (struct scan_request){.say = slice_str(kind), .way = SLICE_LIT("spool")};
        body = bytes;
        name_owner(owner, who);
        reporter = slice_str(who);
    }
    json_t *answer = report_keep(&line, reporter, body, reterr);
    enum err e = answer != NULL ? ERR_OK : reterr->code;

    json_decref(answer);
    return e;
}

static enum err take_open(int fd, const struct stat *st, const char *kind,
                          struct errinfo *reterr)
{
    size_t n = (size_t)st->st_size;
    char *bytes = malloc(n + 1);
    enum err e = ERR_OK;

    if (bytes == NULL || file_read_at(fd, 0, bytes, n) != n) {
        e = errinfo_set(reterr, bytes == NULL ? ERR_NOMEM : ERR_IO, kind, 0,
                        "it cannot be read");
    }
    THEN(e, take_bytes(slice_of(bytes, n), kind, st->st_uid, reterr));
    free(bytes);
    return e;
}

/* ERR_NOT_FOUND: not now. */
static enum err take_file(const char *path, const char *kind, struct errinfo *reterr)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    enum err e = ERR_OK;

    if (fd < 0 && errno == ELOOP) {
        return errinfo_set(reterr, ERR_SYNTAX, path, 0, "it is a link");
    }
    if (fd < 0) {
        return errinfo_errno(reterr, path, "it cannot be opened");
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0, "it is no file of one name");
    } else if (st.st_size > SCAN_REQUEST_BYTES_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, path, 0, "it is longer than a message");
    } else if ((uint64_t)st.st_mtime + REPORT_SPOOL_SETTLED_S >
               clock_wall_us() / US_PER_S) {
        e = ERR_NOT_FOUND;
    } else if (st.st_size == 0) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0, "it is empty");
    } else {
        e = take_open(fd, &st, kind, reterr);
    }
    (void)close(fd);
    return e;
}

static void set_aside(const char *path, const char *name, const struct errinfo *why)
{
    char failed[FILE_PATH_MAX];

    log_warn("event=report spool=%s error=%s", path, why->text);
    if (path_make(failed, NULL, "%s/failed/%s", spool.dir, name) != ERR_OK ||
        rename(path, failed) != 0) {
        (void)unlink(path);
    }
}

/* Errors that are not the file's own: it waits. */
static bool will_pass(enum err e)
{
    return e == ERR_NOT_FOUND || e == ERR_NOMEM || e == ERR_NOSPACE || e == ERR_IO ||
           e == ERR_UNSUPPORTED || e == ERR_LOCKED;
}

static void look_into(const char *kind)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    unsigned left = REPORT_SPOOL_FILES;

    if (path_make(dir, NULL, "%s/%s", spool.dir, kind) != ERR_OK) {
        return;
    }
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);

    while (left-- > 0 && dir_walk_next(&w)) {
        struct errinfo why = {.code = ERR_OK};
        if (*w.name == '.' ||
            slice_has_suffix_nocase(slice_str(w.name), SLICE_LIT(FILE_TEMP_SUFFIX)) ||
            path_make(path, NULL, "%s/%s", dir, w.name) != ERR_OK) {
            continue; /* a program writes it, or not a file for us */
        }
        enum err e = take_file(path, kind, &why);
        if (e == ERR_OK) {
            (void)unlink(path);
        } else if (!will_pass(e)) {
            set_aside(path, w.name, &why);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

/* ---- the thread ---- */

static void make_spool(void)
{
    const char *const names[] = {"", "/spam", "/ham", "/failed"};
    char path[FILE_PATH_MAX];
    char old[FILE_PATH_MAX];
    struct stat st;

    /* the file in which gillnet-hub kept reports before version 0.2 */
    if (lstat(spool.dir, &st) == 0 && S_ISREG(st.st_mode) &&
        path_make(old, NULL, "%s.old", spool.dir) == ERR_OK) {
        (void)rename(spool.dir, old);
    }
    for (size_t i = 0; i < LENGTH(names); i++) {
        mode_t mode = i == 3 ? FAILED_MODE : SPOOL_MODE;
        if (path_make(path, NULL, "%s%s", spool.dir, names[i]) != ERR_OK) {
            continue;
        }
        if (lstat(path, &st) != 0 && mkdir(path, 0700) == 0) {
            (void)chmod(path, mode); /* despite the umask */
        }
        (void)file_sweep_old_temps(path, TEMPS_OLD_S, NULL); /* of killed writers */
    }
}

/* Also what was reported while the model could not be had. */
static bool teach_model(void)
{
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);

    return reports == NULL || reports_teach(reports, learn_learner());
}

static void look_at_peers(void)
{
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);
    uint64_t generation;

    if (reports != NULL) {
        struct config *config = service_config(&generation);
        reports_look_at_peers(reports, config);
        config_release(&config);
    }
}

static void age_reports(void)
{
    static uint64_t next_s;
    uint64_t now_s = clock_mono_us() / US_PER_S;
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);

    if (now_s >= next_s && reports != NULL) {
        uint64_t generation;
        struct config *config = service_config(&generation);
        reports_age(reports, config->reports.keep_s);
        config_release(&config);
        next_s = now_s + AGE_EVERY_S;
    }
}

static void *run_spool(void *context)
{
    struct pollfd end = {.fd = spool.end_fd, .events = POLLIN};

    (void)context;
    bool is_taught = teach_model();

    while (poll(&end, 1, is_taught ? REPORT_SPOOL_WAIT_MS : 1) <= 0) {
        look_into("spam");
        look_into("ham");
        look_at_peers();
        report_listed_take();
        is_taught = teach_model();
        age_reports();
    }
    return NULL;
}

bool report_spool_start(void)
{
    const struct keyring *keys;
    uint64_t generation;

    if (service_reports(&keys) == NULL) {
        return true; /* said when they could not be opened */
    }
    struct config *config = service_config(&generation);
    enum err e = path_make(spool.dir, NULL, "%s/" SPOOL_DIR, config->state_dir);

    config_release(&config);
    if (e != ERR_OK) {
        return false;
    }
    make_spool();
    spool.end_fd = eventfd(0, EFD_CLOEXEC);
    spool.is_started =
        spool.end_fd >= 0 && pthread_create(&spool.thread, NULL, run_spool, NULL) == 0;
    return spool.is_started;
}

void report_spool_stop(void)
{
    uint64_t one = 1;

    if (spool.is_started &&
        write(spool.end_fd, &one, sizeof(one)) == (ssize_t)sizeof(one)) {
        pthread_join(spool.thread, NULL);
    }
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);

    if (reports != NULL) {
        (void)reports_teach(reports, NULL);
    }
    spool.is_started = false;
    fd_close(&spool.end_fd);
}
