/*
 * changes_poll - reads the log from the caller's position to the last record that the memtable
 * holds.
 */
#include "core/list/changes_poll.h"

#include "core/list/reader.h"
#include "core/list/segment.h"

static uint64_t oldest_period(const struct list_reader *r)
{
    uint64_t oldest = r->current.period_s;
    for (uint32_t i = 0; i < r->current.nlevels; i++) {
        uint64_t period_s = r->current.level[i].period_s;
        oldest = period_s != 0 && period_s < oldest ? period_s : oldest;
    }
    return oldest;
}

void list_changes_end(const struct list_reader *r, struct list_position *ret)
{
    struct memtable_numbers n = memtable_numbers_get(&r->recent);
    *ret = (struct list_position){.created_s = r->current.created_s,
                                  .period_s = oldest_period(r),
                                  .segment = n.segment,
                                  .offset = n.tail_bytes};
}

/* Records of one segment from io->offset up to end. False: `most` was reached. */
static bool scan_changes(const struct segment *s, struct list_position *io, size_t end,
                         uint64_t *most, list_change_fn *fn, void *context)
{
    struct segment_scan all = segment_scan_all(s, io->segment);
    size_t from = io->offset > SEGMENT_HEADER_BYTES ? io->offset : SEGMENT_HEADER_BYTES;
    struct segment_scan x =
        segment_scan_of(slice_head(all.bytes, end), io->segment, from);
    struct log_record r;
    enum segment_found found;
    while ((found = segment_next(&x, &r)) == SEGMENT_RECORD ||
           found == SEGMENT_DAMAGE) {
        if (found == SEGMENT_RECORD && r.kind != RECORD_SOURCE) {
            if (*most == 0) {
                return false;
            }
            --*most;
            fn(context, &r.digest);
        }
        io->offset = (uint32_t)x.at;
    }
    return true;
}

enum err list_changes(const struct list_reader *r, struct list_position *io,
                      uint64_t most, list_change_fn *fn, void *context,
                      struct errinfo *reterr)
{
    struct list_position end;
    list_changes_end(r, &end);
    io->has_more = false;
    if (end.created_s != io->created_s || end.period_s > io->period_s ||
        end.segment < io->segment ||
        (end.segment == io->segment && end.offset < io->offset)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, r->dir, 0,
                           "the log is not the one that was followed");
    }
    while (io->segment < end.segment || io->offset < end.offset) {
        struct segment s;
        enum err e = segment_open(r->dir, io->segment, &s, NULL, reterr);
        if (e != ERR_OK) {
            return e;
        }
        size_t size = io->segment == end.segment ? end.offset : s.map.n;
        io->has_more = !scan_changes(&s, io, size, &most, fn, context);
        segment_close(&s);
        if (io->has_more) {
            break;
        }
        if (io->segment == end.segment) {
            io->offset = end.offset;
        } else {
            io->segment++;
            io->offset = 0;
        }
    }
    return ERR_OK;
}

enum err list_changes_poll(const char *state_dir, struct slice name,
                           const struct keyring *keys, struct list_reader **io,
                           struct list_cursor *io_seen, struct errinfo *reterr)
{
    if (!*io || list_reader_is_stale(*io)) {
        struct list_reader *fresh = NULL;
        enum err e =
            list_reader_open_beside(state_dir, name, keys, *io, &fresh, reterr);
        if (e != ERR_OK) {
            return e;
        }
        list_reader_close(io);
        *io = fresh;
    }
    struct memtable_numbers n = memtable_numbers_get(&(*io)->recent);
    struct list_cursor now = {.generation = (*io)->current.generation,
                              .updated_s = n.updated_s,
                              .segment = n.segment,
                              .offset = n.tail_bytes};
    now.is_changed = now.generation != io_seen->generation ||
                     now.segment != io_seen->segment || now.offset != io_seen->offset;
    *io_seen = now;
    return ERR_OK;
}
