/* find_turned - text as it is shown where a bidirectional override turns it round. */
#include "core/message/url/find_turned.h"

#include <unicode/ubidi.h>
#include <unicode/ustring.h>

#include "core/base/uninitialized.h"

enum {
    WINDOW = 4096, /* bytes that are turned at once */
    BEFORE = 256,  /* bytes of the line before an override */
    OVERLAP = 256, /* of two windows of a longer line */
    UTF8_MAX = 4,
    LAST_BYTE = 0xae, /* of an override */
    CONTROL_BYTES = 3 /* U+202A to U+202E */
};

static const char override[CONTROL_BYTES + 1] = "\xe2\x80\xae";

struct turn {
    UBiDi *bidi;
    UChar text[WINDOW];
    UChar shown[WINDOW];
    char utf8[WINDOW * 3];
};

/* Where the next right-to-left override begins; text.n when there is none. */
static size_t next_override(struct slice text, size_t i)
{
    while (i < text.n) {
        const char *last = memchr(text.p + i, LAST_BYTE, text.n - i);

        if (last == NULL) {
            break;
        }
        i = (size_t)(last - text.p) + 1;
        if (i >= CONTROL_BYTES &&
            memcmp(last + 1 - CONTROL_BYTES, override, CONTROL_BYTES) == 0) {
            return i - CONTROL_BYTES;
        }
    }
    return text.n;
}

/* The beginning of the character that has the byte at i; of broken text some byte before. */
static size_t character_begin(struct slice text, size_t i)
{
    size_t least = i > UTF8_MAX ? i - UTF8_MAX : 0;

    while (i > least && i < text.n && ((unsigned char)text.p[i] & 0xc0) == 0x80) {
        i--;
    }
    return i;
}

/* The line that has i begins here, or at most BEFORE bytes before i. */
static size_t window_begin(struct slice text, size_t least, size_t i)
{
    size_t begin = i;

    while (begin > least && i - begin < BEFORE && text.p[begin - 1] != '\n') {
        begin--;
    }
    return begin > least ? character_begin(text, begin) : begin;
}

/* After the last line end that the window has behind i; else where it is full. */
static size_t window_end(struct slice text, size_t begin, size_t i)
{
    size_t end = text.n - begin > WINDOW - CONTROL_BYTES
                     ? begin + WINDOW - CONTROL_BYTES
                     : text.n;
    size_t line = 0;

    end = character_begin(text, end);
    line = end;
    while (line > i && text.p[line - 1] != '\n') {
        line--;
    }
    return line > i && end < text.n ? line : end;
}

/* An override is open at the end of text, before which one was open or none. */
static bool is_open(struct slice text, bool is_open_before)
{
    size_t i = text.n;

    while (i >= CONTROL_BYTES && text.p[i - 1] != '\n') {
        unsigned char last = (unsigned char)text.p[i - 1];

        if (text.p[i - 2] == '\x80' && text.p[i - 3] == '\xe2' && last >= 0xac &&
            last <= LAST_BYTE) {
            return last == LAST_BYTE;
        }
        i--;
    }
    return i < CONTROL_BYTES && is_open_before;
}

/* text as a reader sees it from left to right; empty when ICU has no memory. */
static struct slice turned(struct turn *t, struct slice text, bool is_open_before)
{
    UErrorCode e = U_ZERO_ERROR;
    int32_t before = is_open_before ? 1 : 0;
    int32_t n = 0;
    int32_t bytes = 0;

    t->text[0] = 0x202e;
    (void)u_strFromUTF8WithSub(t->text + before, WINDOW - before, &n, text.p,
                               (int32_t)text.n, 0xfffd, NULL, &e);
    ubidi_setPara(t->bidi, t->text, n + before, 0, NULL, &e);
    n = ubidi_writeReordered(t->bidi, t->shown, WINDOW,
                             UBIDI_DO_MIRRORING | UBIDI_REMOVE_BIDI_CONTROLS, &e);
    (void)u_strToUTF8WithSub(t->utf8, (int32_t)sizeof(t->utf8), &bytes, t->shown,
                             U_SUCCESS(e) ? n : 0, 0xfffd, NULL, &e);
    return U_SUCCESS(e) ? slice_of(t->utf8, (size_t)bytes) : SLICE_NONE;
}

static void read_windows(struct turn *t, struct slice text, find_turned_fn *on_text,
                         void *context)
{
    size_t i = next_override(text, 0);
    size_t least = 0;
    bool is_open_before = false;

    while (i < text.n) {
        size_t begin = is_open_before ? i : window_begin(text, least, i);
        size_t end = window_end(text, begin, i);
        struct slice raw = slice_of(text.p + begin, end - begin);
        struct slice shown = turned(t, raw, is_open_before);

        if (shown.n > 0) {
            on_text(context, shown, raw);
        }
        is_open_before = end < text.n && is_open(raw, is_open_before);
        least = end;
        i = is_open_before ? character_begin(text, end - OVERLAP)
                           : next_override(text, end);
    }
}

void find_turned_text(struct slice text, find_turned_fn *on_text, void *context)
{
    struct turn t UNINITIALIZED;

    if (next_override(text, 0) == text.n) {
        return; /* nearly all text */
    }
    t.bidi = ubidi_open();
    if (t.bidi != NULL) {
        read_windows(&t, text, on_text, context);
        ubidi_close(t.bidi);
    }
}
