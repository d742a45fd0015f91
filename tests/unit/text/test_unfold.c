/*
 * test_unfold - calendar and contact text as its reader has it, however it was cut.
 */
#include "core/base/base.h"
#include "core/message/text/unfold.h"

#include "tests/unit/unit.h"

struct row {
    const char *text;
    const char *unfolded;
};

static const struct row rows[] = {
    {"", ""},
    {"A:b\r\nC:d\r\n", "A:b\r\nC:d\r\n"},
    {"URL:http://a.c\r\n om/x\r\nB:c", "URL:http://a.com/x\r\nB:c"},
    {"URL:http://a.c\n\tom\n", "URL:http://a.com\n"},
    {"A:b\r\n \r\n c\r\n", "A:bc\r\n"},
    {"A:one\\ntwo\\, three\\; four\\\\ \\Nfive\\x",
     "A:one two, three; four\\  five\\x"},
    {"A\\n:b\\nc", "A\\n:b c"},
    {"A:b\\\r\n nc", "A:b\\nc"},
    {"N;ENCODING=QUOTED-PRINTABLE:http://a=2Ecom/=\r\nx\r\nM:a=2E\r\n",
     "N;ENCODING=QUOTED-PRINTABLE:http://a.com/x\r\nM:a=2E\r\n"},
    {"N;quoted-printable:=4", "N;quoted-printable:=4"},
    {"N;quoted-printable:=zz=\nx", "N;quoted-printable:=zzx"},
    {"a\r", "a\r"},
    {"a\r\n", "a\r\n"},
    {"a\rb", "a\rb"},
    {"a\r\r\n b", "a\rb"},
};

static size_t unfold(const char *text, size_t step, char *dst)
{
    struct unfold u;
    struct slice rest = slice_str(text);
    size_t n = 0;
    unfold_init(&u);
    while (rest.n > 0) {
        struct slice piece = slice_head(rest, step);
        size_t written = unfold_feed(&u, piece, dst + n);
        assert_in_range(written, 0, piece.n + UNFOLD_HELD_MAX);
        n += written;
        rest = slice_from(rest, piece.n);
    }
    return n + unfold_end(&u, dst + n);
}

static void test_text__folded_and_escaped__is_as_meant_however_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step <= strlen(rows[i].text) + 1; step++) {
            char got[200];
            size_t n = unfold(rows[i].text, step, got);
            got[n] = '\0';
            assert_string_equal(got, rows[i].unfolded);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__folded_and_escaped__is_as_meant_however_cut),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
