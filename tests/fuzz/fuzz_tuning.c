/* fuzz_tuning - any bytes as the file of settings of the state folder: what is taken has bounded
 * texts and known keys, is read again alike, and each setting can be taken out. */
#include <math.h>
#include <string.h>

#include "core/config/tuning.h"

#include "tests/fuzz/fuzz.h"

static void on_finding(void *context, unsigned line, enum err code, const char *text)
{
    unsigned *n = context;

    FUZZ_CHECK(code != ERR_OK && *text != '\0');
    (void)line;
    ++*n;
}

static bool read_text(struct slice text, struct tuning *t)
{
    unsigned n = 0;
    bool is_good = tuning_parse(text, on_finding, &n, t);

    FUZZ_CHECK(is_good == (n == 0));
    return is_good;
}

static void check_setting(const struct tuning_setting *s)
{
    struct slice value;
    struct slice key = tuning_key(s, &value);

    FUZZ_CHECK(key.n > 0 && value.n > 0 && strlen(s->text) < TUNING_TEXT_MAX);
    FUZZ_CHECK(s->set.key == USER_THRESHOLD || s->set.key == USER_SCORE ||
               s->set.key == USER_SHADOW);
    FUZZ_CHECK(!isnan(s->set.number));
    FUZZ_CHECK(s->set.name.n == 0 ||
               (s->set.name.p > s->text && s->set.name.p < s->text + TUNING_TEXT_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuning *t = tuning_new();
    struct tuning *again = tuning_new();
    struct buf text;

    buf_init(&text, 2 * size + TUNING_FILE_BYTES);
    if (t != NULL && again != NULL &&
        read_text(slice_of((const char *)data, size), t)) {
        for (size_t i = 0; i < t->n; i++) {
            check_setting(&t->v[i]);
        }
        tuning_print(t, &text);
        FUZZ_CHECK(read_text(buf_slice(&text), again) && again->n == t->n);
        FUZZ_CHECK(strcmp(again->who, t->who) == 0 && again->version == t->version);
        buf_clear(&text);
        tuning_conf_lines(t, &text);
        while (t->n > 0) {
            char key[TUNING_TEXT_MAX + 1];
            struct slice value;
            struct slice name = tuning_key(&t->v[t->n / 2], &value);
            int n = snprintf(key, sizeof(key), "%.*s=", SLICE_ARGS(name));
            FUZZ_CHECK(tuning_change(t, slice_of(key, (size_t)n), NULL) == ERR_OK);
        }
    }
    buf_fini(&text);
    tuning_free(&t);
    tuning_free(&again);
    return 0;
}
