/*
 * import_log - a segment appears whole, by rename; a very long import takes several.
 */
#include "core/list/import_log.h"

#include "core/list/files.h"

/* Offsets in the index have 32 bits; an import longer than this takes several segments. */
enum { BULK_BYTES_MAX = 1024 * 1024 * 1024 };

void import_log_init(struct import_log *b)
{
    b->is_open = false;
    buf_init(&b->scratch, RECORD_BYTES_MAX);
}

static enum err bulk_begin(struct import_log *b, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (b->number >= UINT32_MAX - 1) {
        return errinfo_set(reterr, ERR_LIMIT, b->dir, 0, "too many segments");
    }
    enum err e = list_file_path(path, b->dir, LIST_FILE_LOG, b->number + 1, reterr);
    THEN(e, file_out_open(&b->out, path, LIST_FILE_MODE, reterr));
    if (e != ERR_OK) {
        return e;
    }
    b->number++;
    b->is_open = true;
    struct segment_header h = {
        .number = b->number,
        .key_id = b->key_id,
        .kind = SEGMENT_BULK,
        .created_s = b->time_s,
    };
    struct log_record named = {
        .kind = RECORD_SOURCE, .time_s = b->time_s, .text = b->source};
    buf_clear(&b->scratch);
    segment_header_print(&h, &b->scratch);
    b->source_at = b->source.n > 0 ? SEGMENT_HEADER_BYTES : 0;
    if (b->source.n > 0) {
        segment_record_print(&named, &b->scratch);
    }
    file_out_add(&b->out, buf_slice(&b->scratch));
    return buf_failed(&b->scratch) ? errinfo_nomem(reterr, path) : ERR_OK;
}

enum err import_log_end(struct import_log *b, struct errinfo *reterr)
{
    if (!b->is_open) {
        return ERR_OK;
    }
    b->is_open = false;
    return file_out_commit(&b->out, reterr);
}

enum err import_log_add(struct import_log *b, struct log_record *r,
                        struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (b->is_open && b->out.written >= BULK_BYTES_MAX) {
        e = import_log_end(b, reterr);
    }
    if (e == ERR_OK && !b->is_open) {
        e = bulk_begin(b, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    r->segment = b->number;
    r->offset = (uint32_t)b->out.written;
    r->source_at = b->source_at;
    buf_clear(&b->scratch);
    segment_record_print(r, &b->scratch);
    if (buf_failed(&b->scratch)) {
        return errinfo_nomem(reterr, b->dir);
    }
    file_out_add(&b->out, buf_slice(&b->scratch));
    return ERR_OK;
}

void import_log_fini(struct import_log *b)
{
    if (b->is_open) {
        file_out_abort(&b->out);
    }
    buf_fini(&b->scratch);
}
