/*
 * replay - records without their texts go through the sorter, in the order of the log.
 */
#include "core/list/replay.h"

#include "core/base/cursor.h"
#include "core/list/files.h"

static void damage_at(struct replay *r, const struct errinfo *what)
{
    r->damage++;
    if (r->on_damage) {
        r->on_damage(r->context, what);
    }
}

static void damage_bytes(struct replay *r, const char *path,
                         const struct segment_scan *s)
{
    struct errinfo info;
    errinfo_set(
        &info, ERR_CORRUPT, path, 0,
        "%zu bytes at offset %zu are damaged; the entries that stood there are "
        "lost to a rebuild: restore the file from a backup or import the feed again",
        s->skipped, s->at - s->skipped);
    damage_at(r, &info);
}

enum err replay_begin(struct replay *r, struct errinfo *reterr)
{
    return sorter_new(r->dir, REPLAY_SORT_BYTES, &r->sorter, reterr);
}

static enum err put_record(struct replay *r, const struct log_record *rec,
                           struct errinfo *reterr)
{
    struct buf data;
    buf_init(&data, 64);
    buf_add_u8(&data, (uint8_t)rec->kind);
    buf_add_u16(&data, rec->class_type);
    buf_add_u32(&data, rec->time_s);
    buf_add_u32(&data, rec->expiry_s);
    buf_add_u32(&data, rec->first_seen_s);
    buf_add_u32(&data, rec->segment);
    buf_add_u32(&data, rec->offset);
    struct sorter_record s = {
        .digest = rec->digest, .order = r->order++, .data = buf_slice(&data)};
    enum err e = buf_failed(&data) ? errinfo_nomem(reterr, r->dir)
                                   : sorter_add(r->sorter, &s, reterr);
    buf_fini(&data);
    return e;
}

static enum err scan_segment(struct replay *r, struct segment_scan *scan,
                             const char *path, bool is_tail, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    while (e == ERR_OK) {
        struct log_record rec;
        enum segment_found found = segment_next(scan, &rec);
        if (found == SEGMENT_END || (found == SEGMENT_TORN && is_tail)) {
            break;
        }
        if (found != SEGMENT_RECORD) {
            damage_bytes(r, path, scan);
            continue;
        }
        if (rec.time_s > r->updated_s) {
            r->updated_s = rec.time_s;
        }
        if (rec.kind != RECORD_SOURCE) {
            e = put_record(r, &rec, reterr);
        }
    }
    return e;
}

/* A segment of another key would add digests that no look-up finds. */
static bool key_fits(struct replay *r, const struct segment *s, const char *path)
{
    if (r->key_id == 0) {
        r->key_id = s->header.key_id;
    }
    if (s->header.key_id == r->key_id) {
        return true;
    }
    struct errinfo info;
    errinfo_set(&info, ERR_KEY, path, 0,
                "written with the digest key %08" PRIx32
                " where the list has %08" PRIx32 "; its entries are left out",
                s->header.key_id, r->key_id);
    damage_at(r, &info);
    return false;
}

enum err replay_segment(struct replay *r, uint32_t number, bool is_tail, uint64_t limit,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct errinfo info;
    struct segment s;
    enum err e = list_file_path(path, r->dir, LIST_FILE_LOG, number, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct errinfo failed;
    e = segment_open(r->dir, number, &s, &info, &failed);
    if (e == ERR_NOT_FOUND) {
        errinfo_set(&info, e, path, 0,
                    "this segment of the log is missing; restore it from a backup or "
                    "import the feed again");
        damage_at(r, &info);
        return ERR_OK;
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, failed.source, 0, "%s", failed.text);
    }
    if (!s.has_header) {
        damage_at(r, &info);
        if (info.code == ERR_VERSION) {
            segment_close(&s);
            return ERR_OK;
        }
    }
    if (!s.has_header || key_fits(r, &s, path)) {
        struct segment_scan scan = segment_scan_all(&s, number);
        if (limit != 0) {
            scan.bytes = slice_head(scan.bytes, (size_t)limit);
        }
        r->bytes += scan.bytes.n;
        e = scan_segment(r, &scan, path, is_tail, reterr);
    }
    segment_close(&s);
    return e;
}

enum err replay_next(struct replay *r, struct errinfo *reterr)
{
    struct sorter_record s;
    enum err e = ERR_OK;
    r->has_next = sorter_next(r->sorter, &s, &e);
    if (!r->has_next) {
        return e == ERR_OK ? ERR_OK
                           : errinfo_set(reterr, e, r->dir, 0,
                                         "cannot read back the sorted log");
    }
    struct cursor c = cursor_of(s.data);
    r->next = (struct log_record){.kind = (enum record_kind)cursor_u8(&c)};
    r->next.class_type = cursor_u16(&c);
    r->next.time_s = cursor_u32(&c);
    r->next.expiry_s = cursor_u32(&c);
    r->next.first_seen_s = cursor_u32(&c);
    r->next.segment = cursor_u32(&c);
    r->next.offset = cursor_u32(&c);
    r->next.digest = s.digest;
    return ERR_OK;
}

enum err replay_finish(struct replay *r, struct errinfo *reterr)
{
    enum err e = sorter_finish(r->sorter, reterr);
    return e == ERR_OK ? replay_next(r, reterr) : e;
}

bool replay_peek(const struct replay *r, struct log_record *ret)
{
    if (r->has_next) {
        *ret = r->next;
    }
    return r->has_next;
}

void replay_end(struct replay *r)
{
    sorter_free(&r->sorter);
}
