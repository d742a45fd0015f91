/* fuzz_model - a model with changes, its checksum made right, and any bytes as a prior: refused with a text, or
 * judged within the bounds of a score. */
#include <math.h>

#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/learn/prior.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"

enum { KEPT = 1 << 16 }; /* bytes of the head and the first weights that are changed */

static void judge(const struct model_data *m)
{
    static const struct model_options options = {
        .false_positives = 0.001, .cap = {5, 5, 5, 5}, .url_false_positives = 0.001};
    const uint32_t terms[] = {1, 77, 12345};
    struct vector v = {.n = 0};
    struct model_answer a;

    model_judge(m, &options, &v, &a);
    FUZZ_CHECK(!isnan(a.score) && a.score <= MODEL_FULL_SCORE);
    for (size_t i = 0; i < LENGTH(terms); i++) {
        (void)model_weight(m, terms[i]);
        (void)model_prior_weight(m, terms[i]);
    }
}

static void check_prior(struct slice bytes, struct model_data *m)
{
    struct errinfo why = {.text = ""};

    if (prior_read(state_file("prior", bytes), m, &why) == ERR_OK) {
        judge(m);
    } else {
        FUZZ_CHECK(why.text[0] != '\0');
    }
}

static void check_model(struct slice input, struct model_data *m)
{
    struct model *opened = NULL;
    struct errinfo why = {.text = ""};

    memset(m, 0, sizeof(*m));
    memcpy(m->head.magic, "GNMODEL1", sizeof(m->head.magic));
    m->head.version = MODEL_VERSION;
    m->head.vector_version = VECTOR_VERSION;
    (void)patched_apply((uint8_t *)m, KEPT, &input);
    const char *path = state_path("model");
    FUZZ_CHECK(model_write(path, m, &why) == ERR_OK);
    if (model_open(path, NULL, &opened, &why) == ERR_OK && opened != NULL) {
        judge(model_data(opened));
    }
    model_close(&opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model_data *m;

    m = m == NULL ? calloc(1, sizeof(*m)) : m;
    FUZZ_CHECK(m != NULL && base_init() == ERR_OK);
    check_prior(slice_of((const char *)data, size), m);
    if (size > 0 && (data[0] & 0x40) == 0) {
        check_model(slice_of((const char *)data, size), m);
    }
    return 0;
}
