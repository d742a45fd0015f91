/* test_credit - a known sender takes score away, only with proof, and never from a grave hit. */
#include "core/base/base.h"

#include "tests/unit/verdict/judge.h"

#define BIT(word) (UINT64_C(1) << IDENTITY_##word)

static void test_credit__words_and_hits__give_the_score(void **state)
{
    static const struct {
        uint64_t words;
        const char *category; /* of the hit; NULL: no hit */
        bool is_shadow;
        double score;
        size_t nsymbols;
    } rows[] = {
        {0, "spam", false, 6, 1},
        {BIT(correspondent), "spam", false, 6, 1},
        {BIT(proved), "spam", false, 6, 1},
        {BIT(correspondent) | BIT(proved), "spam", false, 4, 2},
        {BIT(answer), "spam", false, 3, 2},
        {BIT(answer) | BIT(correspondent) | BIT(proved), "spam", false, 3, 3},
        {BIT(answer) | BIT(dmarc_fail), "spam", false, 6, 1},
        {BIT(answer) | BIT(spf_fail), "spam", false, 6, 1},
        {BIT(correspondent) | BIT(proved), "phish", false, 6, 2},
        {BIT(correspondent) | BIT(proved), "malware", false, 6, 2},
        {BIT(answer), "phish", false, 6, 2},
        {BIT(answer), "phish", true, -3, 2},
        {BIT(answer), NULL, false, -3, 1},
    };
    struct bench *b = *state;
    char phish[] = "phish";
    char malware[] = "malware";
    char spam[] = "spam";
    featureset_add(b->features, FEATURE_from, SLICE_LIT("bob@their.example"));
    b->config.identity =
        (struct config_identity){.correspondent_score = -2, .answer_score = -3};
    struct config_list *list = add_list("l", 6);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct identity identity = {.words = rows[i].words};
        const char *category = rows[i].category;
        b->found.n = 0;
        if (category != NULL) {
            list->category = *category == 'p'   ? phish
                             : *category == 'm' ? malware
                                                : spam;
            add_hit(b, 0, FEATURE_url_domain, "evil.example");
        }
        list->shadow = rows[i].is_shadow;
        b->context.identity = &identity;
        judge(b);
        if (b->v.score != rows[i].score || b->v.nsymbols != rows[i].nsymbols) {
            fail_msg("row %zu: score %g, %zu symbols", i, b->v.score, b->v.nsymbols);
        }
    }
}

static void test_credit__shown__with_the_address(void **state)
{
    struct bench *b = *state;
    const struct identity identity = {.words = BIT(answer) | BIT(correspondent) |
                                               BIT(proved)};
    featureset_add(b->features, FEATURE_from, SLICE_LIT("bob@their.example"));
    b->config.identity =
        (struct config_identity){.correspondent_score = -4, .answer_score = -3};
    b->context.identity = &identity;
    judge(b);
    has_symbol(b, 0, "ANSWER", 0, "bob@their.example");
    has_symbol(b, 1, "KNOWN_CORRESPONDENT", -4, "bob@their.example");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_credit__words_and_hits__give_the_score),
        TEST(test_credit__shown__with_the_address),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
