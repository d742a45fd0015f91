#include "core/verdict/journal/journal_report.h"

#include "core/base/clock.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/journal_internal.h"

enum { US_PER_S = 1000000, LOCK_TRIES = 100, LOCK_WAIT_US = 50000 };

static enum err take_lock(const char *dir, struct filelock *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/reports.lock", dir);

    THEN(e, filelock_take(ret, path, reterr));
    for (unsigned i = 0; e == ERR_LOCKED && i < LOCK_TRIES; i++) {
        usleep(LOCK_WAIT_US);
        e = filelock_take(ret, path, reterr);
    }
    return e;
}

static enum err append(const char *path, struct slice frame, struct errinfo *reterr)
{
    struct buf head;
    uint64_t size = 0;
    int fd = -1;

    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(0, &head);
    enum err e = buf_failed(&head)
                     ? errinfo_nomem(reterr, path)
                     : journal_file_open(path, buf_slice(&head), &fd, &size, reterr);
    if (e == ERR_OK && (!file_write_all(fd, frame) || fdatasync(fd) != 0)) {
        e = errinfo_errno(reterr, path, "cannot write the report");
    }
    fd_close(&fd);
    buf_fini(&head);
    return e;
}

enum err journal_report(const char *state_dir, const struct journal_report *report,
                        struct errinfo *reterr)
{
    struct record r;
    struct buf frame;
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    char text[JOURNAL_FILE_NAME];
    struct filelock lock = {.fd = -1};

    record_init(&r, RECORD_REPORT);
    r.time_us = clock_wall_us();
    r.case_id = report->case_id;
    r.is_spam = report->is_spam;
    r.reporter = report->reporter;
    const struct journal_name_of name = {.kind = JOURNAL_REPORTS,
                                         .day = r.time_us / US_PER_S / JOURNAL_DAY_S};
    journal_file_print(&name, text);
    record_print(&r, &frame);
    enum err e = buf_failed(&frame) ? errinfo_nomem(reterr, state_dir) : ERR_OK;
    THEN(e, path_make(dir, reterr, "%s/" STATE_JOURNAL_DIR, state_dir));
    THEN(e, path_make(path, reterr, "%s/%s", dir, text));
    THEN(e, file_make_dir(dir, JOURNAL_FOLDER_MODE, reterr));
    THEN(e, take_lock(dir, &lock, reterr));
    if (e == ERR_OK) {
        record_number(frame.p, r.time_us);
        e = append(path, buf_slice(&frame), reterr);
        filelock_drop(&lock);
    }
    buf_fini(&frame);
    return e;
}
