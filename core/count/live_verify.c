/* live_verify - a journal of the running bucket, read through. */
#include "core/count/live_verify.h"

#include "core/count/live_format.h"

bool live_is_journal(const char *name)
{
    return live_name_parse(slice_str(name)).kind == LIVE_JOURNAL;
}

static enum err verify_records(struct pair_log *l, struct pair_log_place *p,
                               struct errinfo *reterr)
{
    struct slice pairs;
    enum err e = ERR_OK;

    while (e == ERR_OK) {
        e = pair_log_next(l, &live_journal_form, p, &pairs, reterr);
    }
    if (e == ERR_CORRUPT) {
        return errinfo_set(reterr, e, l->path, 0,
                           "record %" PRIu64 " at byte %" PRIu64
                           " is damaged: after a loss of power what was counted from "
                           "there on would be lost",
                           p->seq + 1, p->at);
    }
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err live_verify_journal(const char *path, struct errinfo *reterr)
{
    struct pair_log log;
    struct pair_log_place place;
    enum err e = pair_log_open(path, &log, reterr);

    if (e == ERR_OK && log.size >= PAIR_LOG_HEADER) { /* else gillnetd is making it */
        e = live_journal_begin(&log, &place, reterr);
        THEN(e, verify_records(&log, &place, reterr));
    }
    pair_log_close(&log);
    return e;
}
