/*
 * test_vectors - encoded words and quoted-printable by the tables of other projects.
 */
#include "core/message/text/encoded_word.h"
#include "core/message/text/transfer.h"

#include "tests/unit/text/vectors.h"

enum { ELSE_PERCENT = 95, HELD = 128 };

static void test_encoded_word__rspamd__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-rfc2047");
    json_array_foreach(v.rows, i, row)
    {
        struct slice in = json_slice(json_array_get(row, 0));
        struct slice want = json_slice(json_array_get(row, 1));
        struct slice got = encoded_word_decode(*state, in);

        vectors_row(&v, slice_eq(got, want), in, got, want);
    }
    vectors_close(&v, ELSE_PERCENT);
}

static struct slice decode_qp(struct arena *arena, struct slice in)
{
    char *out = arena_bytes(arena, transfer_bound(in.n) + HELD);
    struct transfer t;
    size_t n = 0;

    assert_non_null(out);
    transfer_init(&t, TRANSFER_QUOTED_PRINTABLE);
    n = transfer_feed(&t, in, out);
    n += transfer_end(&t, out + n);
    return slice_of(out, n);
}

/* Rows for encoders have what is decoded first, rows for decoders last. */
static void test_transfer__rspamd__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-quoted-printable");
    json_array_foreach(v.rows, i, row)
    {
        struct slice first = json_slice(json_array_get(row, 0));
        struct slice last = json_slice(json_array_get(row, 1));
        struct slice got = decode_qp(*state, first);
        bool same = slice_eq(got, last) || slice_eq(decode_qp(*state, last), first);

        vectors_row(&v, same, first, got, last);
    }
    vectors_close(&v, ELSE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_encoded_word__rspamd__same),
        ARENA_TEST(test_transfer__rspamd__same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
