/*
 * fuzz_config - any text as gillnet.conf: refused with a text for each error, or loaded to the same
 * each time, and dumped with a line for each value.
 */
#include "core/base/base.h"
#include "core/config/config.h"

#include "tests/fuzz/state.h"

/* libconfig 1.5 forgets the text at which it meets a syntax error. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): LeakSanitizer's name */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

enum { DUMP_MAX = 4 << 20, WHOLE_MAX = 1 << 20 };

static struct config *load(struct slice text)
{
    struct config *c = NULL;
    struct config_errors errors = {.n = 0};
    struct buf whole;

    buf_init(&whole, WHOLE_MAX);
    buf_add_str(&whole,
                "shipped_rules = false;\n"); /* they would take most of the time */
    buf_add(&whole, text);
    FUZZ_CHECK(!buf_failed(&whole));
    const char *path = state_file("gillnet.conf", buf_slice(&whole));
    buf_fini(&whole);

    enum err e = config_load_tuned(path, "", NULL, &c, &errors);
    FUZZ_CHECK((e == ERR_OK) == (c != NULL) && (e == ERR_OK) == (errors.n == 0));
    for (size_t i = 0; i < errors.n; i++) {
        FUZZ_CHECK(errors.v[i].text[0] != '\0');
    }
    config_errors_free(&errors);
    return c;
}

static size_t lines_of(struct slice text)
{
    size_t n = 0;

    while (text.n > 0) {
        (void)slice_cut(&text, '\n');
        n++;
    }
    return n;
}

static void check_dump(const struct config *c)
{
    struct buf text;
    struct buf json;

    buf_init(&text, DUMP_MAX);
    buf_init(&json, DUMP_MAX);
    config_dump(c, false, &text);
    config_dump(c, true, &json);
    FUZZ_CHECK(!buf_failed(&text) && !buf_failed(&json));
    FUZZ_CHECK(lines_of(buf_slice(&text)) == lines_of(buf_slice(&json)));
    buf_fini(&text);
    buf_fini(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);

    if (base_init() != ERR_OK ||
        slice_find_slice(text, SLICE_LIT("include")) < text.n ||
        slice_find_slice(text, SLICE_LIT("shipped_rules")) < text.n) {
        return 0; /* of other files */
    }
    struct config *c = load(text);
    if (c != NULL) {
        struct config *again = load(text);
        check_dump(c);
        FUZZ_CHECK(again != NULL && config_id(again) == config_id(c));
        FUZZ_CHECK(config_needs_restart(c, again, CONFIG_OF_GILLNETD, NULL) == 0);
        config_release(&again);
        config_release(&c);
    }
    return 0;
}
