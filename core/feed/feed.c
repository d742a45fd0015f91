/*
 * feed - reads a list file line by line in the format it is in.
 */
#include "core/feed/feed.h"

#include "core/base/arena.h"
#include "core/feed/lines.h"
#include "core/feed/parser_internal.h"

/* An entry of the longest line in all its forms takes less. */
enum { ENTRY_ARENA = 256 * 1024 };

static const struct feed_row rows[FEED_FORMAT_COUNT] = {
    [FEED_AUTO] = {"auto", NULL, NULL, NULL, NULL},
#define FORMAT(id, name, line, column, fields, place) \
    [FEED_##id] = {name, line, column, fields, place},
#include "core/feed/format.def"
#undef FORMAT
};

const char *feed_format_name(enum feed_format f)
{
    return (unsigned)f < FEED_FORMAT_COUNT ? rows[f].name : "unknown";
}

const char *feed_format_names(void)
{
#define FORMAT(id, name, line, column, fields, place) name ", "
    return
#include "core/feed/format.def"
        "or auto";
#undef FORMAT
}

enum feed_format feed_format_by_name(struct slice name)
{
    unsigned i = 0;
    while (i < FEED_FORMAT_COUNT && !slice_eq(name, slice_str(rows[i].name))) {
        i++;
    }
    return (enum feed_format)i;
}

bool feed_format_is_known(struct slice name)
{
    return feed_format_by_name(name) != FEED_FORMAT_COUNT;
}

static const struct {
    const char *name;
    const char *text;
} unused[FEED_UNUSED_COUNT] = {
#define UNUSED(name, text) [FEED_UNUSED_##name] = {#name, (text)},
#include "core/feed/ignored.def"
#undef UNUSED
};

const char *feed_unused_name(enum feed_unused u)
{
    return unused[u].name;
}

const char *feed_unused_text(enum feed_unused u)
{
    return unused[u].text;
}

void feed_ignored(struct feed *f)
{
    f->counts.ignored++;
}

/* Where the current record begins. */
static uint64_t record_line(const struct feed *f)
{
    return f->record.lines > 0 ? f->record.first : f->counts.lines;
}

void feed_bad(struct feed *f, const char *reason, struct slice text)
{
    f->counts.bad++;
    if (f->sink->on_bad != NULL) {
        f->sink->on_bad(f->sink->context, record_line(f), reason,
                        slice_head(text, FEED_LINES_CUT));
    }
}

void feed_unused(struct feed *f, enum feed_unused why)
{
    f->counts.ignored++;
    f->counts.unused[why]++;
}

void feed_emit(struct feed *f, struct slice text, uint16_t hint)
{
    feed_emit_timed(f, text, hint, &(struct feed_times){0, 0});
}

void feed_emit_timed(struct feed *f, struct slice text, uint16_t hint,
                     const struct feed_times *times)
{
    struct feed_item item = {.line = record_line(f),
                             .first_seen_s = times->first_seen_s,
                             .expiry_s = times->expiry_s};
    struct errinfo info = {.code = ERR_OK};

    if (item.first_seen_s > f->options.now_s && f->options.now_s != 0) {
        item.first_seen_s = 0; /* its clock is wrong, or it is no such time */
    }
    if (times->expiry_s != 0 && times->expiry_s < f->options.now_s) {
        feed_unused(f, FEED_UNUSED_expired);
        return;
    }
    arena_reset(f->arena);
    enum err e = feature_entry_parse(text, (enum feature_type)hint, f->arena,
                                     &item.entry, &info);
    if (e != ERR_OK) {
        feed_bad(f, info.text[0] == '\0' ? err_text(e) : info.text, text);
        return;
    }
    if (item.entry.class_type == FEATURE_network &&
        feed_is_sink(slice_head(item.entry.text, slice_find(item.entry.text, '/')))) {
        feed_bad(f, "this address means no host of the Internet", text);
        return;
    }
    e = f->sink->on_entry(f->sink->context, &item);
    if (e != ERR_OK) {
        f->failed = e;
        (void)errinfo_set(f->reterr, e, f->name, (unsigned)f->counts.lines,
                          "the entry could not be stored: %s", err_text(e));
        return;
    }
    f->counts.entries++;
}

bool feed_record_add(struct feed *f, struct slice line, const char *reason)
{
    struct feed_record *r = &f->record;

    if (r->lines++ == 0) {
        r->first = f->counts.lines;
    }
    if (r->n + line.n + 1 > FEED_LINE_MAX) {
        /* every line of it is lost, so every line counts */
        f->counts.bad += r->lines - 1;
        feed_bad(f, reason, slice_of(r->p, r->n));
        r->n = 0;
        r->lines = 0;
        return false;
    }
    if (r->lines > 1) {
        r->p[r->n++] = '\n';
    }
    if (line.n > 0) {
        memcpy(r->p + r->n, line.p, line.n);
        r->n += line.n;
    }
    return true;
}

void feed_record_end(struct feed *f)
{
    if (f->record.lines > 1) {
        f->counts.ignored += f->record.lines - 1;
    }
    f->record.lines = 0;
    f->record.n = 0;
}

enum err feed_read_failed(const struct feed *f, const struct feed_lines *l)
{
    return errinfo_set(f->reterr, err_of_errno(l->errnum), f->name,
                       (unsigned)f->counts.lines, "reading failed: %s",
                       err_text(err_of_errno(l->errnum)));
}

/* Finds the format; drops a byte order mark. */
static enum err choose_format(struct feed *f, struct feed_lines *l, bool *retjson)
{
    struct slice beginning;

    if (feed_lines_peek(l, &beginning) != FEED_LINES_LINE) {
        return feed_read_failed(f, l);
    }
    if (slice_has_prefix(beginning, SLICE_LIT("\xef\xbb\xbf"))) {
        feed_lines_skip(l, 3);
        beginning = slice_from(beginning, 3);
    }
    const char *refusal = feed_refusal(beginning);
    if (refusal != NULL) {
        return errinfo_set(f->reterr, ERR_SYNTAX, f->name, 0, "%s", refusal);
    }
    f->counts.format = f->options.format;
    if (f->options.format == FEED_AUTO) {
        f->counts.format = feed_sniff(beginning);
    }
    f->row = &rows[f->counts.format];
    if (f->counts.format == FEED_AUTO) {
        return errinfo_set(f->reterr, ERR_SYNTAX, f->name, 0,
                           "no known list format fits; if it is one, name it (%s)",
                           feed_format_names());
    }
    *retjson = f->row->place != NULL && feed_looks_like_json(beginning);
    if (!*retjson && f->row->line == NULL && slice_trim(beginning).n > 0) {
        return errinfo_set(f->reterr, ERR_SYNTAX, f->name, 0,
                           "this is no JSON, and lists in the format %s are",
                           f->row->name);
    }
    return ERR_OK;
}

static void read_line(struct feed *f, struct slice line)
{
    if (f->counts.entries == 0 && f->counts.made_s == 0 && line.n > 0 &&
        (line.p[0] == '#' || line.p[0] == ';' || line.p[0] == '!')) {
        feed_note_made(f, line);
    }
    if (f->row->line != NULL) {
        f->row->line(f, line);
    } else {
        feed_ignored(f); /* white space instead of JSON */
    }
}

static enum err read_lines(struct feed *f, struct feed_lines *l)
{
    uint64_t told = 0;
    struct slice line;
    enum feed_lines_result r = FEED_LINES_LINE;

    while (f->failed == ERR_OK && ((r = feed_lines_next(l, &line)) == FEED_LINES_LINE ||
                                   r == FEED_LINES_LONG)) {
        f->counts.lines++;
        if (r == FEED_LINES_LONG) {
            feed_bad(f, "the line is longer than 16384 bytes", line);
        } else if (line.n > 0 && memchr(line.p, '\0', line.n) != NULL) {
            feed_bad(f, "the line has a NUL byte", line);
        } else {
            read_line(f, line);
        }
        if (f->sink->on_progress != NULL && l->bytes != told) {
            told = l->bytes;
            f->sink->on_progress(f->sink->context, told);
        }
    }
    if (f->failed == ERR_OK && r == FEED_LINES_ERROR) {
        return feed_read_failed(f, l);
    }
    if (f->failed == ERR_OK && f->record.lines > 0) {
        f->counts.bad += f->record.lines - 1;
        feed_bad(f, "the record is not closed at the end of the file",
                 slice_of(f->record.p, f->record.n));
    }
    return f->failed;
}

enum err feed_read(int fd, const char *name, const struct feed_options *options,
                   const struct feed_sink *sink, struct feed_counts *ret,
                   struct errinfo *reterr)
{
    struct feed f = {.name = name,
                     .row = &rows[FEED_AUTO],
                     .options = *options,
                     .sink = sink,
                     .reterr = reterr};
    struct feed_lines l;
    bool is_json = false;
    enum err e = feed_lines_init(&l, fd);

    f.arena = arena_new(ENTRY_ARENA);
    f.record.p = malloc(FEED_LINE_MAX);
    if (e != ERR_OK || f.arena == NULL || f.record.p == NULL) {
        e = errinfo_nomem(reterr, name);
    }
    THEN(e, choose_format(&f, &l, &is_json));
    THEN(e, is_json ? feed_read_json(&f, &l) : read_lines(&f, &l));
    *ret = f.counts;
    free(f.record.p);
    arena_free(&f.arena);
    feed_lines_fini(&l);
    return e;
}
