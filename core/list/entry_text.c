/*
 * entry_text - text and source of an entry, read from the log.
 */

#include "core/list/reader.h"

struct list_provenance entry_shown(const struct digest *d, const struct index_record *r)
{
    return (struct list_provenance){
        .digest = *d,
        .status = (enum entry_status)r->status,
        .class_type = r->class_type,
        .is_explicit = (r->flags & ENTRY_FLAG_EXPLICIT) != 0,
        .first_seen_s = r->first_seen_s,
        .expiry_s = r->expiry_s,
    };
}

void log_texts_init(struct log_texts *t, const char *dir)
{
    *t = (struct log_texts){.dir = dir};
    for (unsigned i = 0; i < LOG_TEXT_FILES; i++) {
        t->file[i].fd = -1;
    }
}

void log_texts_fini(struct log_texts *t)
{
    for (unsigned i = 0; i < LOG_TEXT_FILES; i++) {
        fd_close(&t->file[i].fd);
    }
}

static int segment_fd(struct log_texts *t, uint32_t number)
{
    unsigned slot = number % LOG_TEXT_FILES;
    if (t->file[slot].fd >= 0 && t->file[slot].number == number) {
        return t->file[slot].fd;
    }
    char path[FILE_PATH_MAX];
    if (list_file_path(path, t->dir, LIST_FILE_LOG, number, NULL) != ERR_OK) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    fd_close(&t->file[slot].fd);
    t->file[slot].number = number;
    t->file[slot].fd = fd;
    return fd;
}

/* The record at an offset; its text points into bytes. */
static bool read_log_record(struct log_texts *t, uint32_t number, uint32_t offset,
                            char bytes[RECORD_BYTES_MAX], struct log_record *ret)
{
    int fd = segment_fd(t, number);
    if (fd < 0) {
        return false;
    }
    size_t n = file_read_at(fd, offset, bytes, RECORD_BYTES_MAX);
    size_t size = 0;
    return n > 0 && segment_record_parse(slice_of(bytes, n), ret, &size);
}

void log_texts_get(struct log_texts *t, const struct digest *d,
                   const struct index_record *rec, struct arena *arena,
                   struct list_provenance *ret)
{
    char bytes[RECORD_BYTES_MAX];
    struct log_record r;
    if (!read_log_record(t, rec->segment, rec->offset, bytes, &r) ||
        digest_cmp(&r.digest, d) != 0) {
        return; /* verify finds it; the entry itself stands */
    }
    ret->text = arena_copy(arena, r.text);
    uint32_t source_at = r.source_at;
    if (source_at != 0 && read_log_record(t, rec->segment, source_at, bytes, &r) &&
        r.kind == RECORD_SOURCE && r.text.n < LIST_SOURCE_MAX) {
        memcpy(ret->source, r.text.p, r.text.n);
        ret->source[r.text.n] = '\0';
    }
}
