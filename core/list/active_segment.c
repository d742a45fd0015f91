/*
 * active_segment - a record counts only after its sync.
 */
#include "core/list/active_segment.h"

#include "core/list/files.h"

enum { STAGED_BYTES_MAX = ACTIVE_SEGMENT_STAGED_MAX + 2 * RECORD_BYTES_MAX };

static enum err segment_error(const struct active_segment *t, const char *what,
                              struct errinfo *reterr)
{
    struct errinfo info;
    enum err e = errinfo_errno(&info, "", what);
    return errinfo_set(
        reterr, e, "", 0,
        "segment %u of the log: %s; nothing was added, see that the disk has "
        "room and is sound",
        t->number, info.text);
}

enum err active_segment_open(struct active_segment *t, const char *dir, uint32_t number,
                             uint64_t good, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    *t = (struct active_segment){.fd = -1, .number = number, .bytes = good};
    buf_init(&t->staged, STAGED_BYTES_MAX);
    enum err e = list_file_path(path, dir, LIST_FILE_LOG, number, reterr);
    if (e != ERR_OK) {
        return e;
    }
    t->fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0) {
        return errinfo_errno(reterr, path, "cannot open the log for writing");
    }
    struct stat st;
    if (fstat(t->fd, &st) != 0) {
        e = errinfo_errno(reterr, path, "cannot examine the log");
    } else if ((uint64_t)st.st_size != good && ftruncate(t->fd, (off_t)good) != 0) {
        e = errinfo_errno(reterr, path, "cannot cut off an unfinished record");
    } else if (fsync(t->fd) != 0) {
        e = errinfo_errno(reterr, path, "cannot sync the log to disk");
    }
    if (e != ERR_OK) {
        active_segment_close(t);
    }
    return e;
}

void active_segment_close(struct active_segment *t)
{
    fd_close(&t->fd);
    buf_fini(&t->staged);
}

static uint32_t source_find(const struct active_segment *t, struct slice source)
{
    for (unsigned i = 0; i < ACTIVE_SEGMENT_SOURCES && i < t->nsources; i++) {
        if (slice_eq(slice_str(t->source[i].name), source)) {
            return t->source[i].at;
        }
    }
    return 0;
}

static void source_note(struct active_segment *t, struct slice source, uint32_t at)
{
    struct active_segment_source *s =
        &t->source[t->nsources++ % ACTIVE_SEGMENT_SOURCES];
    memcpy(s->name, source.p, source.n);
    s->name[source.n] = '\0';
    s->at = at;
}

static enum err write_records(struct active_segment *t, struct slice bytes,
                              struct errinfo *reterr)
{
    if (!file_write_at(t->fd, t->bytes, bytes)) {
        enum err e = segment_error(t, "cannot write", reterr);
        /* cut off the partial record, so that the next record follows the last complete one */
        t->failed = ftruncate(t->fd, (off_t)t->bytes) != 0;
        return e;
    }
    if (fdatasync(t->fd) != 0) {
        t->failed = true;
        return segment_error(t, "cannot sync to disk", reterr);
    }
    return ERR_OK;
}

/* Forgets the staged records. */
static void unstage(struct active_segment *t)
{
    buf_fini(&t->staged);
    buf_init(&t->staged, STAGED_BYTES_MAX);
    t->nsources = 0; /* the name of a source can be among them */
}

enum err active_segment_stage(struct active_segment *t, struct log_record *r,
                              struct slice source, struct errinfo *reterr)
{
    if (t->failed || t->fd < 0) {
        return errinfo_set(
            reterr, ERR_IO, "", 0,
            "segment %u of the log could not be written before; nothing more "
            "is added until the list is opened again",
            t->number);
    }
    source = slice_head(source, LIST_SOURCE_MAX - 1);
    uint32_t source_at = source.n > 0 ? source_find(t, source) : 0;
    if (source.n > 0 && source_at == 0) {
        struct log_record named = {
            .kind = RECORD_SOURCE, .time_s = r->time_s, .text = source};
        source_at = (uint32_t)(t->bytes + t->staged.n);
        segment_record_print(&named, &t->staged);
        source_note(t, source, source_at);
    }
    r->source_at = source_at;
    r->segment = t->number;
    r->offset = (uint32_t)(t->bytes + t->staged.n);
    segment_record_print(r, &t->staged);
    if (buf_failed(&t->staged)) {
        unstage(t);
        return errinfo_nomem(reterr, "");
    }
    return ERR_OK;
}

enum err active_segment_sync(struct active_segment *t, struct errinfo *reterr)
{
    enum err e = write_records(t, buf_slice(&t->staged), reterr);
    if (e == ERR_OK) {
        t->bytes += t->staged.n;
        buf_clear(&t->staged);
    } else {
        unstage(t);
    }
    return e;
}
