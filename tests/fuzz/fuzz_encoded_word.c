/* fuzz_encoded_word - any bytes as a header field, and as text in every sort of charset. */
#include "core/message/text/charset.h"
#include "core/message/text/encoded_word.h"
#include "core/message/text/transfer.h"

#include "tests/fuzz/fuzz.h"

/* Decodes in pieces; the result goes to dst. */
static size_t decode(enum transfer_kind kind, struct slice in, size_t step, char *dst)
{
    struct transfer t;
    size_t n = 0;
    size_t i = 0;

    transfer_init(&t, kind);
    for (i = 0; i < in.n; i += step) {
        n += transfer_feed(&t, slice_head(slice_from(in, i), step), dst + n);
    }
    n += transfer_end(&t, dst + n);
    return n;
}

static void check_transfer(struct arena *arena, struct slice in)
{
    const enum transfer_kind kinds[] = {TRANSFER_BASE64, TRANSFER_QUOTED_PRINTABLE};
    size_t i = 0;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char *whole = arena_bytes(arena, transfer_bound(in.n) + 128);
        char *pieces = arena_bytes(arena, transfer_bound(in.n) + 128);
        size_t n = decode(kinds[i], in, in.n > 0 ? in.n : 1, whole);

        FUZZ_CHECK(n <= transfer_bound(in.n));
        FUZZ_CHECK(slice_eq(slice_of(pieces, decode(kinds[i], in, 1, pieces)),
                            slice_of(whole, n)));
        FUZZ_CHECK(
            slice_eq(slice_of(pieces, decode(kinds[i], in, 1 + in.n % 5, pieces)),
                     slice_of(whole, n)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const charsets[] = {
        "utf-8", "iso-8859-1", "gb18030", "iso-2022-jp", "utf-7",       "utf-16",
        "big5",  "hz",         "euc-kr",  "shift_jis",   "iso-2022-kr", "x-none"};
    struct slice in = slice_of((const char *)data, size);
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct slice text;
    const char *charset = charsets[size % (sizeof(charsets) / sizeof(charsets[0]))];

    FUZZ_CHECK(arena != NULL);
    text = encoded_word_decode(arena, in);
    FUZZ_CHECK(charset_is_utf8(text));
    FUZZ_CHECK(charset_is_utf8(charset_to_utf8(arena, slice_str(charset), in, NULL)));
    check_transfer(arena, in);
    arena_free(&arena);
    return 0;
}
