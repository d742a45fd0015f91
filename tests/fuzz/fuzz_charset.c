/*
 * fuzz_charset - the first line names a charset, the rest is text in it: whole and in pieces it
 * decodes to the same UTF-8; calendar text likewise.
 */
#include <string.h>

#include "core/message/text/charset.h"
#include "core/message/text/unfold.h"

#include "tests/fuzz/fuzz.h"

struct text {
    char *p;
    size_t n;
    size_t size;
};

static void take(struct text *t, const char *bytes, size_t n)
{
    FUZZ_CHECK(n <= t->size - t->n);
    memcpy(t->p + t->n, bytes, n);
    t->n += n;
}

static void decode(struct slice charset, struct slice bytes, size_t step,
                   struct text *ret)
{
    char out[CHARSET_STREAM_STEP];
    struct charset_stream *s = charset_stream_new(charset);
    size_t n = 1;
    while (s != NULL && bytes.n > 0) {
        struct slice piece = slice_head(bytes, step);
        bytes = slice_from(bytes, piece.n);
        while (piece.n > 0) {
            take(ret, out, charset_stream_feed(s, &piece, false, out));
        }
    }
    while (s != NULL && n > 0) {
        struct slice none = SLICE_NONE;
        n = charset_stream_feed(s, &none, true, out);
        take(ret, out, n);
    }
    charset_stream_free(&s);
    FUZZ_CHECK(charset_is_utf8(slice_of(ret->p, ret->n)));
}

static void unfold(struct slice bytes, size_t step, struct text *ret)
{
    struct unfold u;
    unfold_init(&u);
    while (bytes.n > 0) {
        struct slice piece = slice_head(bytes, step);
        bytes = slice_from(bytes, piece.n);
        FUZZ_CHECK(ret->size - ret->n >= piece.n + UNFOLD_HELD_MAX);
        size_t n = unfold_feed(&u, piece, ret->p + ret->n);
        FUZZ_CHECK(n <= piece.n + UNFOLD_HELD_MAX);
        ret->n += n;
    }
    ret->n += unfold_end(&u, ret->p + ret->n);
}

static struct text text_new(struct arena *arena, size_t size)
{
    /* ICU writes at most three bytes of UTF-8 for a unit, some at the end for what is missing. */
    struct text t = {.size = size * 8 + 64};
    t.p = arena_bytes(arena, t.size);
    FUZZ_CHECK(t.p != NULL);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    struct arena *arena = arena_new(FUZZ_ARENA);
    FUZZ_CHECK(arena != NULL);
    struct slice charset = slice_cut(&bytes, '\n');
    size_t mark = 0;
    charset = charset_by_head(charset, bytes, &mark);
    FUZZ_CHECK(mark <= bytes.n);
    bytes = slice_from(bytes, mark);
    if (size < FUZZ_ARENA / 64) {
        struct text whole = text_new(arena, size);
        struct text cut = text_new(arena, size);
        decode(charset, bytes, bytes.n + 1, &whole);
        decode(charset, bytes, size % 7 + 1, &cut);
        FUZZ_CHECK(whole.n == cut.n && memcmp(whole.p, cut.p, whole.n) == 0);
        whole.n = 0;
        cut.n = 0;
        unfold(bytes, bytes.n + 1, &whole);
        unfold(bytes, size % 5 + 1, &cut);
        FUZZ_CHECK(whole.n == cut.n && memcmp(whole.p, cut.p, whole.n) == 0);
    }
    arena_free(&arena);
    return 0;
}
