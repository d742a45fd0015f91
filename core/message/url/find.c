/* find - jumps from one character that could belong to a find to the next. */
#include "core/message/url/find.h"

#include "core/base/uninitialized.h"
#include "core/message/text/ascii.h"
#include "core/message/text/simd16.h"
#include "core/message/url/find_internal.h"
#include "core/message/url/find_turned.h"
#include "core/message/url/longurl.h"

_Static_assert(LONGURL_MAX <= FIND_MENDED_MAX / 2, "a draft goes on when it was cut");

void find_draft_begin(struct find_scan *s, size_t start)
{
    s->draft = (struct find_draft){.start = start, .end = start};
}

void find_draft_copy(struct find_scan *s, struct slice text)
{
    size_t room = FIND_MENDED_MAX - s->draft.n;

    if (text.n > room) { /* an unmended text is not cut: it is read from the input */
        s->draft.flags |= FIND_CUT;
        s->draft.n = longurl_shorten(s->mended, s->draft.n);
        text = slice_head(text, FIND_MENDED_MAX - s->draft.n);
    }
    if (text.n > 0) {
        memcpy(s->mended + s->draft.n, text.p, text.n);
        s->draft.n += text.n;
    }
}

void find_draft_put(struct find_scan *s, struct slice text)
{
    find_draft_copy(s, text);
    s->draft.is_mended = true;
}

void find_draft_add(struct find_scan *s, const struct mark *m)
{
    struct slice as_it_stands = slice_of(s->text.p + s->draft.end, m->n);

    if (m->kind == MARK_HIDDEN) {
        s->draft.flags |= FIND_HIDDEN;
        s->draft.is_mended = true;
    } else if (m->kind == MARK_DOT && (m->is_defanged || m->is_wide)) {
        find_draft_put(s, SLICE_LIT("."));
    } else if (m->kind == MARK_AT && m->is_defanged) {
        find_draft_put(s, SLICE_LIT("@"));
    } else {
        find_draft_copy(s, as_it_stands);
    }
    if (m->is_defanged) {
        s->draft.flags |= FIND_DEFANGED;
    }
    s->draft.end += m->n;
}

void find_draft_raw(struct find_scan *s, size_t end)
{
    while (s->draft.end < end) {
        struct mark m = mark_at(s->text, s->draft.end);

        find_draft_add(s, &m);
    }
}

struct slice find_draft_text(const struct find_scan *s, const struct find_draft *draft)
{
    return draft->is_mended
               ? slice_of(s->mended, draft->n)
               : slice_of(s->text.p + draft->start, draft->end - draft->start);
}

void find_report(struct find_scan *s, const struct find_draft *draft, struct find find,
                 size_t from)
{
    size_t end = draft->is_mended ? draft->end : draft->start + find.text.n;

    find.flags |= draft->is_mended ? draft->flags : draft->flags & ~(unsigned)FIND_CUT;
    find.raw = slice_of(s->text.p + from, end - from);
    if (s->turned.p != NULL) {
        find.raw = s->turned;
        find.flags |= FIND_HIDDEN;
    }
    s->on_find(s->context, &find);
}

/* Bytes at which the scan stops: beginnings of dots, @ and colons, however they are written. */
static const bool is_stop[256] = {
    ['.'] = true,  [':'] = true, ['@'] = true, ['['] = true,  ['('] = true,
    ['{'] = true,  ['%'] = true, ['&'] = true, [0xe3] = true, /* U+3002 */
    [0xef] = true, /* U+FF0E, U+FF1A, U+FF61 */
};

/* One of sixteen bytes at p is such. */
static bool has_stop(const char *p)
{
    unsigned char v BLOCK_VECTOR;
    signed char at BLOCK_VECTOR;

    memcpy(&v, p, sizeof(v));
    at = (v == '.') | (v == ':') | (v == '@') | (v == '[') | (v == '(') | (v == '{') |
         (v == '%') | (v == '&') | (v == 0xe3) | (v == 0xef);
    return block_is_any(&at);
}

/* Of the characters that begin with the byte at i, one that stands for a dot or a colon. */
static bool is_wide_stop(struct slice text, size_t i)
{
    static const struct slice wide[] = {{"\xe3\x80\x82", 3},
                                        {"\xef\xbc\x8e", 3},
                                        {"\xef\xbc\x9a", 3},
                                        {"\xef\xbd\xa1", 3}};
    size_t k = 0;

    while (k < LENGTH(wide) && !slice_has_prefix(slice_from(text, i), wide[k])) {
        k++;
    }
    return k < LENGTH(wide);
}

static size_t next_stop(struct slice text, size_t i)
{
    do {
        while (i + BLOCK_BYTES <= text.n && !has_stop(text.p + i)) {
            i += BLOCK_BYTES;
        }
        while (i < text.n && !is_stop[(unsigned char)text.p[i]]) {
            i++;
        }
    } while (i < text.n && (unsigned char)text.p[i] >= 0x80 && !is_wide_stop(text, i) &&
             ++i < text.n);
    return i;
}

static size_t at_stop(struct find_scan *s, size_t i)
{
    /* with the blanks round a defanged form */
    size_t blank = i > s->from && s->text.p[i - 1] == ' ' ? 1 : 0;
    struct mark m = mark_at(s->text, i - blank);

    if (blank == 1 && !m.is_defanged) {
        blank = 0;
        m = mark_at(s->text, i);
    }
    if (m.kind == MARK_DOT) {
        return find_at_dot(s, i - blank, m.n);
    }
    if (m.kind == MARK_AT) {
        return s->where == FIND_IN_HEADER ? find_after_host(s->text, i)
                                          : find_at_sign(s, i - blank, m.n);
    }
    return (unsigned char)s->text.p[i] != 0xe3 ? find_at_colon(s, i) : i + m.n;
}

struct reading {
    enum find_where where;
    find_fn *on_find;
    void *context;
};

/* turned: where a text stands that is not as it stands there; SLICE_NONE for text itself. */
static void scan_reading(const struct reading *r, struct slice text,
                         struct slice turned)
{
    struct find_scan s UNINITIALIZED;
    size_t i = next_stop(text, 0);

    if (i == text.n) {
        return; /* most attributes need no scan */
    }
    s.text = text;
    s.turned = turned;
    s.where = r->where;
    s.on_find = r->on_find;
    s.context = r->context;
    s.from = 0;
    s.joined_until = 0;
    s.id_end = 0;
    while (i < text.n) {
        i = next_stop(text, at_stop(&s, i));
    }
}

static void on_turned(void *context, struct slice shown, struct slice raw)
{
    scan_reading(context, shown, raw);
}

void find_in_text(struct slice text, enum find_where where, find_fn *on_find,
                  void *context)
{
    struct reading r = {.where = where, .on_find = on_find, .context = context};

    scan_reading(&r, text, SLICE_NONE);
    find_turned_text(text, on_turned, &r);
}
