/* test_find_number - phone numbers and wallets in running text. */
#include "core/message/url/find_number.h"

#include "tests/unit/text/text_test.h"

struct found {
    char text[1024];
    size_t n;
    size_t count;
};

static void on_number(void *context, const struct find_number *number)
{
    struct found *f = context;

    f->count++;
    if (f->n + number->text.n + 3 < sizeof(f->text)) {
        put_at(f->text, f->n,
               number->kind == FIND_PHONE ? SLICE_LIT("p ") : SLICE_LIT("w "));
        put_at(f->text, f->n + 2, number->text);
        f->n += number->text.n + 2;
        f->text[f->n++] = '\n';
    }
}

static const struct {
    const char *in;
    const char *want;
} rows[] = {
    {"", ""},
    /* phone numbers */
    {"call +49 30 12345678 now", "p +493012345678\n"},
    {"+1 (212) 555-0100, +1-212-555-0101.", "p +12125550100\np +12125550101\n"},
    {"+49 (0)30 123456, +44 (0) 20 7946 0958", "p +4930123456\np +442079460958\n"},
    {"tel:+4930123456;x", "p +4930123456\n"},
    {"Tel=212-555-0100", "p +12125550100\n"},
    {"0049 30 123456 and 0044-20-79460958", "p +4930123456\np +442079460958\n"},
    {"(212) 555-0100 212-555-0101 212.555.0102 1-800-555-0199",
     "p +12125550100\np +12125550101\np +12125550102\np +18005550199\n"},
    {"+1234567 +1234567890123456", ""},
    {"+12345678 +123456789012345", "p +12345678\np +123456789012345\n"},
    {"+0123456789 + 49 30 123456 1+49301234567", ""},
    {"+493012345678x +49 30 1234567 1x", "p +49301234567\n"},
    {"+49 30 1234567 20021011", "p +49301234567\n"},
    /* dates, times, amounts, addresses, orders */
    {"2002-10-11 11.10.2002 10/11/2002 12:30:45 20021011 2026-11-21T10:00", ""},
    {"1,234,567.89 192.0.2.1 10.20.30.40 3.14159265 1234567890", ""},
    {"order 0049301234567 id 212-555-01000 112-555-0100 212-155-0100", ""},
    {"ISBN 0-306-40615-2 978-3-16-148410-0 4012-8888-8888-1881", ""},
    {"x/212-555-0100 a212-555-0100 5-212-555-0100", ""},
    /* wallets: the first of all, BIP 173 and 350, a script hash */
    {"send to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa!",
     "w 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa\n"},
    {"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", ""},
    {"bitcoin:3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
     "w 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy\n"},
    {"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
     "w bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4\n"},
    {"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
     "w bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0\n"},
    {"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", ""},
    {"bc1QW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", ""},
    {"x1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", ""},
    {"11A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", ""},
    {"1111111111111111111114oLvT2", "w 1111111111111111111114oLvT2\n"},
};

static void test_find_number__table__expected(void **state)
{
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(rows); i++) {
        struct found f = {.n = 0};
        size_t n = strlen(rows[i].in);
        /* a copy of the exact size, so that ASan sees reads past the end */
        struct slice in = n > 0 ? repeat(rows[i].in, 1) : SLICE_NONE;

        find_numbers_in_text(in, on_number, &f);
        check_text(rows[i].in, slice_of(f.text, f.n), slice_str(rows[i].want));
        repeat_free(in);
    }
}

static void test_find_number__megabytes__linear(void **state)
{
    static const char *const units[] = {"+",    "+1",   "0",    "00",  "001 ",
                                        "(",    "1",    "1 ",   "1-",  "+1 (0)",
                                        "212-", "bc1q", "+1 2", "a b", "00 "};
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], (1 << 20) / strlen(units[i]));
        struct found f = {.n = 0};

        find_numbers_in_text(in, on_number, &f);
        assert_true(f.count <= in.n);
        repeat_free(in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_number__table__expected),
        cmocka_unit_test(test_find_number__megabytes__linear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
