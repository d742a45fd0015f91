/*
 * test_packet - the shape of each packet from the MTA, in every cut.
 */
#include <string.h>

#include "core/base/slice.h"

#include "milter/packet.h"

#include "tests/unit/unit.h"

struct row {
    char command;
    struct slice data;
    enum packet_fault want;
};

static const struct row rows[] = {
    {'D', {"C", 1}, PACKET_SOUND},
    {'D', {"Ci\0x\0", 5}, PACKET_SOUND},
    {'D', {"C\0\0", 3}, PACKET_SOUND},
    {'D', {"\0i\0x\0", 5}, PACKET_SOUND}, /* libmilter ignores it */
    {'D', {"", 0}, PACKET_SHORT},
    {'D', {"Ci\0", 3}, PACKET_UNPAIRED},
    {'D', {"Ci\0x\0j\0", 7}, PACKET_UNPAIRED},
    {'D', {"Ci\0x", 4}, PACKET_UNTERMINATED},
    {'D', {"Ci", 2}, PACKET_UNTERMINATED},
    {'C', {"x\0U", 3}, PACKET_SOUND},
    {'C', {"\0U", 2}, PACKET_SOUND},
    {'C',
     {"x\0"
      "4pp1\0",
      7},
     PACKET_SOUND},
    {'C',
     {"x\0"
      "4pp1",
      6},
     PACKET_UNTERMINATED},
    {'C',
     {"x\0"
      "4pp",
      5},
     PACKET_SHORT},
    {'C', {"x\0", 2}, PACKET_SHORT},
    {'C', {"x", 1}, PACKET_UNTERMINATED},
    {'C', {"", 0}, PACKET_UNTERMINATED},
    {'H', {"x\0", 2}, PACKET_SOUND},
    {'H', {"x", 1}, PACKET_UNTERMINATED},
    {'H', {"", 0}, PACKET_SHORT},
    {'M', {"<>\0A=b\0", 7}, PACKET_SOUND},
    {'R', {"<>\0A=b", 6}, PACKET_UNTERMINATED},
    {'L', {"a\0b\0", 4}, PACKET_SOUND},
    {'L', {"a\0\0", 3}, PACKET_SOUND},
    {'L', {"a\0", 2}, PACKET_SHORT},
    {'O', {"123456789012", 12}, PACKET_SOUND},
    {'O', {"12345678901", 11}, PACKET_SHORT},
    {'B', {"", 0}, PACKET_SOUND},
    {'B', {"any", 3}, PACKET_SOUND},
    {'E', {"", 0}, PACKET_SOUND},
    {'E', {"any", 3}, PACKET_SOUND},
    {'Q', {"", 0}, PACKET_SOUND},
    {'Z', {"", 0}, PACKET_UNKNOWN},
    {'\0', {"", 0}, PACKET_UNKNOWN},
};

static enum packet_fault feed(const char *bytes, size_t n, size_t step)
{
    struct packet_check c = {.fault = PACKET_SOUND};
    for (size_t i = 0; i < n; i += step) {
        (void)packet_check(&c, bytes + i, n - i < step ? n - i : step);
    }
    return c.fault;
}

static void shapes__found_in_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct row *r = &rows[i];
        char bytes[64] = {0, 0, 0, (char)(r->data.n + 1), r->command};
        memcpy(bytes + PACKET_HEAD, r->data.p, r->data.n);
        size_t n = PACKET_HEAD + r->data.n;
        memcpy(bytes + n, "\0\0\0\1Q", 5); /* a sound one behind it heals nothing */
        for (size_t step = 1; step <= n; step++) {
            assert_int_equal(feed(bytes, n, step), r->want);
            assert_int_equal(feed(bytes, n + 5, step), r->want);
        }
    }
}

static void lengths__refused_before_the_data(void **state)
{
    (void)state;
    assert_int_equal(feed("\0\0\0\0", 4, 1), PACKET_EMPTY);
    assert_int_equal(feed("\377\377\377\377", 4, 4), PACKET_LONG);
    assert_int_equal(feed("\0\20\0\0L", 5, 5), PACKET_SOUND);
    assert_int_equal(feed("\0\20\0\1", 4, 4), PACKET_LONG);
    assert_int_equal(feed("\0\1\0\0D", 5, 5), PACKET_SOUND);
    assert_int_equal(feed("\0\1\0\1D", 5, 5), PACKET_LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes__found_in_every_cut),
        cmocka_unit_test(lengths__refused_before_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
