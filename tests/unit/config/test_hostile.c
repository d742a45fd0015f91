/* test_hostile - random bytes and mutated configurations end in a configuration or in errors. */
#include <fcntl.h>

#include "tests/unit/config/confdir.h"

/* libconfig 1.5 forgets the text at which it meets a syntax error (64 bytes a time). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}

enum { ROUNDS = 150, TEXT_MAX = 1 << 16 };

static int rounds = ROUNDS; /* GILLNET_ROUNDS */
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static void load_whatever(const char *p, size_t n)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};
    struct buf text;

    confdir_put_bytes("gillnet.conf", p, n);
    if (config_load(confdir_file, NULL, &c, &errors) == ERR_OK) {
        assert_int_equal(errors.n, 0);
        buf_init(&text, 1 << 24);
        config_dump(c, true, &text);
        assert_false(buf_failed(&text));
        buf_fini(&text);
        config_release(&c);
        return;
    }
    assert_null(c);
    assert_true(errors.n > 0);
    for (size_t i = 0; i < errors.n; i++) {
        assert_true(errors.v[i].text[0] != '\0');
    }
    config_errors_free(&errors);
}

static size_t read_shipped(char *dst)
{
    FILE *f = fopen(GILLNET_SOURCE_DIR "/conf/gillnet.conf", "r");
    size_t n = 0;

    assert_non_null(f);
    n = fread(dst, 1, TEXT_MAX / 2, f);
    fclose(f);
    /* settings, not comments, are what the mutations should meet */
    for (size_t i = 1; i < n; i++) {
        if (dst[i - 1] == '#' && dst[i] != '#' && dst[i] != ' ' && dst[i] != '>') {
            dst[i - 1] = ' ';
        }
    }
    return n;
}

static void test_load__when_random_bytes__then_no_crash(void **state)
{
    char bytes[512];

    (void)state;
    for (int round = 0; round < rounds; round++) {
        size_t n = draw(sizeof(bytes));

        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)(round % 2 == 0 ? draw(256) : 32 + draw(95));
        }
        load_whatever(bytes, n);
    }
}

static void test_load__when_tokens_are_shuffled__then_no_crash(void **state)
{
    static const char *const tokens[] = {"state_dir",
                                         "limits",
                                         "lists",
                                         "=",
                                         ":",
                                         "{",
                                         "}",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "\"",
                                         "\\",
                                         "/*",
                                         "*/",
                                         "//",
                                         "#",
                                         "\n",
                                         ";",
                                         ",",
                                         "1",
                                         "1.5",
                                         "-1",
                                         "true",
                                         "name",
                                         "\"x\"",
                                         "weight",
                                         "log",
                                         "0xffffffffff",
                                         "99999999999L",
                                         "@include \"x\"",
                                         "allow",
                                         "\"/abs\""};
    char text[2048];

    (void)state;
    for (int round = 0; round < rounds; round++) {
        size_t n = 0;

        for (uint32_t i = draw(60); i > 0; i--) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
                                  tokens[draw(sizeof(tokens) / sizeof(tokens[0]))]);
        }
        load_whatever(text, n);
    }
}

static void test_load__when_the_full_file_is_mutated__then_no_crash(void **state)
{
    char *whole = malloc(TEXT_MAX);
    char *text = malloc(TEXT_MAX);
    size_t n = read_shipped(whole);

    (void)state;
    for (int round = 0; round < rounds; round++) {
        size_t length = n;

        memcpy(text, whole, n);
        for (uint32_t i = 1 + draw(4); i > 0; i--) {
            size_t at = draw((uint32_t)length - 64);
            size_t from = draw((uint32_t)length - 64);
            size_t some = draw(64);

            switch (draw(4)) {
            case 0:
                text[at] = (char)draw(256);
                break;
            case 1:
                memmove(text + at, text + from, some);
                break;
            case 2:
                memmove(text + at, text + at + some, length - at - some);
                length -= some;
                break;
            default:
                length = length > 4096 ? length - draw(64) : length;
                break;
            }
        }
        load_whatever(text, length);
    }
    free(whole);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)
        TEST(test_load__when_random_bytes__then_no_crash),
        TEST(test_load__when_tokens_are_shuffled__then_no_crash),
        TEST(test_load__when_the_full_file_is_mutated__then_no_crash),
#undef TEST
    };

    const char *wanted = getenv("GILLNET_ROUNDS");
    rounds = wanted != NULL ? atoi(wanted) : ROUNDS;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
