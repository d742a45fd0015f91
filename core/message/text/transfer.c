/* transfer - base64 and quoted-printable as byte-wise state machines with fast inner loops. */
#include "core/message/text/transfer.h"

#include "core/base/base64.h"
#include "core/message/text/ascii.h"

enum transfer_kind transfer_kind_of(struct slice value)
{
    size_t end = 0;

    value = slice_trim(value);
    if (value.n > 0 &&
        value.p[0] == '"') { /* no token, yet some mail programs read it */
        value = slice_from(value, 1);
    }
    while (end < value.n && value.p[end] != ';' && value.p[end] != '"' &&
           value.p[end] != '(' && !ASCII_IS(value.p[end], ASCII_SPACE)) {
        end++;
    }
    value = slice_head(value, end);
    if (slice_eq_nocase(value, SLICE_LIT("base64"))) {
        return TRANSFER_BASE64;
    }
    if (slice_eq_nocase(value, SLICE_LIT("quoted-printable"))) {
        return TRANSFER_QUOTED_PRINTABLE;
    }
    return TRANSFER_IDENTITY;
}

void transfer_init(struct transfer *t, enum transfer_kind kind)
{
    t->kind = kind;
    t->bits = 0;
    t->nbits = 0;
    t->has_junk = false;
    t->nheld = 0;
}

size_t transfer_bound(size_t n)
{
    return n + sizeof(((struct transfer *)NULL)->held) + 4;
}

/* Whole quanta without junk, as almost all of base64 is; stops at anything else. */
static size_t base64_run(struct slice *in, char *dst)
{
    const unsigned char *p = (const unsigned char *)in->p;
    const unsigned char *end = p + in->n;
    char *d = dst;

    while (end - p >= 4) {
        unsigned v0 = base64_value[p[0]];
        unsigned v1 = base64_value[p[1]];
        unsigned v2 = base64_value[p[2]];
        unsigned v3 = base64_value[p[3]];
        uint32_t quantum = (v0 << 18) | (v1 << 12) | (v2 << 6) | v3;

        if (((v0 | v1 | v2 | v3) & (BASE64_NONE | BASE64_PAD)) >= BASE64_NONE) {
            break;
        }
        d[0] = (char)(unsigned char)(quantum >> 16);
        d[1] = (char)(unsigned char)(quantum >> 8);
        d[2] = (char)(unsigned char)quantum;
        d += 3;
        p += 4;
    }
    *in = slice_of((const char *)p, (size_t)(end - p));
    return (size_t)(d - dst);
}

static size_t base64_feed(struct transfer *t, struct slice in, char *dst)
{
    size_t n = 0;

    while (in.n > 0) {
        unsigned v = 0;

        if (t->nbits == 0) {
            n += base64_run(&in, dst + n);
            if (in.n == 0) {
                break;
            }
        }
        v = base64_value[(unsigned char)in.p[0]];
        t->has_junk |= v == BASE64_NONE && in.p[0] > ' ' && in.p[0] < 0x7f;
        in.p++;
        in.n--;
        if (v == BASE64_PAD) {
            /* what follows a padded quantum is another one: bodies are concatenated */
            t->nbits = 0;
            t->bits = 0;
        } else if (v != BASE64_NONE) {
            t->bits = (t->bits << 6) | v;
            t->nbits += 6;
            if (t->nbits >= 8) {
                t->nbits -= 8;
                dst[n++] = (char)(unsigned char)(t->bits >> t->nbits);
                t->bits &= (1U << t->nbits) - 1U;
            }
        }
    }
    return n;
}

static size_t qp_flush(struct transfer *t, char *dst)
{
    size_t n = t->nheld;

    memcpy(dst, t->held, n);
    t->nheld = 0;
    return n;
}

/* Takes c into an escape that is held; false: the escape is broken, c is not used up. */
static bool qp_escape(struct transfer *t, char c, char *dst, size_t *n)
{
    char last = t->held[t->nheld - 1];

    if (t->nheld == 2 && ASCII_IS(last, ASCII_HEX)) {
        if (!ASCII_IS(c, ASCII_HEX)) {
            return false;
        }
        dst[(*n)++] = (char)(unsigned char)((ascii_hex[(unsigned char)last] << 4) |
                                            ascii_hex[(unsigned char)c]);
        t->nheld = 0;
        return true;
    }
    if (c == '\n') {
        t->nheld = 0; /* a soft line break, perhaps with padding after the '=' */
        return true;
    }
    if (last == '\r' || t->nheld == sizeof(t->held)) {
        return false;
    }
    if (c == '\r' || ASCII_IS(c, ASCII_BLANK) ||
        (t->nheld == 1 && ASCII_IS(c, ASCII_HEX))) {
        t->held[t->nheld++] = c;
        return true;
    }
    return false;
}

/* Takes c after white space that is held; false: it was no trailing space, c is not used up. */
static bool qp_space(struct transfer *t, char c, char *dst, size_t *n)
{
    char last = t->held[t->nheld - 1];

    if (c == '\n') {
        if (last == '\r') {
            dst[(*n)++] = '\r';
        }
        dst[(*n)++] = '\n';
        t->nheld = 0;
        return true;
    }
    if (last == '\r' || t->nheld == sizeof(t->held)) {
        return false;
    }
    if (c == '\r' || ASCII_IS(c, ASCII_BLANK)) {
        t->held[t->nheld++] = c;
        return true;
    }
    return false;
}

/* Copies up to the next byte that needs thought: '=' and white space before something other
 * than a plain byte. Returns how many bytes were copied. */
static size_t qp_run(struct slice in, char *dst)
{
    size_t i = 0;

    while (i < in.n) {
        char c = in.p[i];

        if (c == '=') {
            break;
        }
        if (ASCII_IS(c, ASCII_BLANK)) {
            if (i + 1 >= in.n || in.p[i + 1] == '=' ||
                ASCII_IS(in.p[i + 1], ASCII_SPACE)) {
                break;
            }
        }
        dst[i++] = c;
    }
    return i;
}

static size_t qp_feed(struct transfer *t, struct slice in, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    while (i < in.n) {
        char c = in.p[i];

        if (t->nheld == 0) {
            size_t run = qp_run(slice_from(in, i), dst + n);

            n += run;
            i += run;
            if (i < in.n) {
                t->held[t->nheld++] = in.p[i++];
            }
        } else if (t->held[0] == '=' ? qp_escape(t, c, dst, &n)
                                     : qp_space(t, c, dst, &n)) {
            i++;
        } else {
            n += qp_flush(t, dst + n);
        }
    }
    return n;
}

size_t transfer_feed(struct transfer *t, struct slice in, char *dst)
{
    if (in.n == 0) {
        return 0;
    }
    switch (t->kind) {
    case TRANSFER_BASE64:
        return base64_feed(t, in, dst);
    case TRANSFER_QUOTED_PRINTABLE:
        return qp_feed(t, in, dst);
    case TRANSFER_IDENTITY:
        break;
    }
    memcpy(dst, in.p, in.n);
    return in.n;
}

/* '=' with nothing behind it but blanks: a soft line break that the data ends in. */
static bool holds_soft_break(const struct transfer *t)
{
    return t->nheld > 0 && t->held[0] == '=' &&
           (t->nheld == 1 || ASCII_IS(t->held[1], ASCII_SPACE));
}

size_t transfer_end(struct transfer *t, char *dst)
{
    size_t n = 0;

    t->bits = 0;
    t->nbits = 0;
    if (holds_soft_break(t)) {
        t->nheld = 0;
    } else if (t->nheld > 0 && t->held[0] != '=') {
        /* white space before the end of the data is white space before a line end */
        if (t->held[t->nheld - 1] == '\r') {
            dst[n++] = '\r';
        }
        t->nheld = 0;
        return n;
    }
    return qp_flush(t, dst);
}
