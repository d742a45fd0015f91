/* encoded_word - one pass over the field; decoded bytes wait until a run of equal words ends. */
#include "core/message/text/encoded_word.h"

#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/text/transfer.h"

enum { CHARSET_LABEL_MAX = 64 };

struct word {
    struct slice charset; /* without the language of RFC 2231 */
    char encoding;        /* 'b' or 'q' */
    struct slice body;
    size_t size; /* of the whole word in the field */
};

struct decoder {
    struct arena *arena;
    char *out;
    size_t nout;
    size_t out_size;
    bool failed; /* the arena is full */

    char *run; /* decoded bytes of adjacent words of one charset and encoding */
    size_t nrun;
    struct slice run_charset;
    char run_encoding; /* 0: no run */
};

static void append_decoded(struct decoder *d, struct slice s)
{
    if (d->failed || s.n == 0) {
        return;
    }
    if (d->out_size - d->nout < s.n) {
        size_t size = d->out_size * 2 + s.n;
        char *p = arena_bytes(d->arena, size);

        if (p == NULL) {
            d->failed = true;
            return;
        }
        memcpy(p, d->out, d->nout);
        d->out = p;
        d->out_size = size;
    }
    memcpy(d->out + d->nout, s.p, s.n);
    d->nout += s.n;
}

static void append_converted(struct decoder *d, struct slice charset,
                             struct slice bytes)
{
    struct slice text = charset_to_utf8(d->arena, charset, bytes, NULL);

    if (text.p == NULL) {
        d->failed = true;
        return;
    }
    append_decoded(d, text);
}

static void end_run(struct decoder *d)
{
    if (d->run_encoding != '\0') {
        append_converted(d, d->run_charset, slice_of(d->run, d->nrun));
        d->nrun = 0;
        d->run_encoding = '\0';
    }
}

/* Reads charset and encoding of a word that begins at text; body and size are not set yet. */
static bool read_head(struct slice text, struct word *ret, size_t *retbody)
{
    size_t i = 2;
    size_t end = 0;

    while (i < text.n && i - 2 <= CHARSET_LABEL_MAX && text.p[i] != '?' &&
           !ASCII_IS(text.p[i], ASCII_SPACE)) {
        i++;
    }
    if (i + 3 >= text.n || i == 2 || text.p[i] != '?' || text.p[i + 2] != '?') {
        return false;
    }
    ret->encoding = ASCII_LOWER(text.p[i + 1]);
    if (ret->encoding != 'b' && ret->encoding != 'q') {
        return false;
    }
    ret->charset = slice_of(text.p + 2, i - 2);
    end = slice_find(ret->charset, '*');
    ret->charset = slice_head(ret->charset, end);
    *retbody = i + 3;
    return true;
}

/* *no_end remembers that no "?=" is left, so that many openings cost one search. */
static bool read_word(struct slice text, struct word *ret, bool *no_end)
{
    size_t body = 0;
    size_t end = 0;

    if (*no_end || !slice_has_prefix(text, SLICE_LIT("=?")) ||
        !read_head(text, ret, &body)) {
        return false;
    }
    end = slice_find_slice(slice_from(text, body), SLICE_LIT("?="));
    if (end == text.n - body) {
        *no_end = true;
        return false;
    }
    ret->body = slice_of(text.p + body, end);
    ret->size = body + end + 2;
    return true;
}

static size_t decode_q(struct slice body, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    while (i < body.n) {
        char c = body.p[i++];

        if (c == '_') {
            c = ' ';
        } else if (c == '=' && i + 1 < body.n && ASCII_IS(body.p[i], ASCII_HEX) &&
                   ASCII_IS(body.p[i + 1], ASCII_HEX)) {
            c = (char)(unsigned char)((ascii_hex[(unsigned char)body.p[i]] << 4) |
                                      ascii_hex[(unsigned char)body.p[i + 1]]);
            i += 2;
        }
        dst[n++] = c;
    }
    return n;
}

static size_t decode_b(struct slice body, char *dst)
{
    struct transfer t;

    transfer_init(&t, TRANSFER_BASE64);
    return transfer_feed(&t, body, dst);
}

static void add_word(struct decoder *d, const struct word *w)
{
    if (d->run_encoding != w->encoding ||
        !slice_eq_nocase(d->run_charset, w->charset)) {
        end_run(d);
        d->run_encoding = w->encoding;
        d->run_charset = w->charset;
    }
    d->nrun += w->encoding == 'q' ? decode_q(w->body, d->run + d->nrun)
                                  : decode_b(w->body, d->run + d->nrun);
}

static bool is_white_space(struct slice s)
{
    size_t i = 0;

    while (i < s.n && ASCII_IS(s.p[i], ASCII_SPACE)) {
        i++;
    }
    return i == s.n;
}

static void decode_words(struct decoder *d, struct slice field)
{
    size_t plain = 0; /* where text that is no encoded word begins */
    size_t i = 0;
    bool after_word = false;
    bool no_end = false;

    while (i < field.n) {
        struct word w;
        struct slice text;

        i += slice_find(slice_from(field, i), '=');
        if (i >= field.n || no_end) {
            break;
        }
        if (!read_word(slice_from(field, i), &w, &no_end)) {
            i++;
            continue;
        }
        text = slice_of(field.p + plain, i - plain);
        if (!after_word || !is_white_space(text)) {
            end_run(d);
            append_converted(d, SLICE_LIT("utf-8"), text);
        }
        add_word(d, &w);
        after_word = true;
        i += w.size;
        plain = i;
    }
    end_run(d);
    append_converted(d, SLICE_LIT("utf-8"), slice_from(field, plain));
}

struct slice encoded_word_decode(struct arena *arena, struct slice field)
{
    struct decoder d = {.arena = arena};

    if (slice_find_slice(field, SLICE_LIT("=?")) == field.n) {
        return charset_to_utf8(arena, SLICE_LIT("utf-8"), field, NULL);
    }
    d.out_size = field.n;
    d.out = arena_bytes(arena, d.out_size);
    d.run = arena_bytes(arena, transfer_bound(field.n));
    if (d.out == NULL || d.run == NULL) {
        return SLICE_NONE;
    }
    decode_words(&d, field);
    return d.failed ? SLICE_NONE : slice_of(d.out, d.nout);
}
