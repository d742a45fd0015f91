/* browse - a piece of the log is read from its end; its records are parsed forwards, then given
 * backwards. */
#include "core/list/browse.h"

#include <fcntl.h>

#include "core/list/changes_poll.h"
#include "core/list/reader.h"
#include "core/list/segment.h"

enum {
    PIECE_RECORDS = BROWSE_PIECE / (RECORD_HEAD_BYTES + RECORD_FIXED_BYTES) + 1,
    ENTRY_ARENA_BYTES = 64 * 1024
};

_Static_assert((int)BROWSE_PIECE > 2 * (int)RECORD_BYTES_MAX,
               "a piece holds the record at its end");

struct walk {
    const struct list_reader *r;
    const struct browse *b;
    struct merged_index levels;
    struct log_texts texts;
    struct arena *arena;
    struct browsed *ret;
    char text[BROWSE_TEXT_MAX]; /* lower case */
    char *piece;
    char *lower; /* text of a record */
    struct log_record *record;
    uint64_t most; /* records */
    bool goes_on;
};

/* ---- one record ---- */

static void to_lower(char *dst, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        const bool is_upper = s.p[i] >= 'A' && s.p[i] <= 'Z';
        dst[i] = (char)(is_upper ? s.p[i] | ' ' : s.p[i]);
    }
}

static bool has_text(struct walk *w, const struct log_record *rec)
{
    const struct slice text = slice_of(w->text, w->b->text.n);
    const struct slice lower = slice_of(w->lower, rec->text.n);

    if (text.n == 0) {
        return true;
    }
    w->ret->without_text += rec->text.n == 0;
    if (rec->text.n < text.n) {
        return false;
    }
    to_lower(w->lower, rec->text);
    return slice_find_slice(lower, text) < lower.n;
}

/* Whether the list's state of the digest stands at this record. */
static bool is_in_force(const struct walk *w, const struct log_record *rec,
                        struct index_record *ret)
{
    return memtable_state(&w->r->recent, &w->levels, &rec->digest, ret) == ERR_OK &&
           ret->segment == rec->segment && ret->offset == rec->offset &&
           !entry_is_expired(ret, w->b->now_s);
}

static void give_record(struct walk *w, const struct log_record *rec)
{
    struct index_record state;

    if (!has_text(w, rec) ||
        (w->b->but != NULL && digest_cmp(w->b->but, &rec->digest) == 0) ||
        !is_in_force(w, rec, &state)) {
        return;
    }
    struct list_provenance from = entry_shown(&rec->digest, &state);
    const struct browse_entry e = {&from, rec->time_s};
    arena_reset(w->arena);
    log_texts_get(&w->texts, &rec->digest, &state, w->arena, &from);
    w->goes_on = w->b->fn(w->b->context, &e);
}

/* ---- one piece ---- */

/* Parses the records of the bytes that begin at `base` of a segment. */
static size_t parse_piece(struct walk *w, struct slice bytes, uint32_t number,
                          uint32_t base)
{
    struct segment_scan scan = segment_scan_of(bytes, number, 0);
    enum segment_found found = SEGMENT_RECORD;
    size_t n = 0;

    while (n < PIECE_RECORDS && found != SEGMENT_END && found != SEGMENT_TORN) {
        found = segment_next(&scan, &w->record[n]);
        if (found == SEGMENT_RECORD) {
            w->record[n].offset += base;
            n++;
        }
    }
    return n;
}

static void give_piece(struct walk *w, size_t n, struct browse_place *io)
{
    while (n > 0 && w->goes_on) {
        const struct log_record *rec = &w->record[--n];
        io->offset = rec->offset;
        if (rec->kind != RECORD_SOURCE) {
            w->ret->records++;
            give_record(w, rec);
            w->goes_on = w->goes_on && w->ret->records < w->most;
        }
    }
}

/* Gives the records before the place, and moves it. */
static void read_piece(struct walk *w, int fd, struct browse_place *io)
{
    const uint32_t end = io->offset;
    const uint32_t from = end - SEGMENT_HEADER_BYTES > BROWSE_PIECE
                              ? end - BROWSE_PIECE
                              : SEGMENT_HEADER_BYTES;
    const size_t n = file_read_at(fd, from, w->piece, end - from);
    const size_t records = parse_piece(w, slice_of(w->piece, n), io->segment, from);

    if (records == 0) {
        io->offset = from; /* damage */
    } else {
        give_piece(w, records, io);
    }
}

/* ---- the log ---- */

static uint64_t segment_bytes(const struct walk *w, uint32_t number)
{
    return (uint64_t)list_file_mark(w->r->dir, LIST_FILE_LOG, number).size;
}

/* Goes to the end of the segment before. */
static void step_back(const struct walk *w, struct browse_place *io)
{
    io->segment--;
    const uint64_t bytes = io->segment > 0 ? segment_bytes(w, io->segment) : 0;
    io->offset = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static enum err read_segment(struct walk *w, struct browse_place *io,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, w->r->dir, LIST_FILE_LOG, io->segment, reterr);

    if (e != ERR_OK) {
        return e;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT) {
        return errinfo_errno(reterr, path, "cannot read the log");
    }
    if (fd < 0) {
        io->offset = SEGMENT_HEADER_BYTES; /* reported by verify */
    }
    while (w->goes_on && io->offset > SEGMENT_HEADER_BYTES) {
        read_piece(w, fd, io);
    }
    fd_close(&fd);
    return ERR_OK;
}

static enum err read_log(struct walk *w, struct browse_place *io,
                         struct errinfo *reterr)
{
    enum err e = ERR_OK;

    while (e == ERR_OK && w->goes_on && io->segment > 0) {
        if (io->offset > SEGMENT_HEADER_BYTES) {
            e = read_segment(w, io, reterr);
        }
        if (e == ERR_OK && io->offset <= SEGMENT_HEADER_BYTES) {
            step_back(w, io);
        }
    }
    return e;
}

/* ---- the call ---- */

/* The place to begin at. */
static enum err begin(const struct list_reader *r, const struct browse_place *from,
                      struct browse_place *ret, struct errinfo *reterr)
{
    struct list_position end;

    list_changes_end(r, &end);
    *ret = (struct browse_place){end.created_s, end.segment, end.offset};
    if (from->created_s == 0) {
        return ERR_OK;
    }
    if (from->created_s != end.created_s || from->segment > end.segment ||
        (from->segment == end.segment && from->offset > end.offset)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, r->dir, 0,
                           "the list was rewritten meanwhile; begin again");
    }
    *ret = *from;
    return ERR_OK;
}

static void note_share(const struct walk *w, const struct browse_place *at)
{
    struct list_position end;
    uint64_t total = 0;
    uint64_t left = 0;

    list_changes_end(w->r, &end);
    for (uint32_t n = 1; n <= end.segment; n++) {
        const uint64_t bytes = segment_bytes(w, n);
        total += bytes;
        left += n < at->segment ? bytes : n == at->segment ? at->offset : 0;
    }
    w->ret->next = *at;
    w->ret->has_more = at->segment > 0;
    w->ret->share = !w->ret->has_more || total == 0 || left > total
                        ? 1
                        : (double)(total - left) / (double)total;
}

static enum err walk_log(struct walk *w, const struct browse_place *from,
                         struct errinfo *reterr)
{
    struct browse_place at = {0};

    w->piece = malloc(BROWSE_PIECE);
    w->lower = malloc(RECORD_TEXT_MAX);
    w->record = calloc(PIECE_RECORDS, sizeof(*w->record));
    w->arena = arena_new(ENTRY_ARENA_BYTES);
    enum err e =
        w->piece == NULL || w->lower == NULL || w->record == NULL || w->arena == NULL
            ? errinfo_nomem(reterr, w->r->dir)
            : begin(w->r, from, &at, reterr);
    if (e == ERR_OK) {
        log_texts_init(&w->texts, w->r->dir);
        e = read_log(w, &at, reterr);
        log_texts_fini(&w->texts);
    }
    if (e == ERR_OK) {
        note_share(w, &at);
    }
    free(w->piece);
    free(w->lower);
    free(w->record);
    arena_free(&w->arena);
    return e;
}

enum err list_browse(const struct list_reader *r, const struct browse *b,
                     const struct browse_place *from, struct browsed *ret,
                     struct errinfo *reterr)
{
    struct walk w = {.r = r,
                     .b = b,
                     .levels = levels_stack(r->level, r->current.nlevels),
                     .ret = ret,
                     .most = b->records == 0 ? BROWSE_RECORDS : b->records,
                     .goes_on = true};

    *ret = (struct browsed){.records = 0};
    if (b->text.n > sizeof(w.text)) {
        return errinfo_set(reterr, ERR_RANGE, "", 0, "the text is longer than %d bytes",
                           BROWSE_TEXT_MAX);
    }
    if (!r->is_whole) {
        return list_index_damaged(ERR_CORRUPT, r->dir, r->name, reterr);
    }
    to_lower(w.text, b->text);
    return walk_log(&w, from, reterr);
}

/* ---- one value ---- */

/* The time of the record that an entry stands at. */
static uint64_t record_time(const struct list_reader *r, const struct index_record *rec)
{
    char path[FILE_PATH_MAX];
    char bytes[RECORD_BYTES_MAX];
    struct log_record found;
    size_t size = 0;
    int fd = list_file_path(path, r->dir, LIST_FILE_LOG, rec->segment, NULL) == ERR_OK
                 ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
                 : -1;
    const size_t n = fd >= 0 ? file_read_at(fd, rec->offset, bytes, sizeof(bytes)) : 0;

    fd_close(&fd);
    return n > 0 && segment_record_parse(slice_of(bytes, n), &found, &size)
               ? found.time_s
               : 0;
}

enum err list_browse_value(const struct list_reader *r, struct slice value,
                           uint64_t now_s, struct arena *arena,
                           struct browse_found *ret, struct errinfo *reterr)
{
    struct merged_index levels = levels_stack(r->level, r->current.nlevels);
    struct feature_entry e;
    struct index_record state;
    struct digest d;
    enum err failed = feature_entry_parse(value, FEATURE_NONE, arena, &e, reterr);

    if (failed != ERR_OK) {
        return failed;
    }
    e = feature_entry_matched(&e, (enum url_match)r->current.url_match, arena);
    if (e.text.p == NULL) {
        return errinfo_nomem(reterr, r->dir);
    }
    digest_make(&r->key, e.class_type, e.text, &d);
    if (memtable_state(&r->recent, &levels, &d, &state) != ERR_OK ||
        entry_is_expired(&state, now_s)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, r->name, 0,
                           "the list does not have the value");
    }
    struct log_texts texts;
    ret->from = entry_shown(&d, &state);
    log_texts_init(&texts, r->dir);
    log_texts_get(&texts, &d, &state, arena, &ret->from);
    log_texts_fini(&texts);
    ret->changed_s = record_time(r, &state);
    return ERR_OK;
}
