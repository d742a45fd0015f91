/* live_verify - a journal of the running bucket, read through. */
#include "core/count/live_verify.h"

#include "core/base/cursor.h"
#include "core/count/live_format.h"

bool live_is_journal(const char *name)
{
    return live_name_parse(slice_str(name)).kind == LIVE_JOURNAL;
}

/* The record at the begin of c. *retcut: the file ends within it. */
static bool is_whole(struct cursor *c, uint64_t seq, uint64_t salt, bool *retcut)
{
    const struct slice rest = c->rest;
    uint32_t magic = cursor_u32(c);
    uint32_t n = cursor_u32(c);
    uint64_t number = cursor_u64(c);
    size_t payload = (size_t)n * LIVE_PAIR;

    *retcut = rest.n < LIVE_RECORD_HEAD;
    if (*retcut || magic != LIVE_RECORD_MAGIC || number != seq) {
        return false;
    }
    *retcut = rest.n < LIVE_RECORD_HEAD + payload + LIVE_SUM;
    (void)cursor_bytes(c, payload);
    uint64_t sum = cursor_u64(c);
    return !*retcut &&
           sum == live_record_sum(slice_head(rest, LIVE_RECORD_HEAD + payload), salt);
}

static enum err verify_records(struct slice bytes, const char *path,
                               struct errinfo *reterr)
{
    uint64_t salt = live_journal_salt(slice_head(bytes, LIVE_JOURNAL_HEADER));
    struct cursor c = cursor_of(slice_from(bytes, LIVE_JOURNAL_HEADER));

    for (uint64_t seq = 1; c.rest.n > 0; seq++) {
        size_t at = bytes.n - c.rest.n;
        bool is_cut = false;
        if (is_whole(&c, seq, salt, &is_cut)) {
            continue;
        }
        if (is_cut) {
            return ERR_OK;
        }
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "record %llu at byte %zu is damaged: after a loss of power "
                           "what was counted from there on would be lost",
                           (unsigned long long)seq, at);
    }
    return ERR_OK;
}

enum err live_verify_journal(const char *path, struct errinfo *reterr)
{
    struct buf bytes;
    struct run_id id;

    buf_init(&bytes, (size_t)LIVE_RECORD_MAX * 4);
    enum err e = file_read(path, &bytes, reterr);
    if (e == ERR_OK && bytes.n < LIVE_JOURNAL_HEADER) {
        buf_fini(&bytes); /* being made */
        return ERR_OK;
    }
    THEN(e, live_journal_header_parse(buf_slice(&bytes), path, &id, reterr));
    THEN(e, verify_records(buf_slice(&bytes), path, reterr));
    buf_fini(&bytes);
    return e;
}
