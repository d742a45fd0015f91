/* test_transfer - the decoders, whole and cut at every place. */
#include "core/message/text/transfer.h"

#include "tests/unit/text/text_test.h"

struct fixture {
    enum transfer_kind kind;
    struct slice in;
    struct slice want;
};

static const struct fixture fixtures[] = {
    {TRANSFER_IDENTITY, LIT("a\0b\r\n= \n"), LIT("a\0b\r\n= \n")},
    {TRANSFER_BASE64, LIT("aGVsbG8gd29ybGQ="), LIT("hello world")},
    {TRANSFER_BASE64, LIT("aGVs\r\nbG8g\r\nd29y\r\nbGQ=\r\n"), LIT("hello world")},
    {TRANSFER_BASE64, LIT("aG V*s\0bG8"), LIT("hello")},
    {TRANSFER_BASE64, LIT("aGk=aGk=aGk"), LIT("hihihi")},
    {TRANSFER_BASE64, LIT("aA==aGVs"), LIT("hhel")},
    {TRANSFER_BASE64, LIT("===="), LIT("")},
    {TRANSFER_BASE64, LIT("a"), LIT("")},
    {TRANSFER_BASE64, LIT("AP/+gA=="), LIT("\x00\xff\xfe\x80")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a=3Db"), LIT("a=b")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a=3db=e9"), LIT("a=b\xe9")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a=\r\nb"), LIT("ab")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a=\nb"), LIT("ab")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a= \t\r\nb"), LIT("ab")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a= \t\nb"), LIT("ab")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a \t\r\nb \nc "), LIT("a\r\nb\nc")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a  b\tc d"), LIT("a  b\tc d")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a =20\r\n"), LIT("a  \r\n")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a =\r\n b"), LIT("a  b")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("=zz =4 =4z =4"), LIT("=zz =4 =4z =4")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("foo="), LIT("foo")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("foo= \t\r"), LIT("foo")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("foo=="), LIT("foo=")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("==41"), LIT("=A")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a= b"), LIT("a= b")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("a \rb=\rc"), LIT("a \rb=\rc")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("\r\n\r\n"), LIT("\r\n\r\n")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("x \r"), LIT("x\r")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("x=4"), LIT("x=4")},
    {TRANSFER_QUOTED_PRINTABLE, LIT("x="), LIT("x")},
};

/* Decodes with a cut every step bytes after a first piece of first bytes. */
static struct slice decode(const struct fixture *f, size_t first, size_t step,
                           char *dst)
{
    struct transfer t;
    size_t n = 0;
    size_t i = 0;

    transfer_init(&t, f->kind);
    while (i < f->in.n) {
        size_t take = i == 0 && first > 0 ? first : step;
        struct slice piece = slice_head(slice_from(f->in, i), take);

        n += transfer_feed(&t, piece, dst + n);
        i += piece.n;
    }
    n += transfer_end(&t, dst + n);
    return slice_of(dst, n);
}

static void test_feed__cut_anywhere__same_bytes(void **state)
{
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(fixtures); i++) {
        const struct fixture *f = &fixtures[i];
        char what[64];
        char out[512];
        size_t cut = 0;

        (void)snprintf(what, sizeof(what), "fixture %zu", i);
        check_text(what, decode(f, 0, f->in.n, out), f->want);
        check_text(what, decode(f, 0, 1, out), f->want);
        for (cut = 1; cut < f->in.n; cut++) {
            check_text(what, decode(f, cut, f->in.n, out), f->want);
        }
    }
}

/* White space before a line end is dropped up to the held length; longer runs only in part. */
static void test_quoted_printable__white_space_run__held_then_let_go(void **state)
{
    const size_t held = sizeof(((struct transfer *)NULL)->held);
    size_t run = 0;

    (void)state;
    for (run = held - 1; run <= held + 1; run++) {
        char in[256];
        char out[512];
        struct fixture f = {TRANSFER_QUOTED_PRINTABLE, SLICE_NONE, SLICE_NONE};
        size_t got = 0;

        memset(in, ' ', run);
        in[run] = '\n';
        f.in = slice_of(in, run + 1);
        got = decode(&f, 0, f.in.n, out).n;
        assert_int_equal(got, run <= held ? 1 : held + 1);
        assert_int_equal(decode(&f, 0, 1, out).n, got);
    }
}

/* The same for white space between a soft line break's '=' and its line end. */
static void test_quoted_printable__padded_soft_break__held_then_let_go(void **state)
{
    const size_t held = sizeof(((struct transfer *)NULL)->held);
    size_t n = 0;

    (void)state;
    for (n = held - 1; n <= held + 1; n++) {
        char in[256];
        char out[512];
        struct fixture f = {TRANSFER_QUOTED_PRINTABLE, SLICE_NONE, SLICE_NONE};
        size_t got = 0;

        memset(in, ' ', n);
        in[0] = '=';
        in[n] = '\n';
        f.in = slice_of(in, n + 1);
        got = decode(&f, 0, f.in.n, out).n;
        assert_int_equal(got, n <= held ? 0 : held + 1);
        assert_int_equal(decode(&f, 0, 1, out).n, got);
    }
}

static void test_feed__megabytes_of_one_byte__within_bound(void **state)
{
    static const char *const units[] = {"=", " ", "=\r", "A", "=4", "= ", "\n", "\xff"};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], 1 << 20);
        char *out = malloc(transfer_bound(in.n));
        struct transfer t;

        assert_non_null(out);
        transfer_init(&t, TRANSFER_QUOTED_PRINTABLE);
        assert_true(transfer_feed(&t, in, out) <= transfer_bound(in.n));
        assert_true(transfer_end(&t, out) <= sizeof(t.held));
        transfer_init(&t, TRANSFER_BASE64);
        assert_true(transfer_feed(&t, in, out) <= in.n);
        free(out);
        repeat_free(in);
    }
}

static void test_kind__of_header_value__recognised(void **state)
{
    static const struct {
        struct slice value;
        enum transfer_kind want;
    } rows[] = {
        {LIT("BASE64 "), TRANSFER_BASE64},
        {LIT("quoted-printable; x"), TRANSFER_QUOTED_PRINTABLE},
        {LIT(" \"Base64\""), TRANSFER_BASE64},
        {LIT("\""), TRANSFER_IDENTITY},
        {LIT(" Quoted-Printable (c)"), TRANSFER_QUOTED_PRINTABLE},
        {LIT("base64(c)"), TRANSFER_BASE64},
        {LIT("7bit"), TRANSFER_IDENTITY},
        {LIT(""), TRANSFER_IDENTITY},
        {LIT("base6"), TRANSFER_IDENTITY},
        {LIT("x-uuencode"), TRANSFER_IDENTITY},
    };
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(transfer_kind_of(rows[i].value), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed__cut_anywhere__same_bytes),
        cmocka_unit_test(test_quoted_printable__white_space_run__held_then_let_go),
        cmocka_unit_test(test_quoted_printable__padded_soft_break__held_then_let_go),
        cmocka_unit_test(test_feed__megabytes_of_one_byte__within_bound),
        cmocka_unit_test(test_kind__of_header_value__recognised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
