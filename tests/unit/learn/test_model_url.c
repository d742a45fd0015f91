/* test_model_url - the model of URLs: below 20 of each, of many, as a term, and taken out again. */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/learn/learner.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static char dir[64];
static struct arena *arena;

static struct learner *open_learner(void)
{
    const struct learner_options how = {.prior = NULL};
    struct errinfo why = {.code = ERR_OK};
    struct learner *l = NULL;
    if (learner_open(dir, &how, &l, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return l;
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(16 << 20);
    return arena != NULL && tempdir_make_fast(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return file_remove_tree(dir, NULL) == ERR_OK ? 0 : -1;
}

/* A message of one URL, whose words and form are those of its class. */
static struct slice message_with_url(bool is_spam, uint64_t seed, struct buf *to)
{
    static const char *const words[2][4] = {{"docs", "news", "about", "help"},
                                            {"verify", "wallet", "secure", "login"}};
    char text[96];
    struct vector url;
    struct prng random;
    prng_init(&random, seed, is_spam);
    const char *first = words[is_spam][prng_below(&random, 4)];
    const char *second = words[is_spam][prng_below(&random, 4)];
    unsigned n = (unsigned)seed;
    if (is_spam) {
        (void)snprintf(text, sizeof(text), "x%u-%s.example/%s/%x", n, first, second,
                       n * 77777);
    } else {
        (void)snprintf(text, sizeof(text), "%s%u.test/%s", first, n, second);
    }
    assert_true(url_vector(arena, slice_str(text), &url));
    const struct vector v = {
        .group = (uint16_t)seed, .term = url.term, .nurls = 1, .url = &url};
    buf_init(to, VECTOR_BYTES);
    assert_true(vector_encode(&v, to));
    arena_reset(arena);
    return buf_slice(to);
}

static void put_urls(struct learner *l, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++) {
        for (unsigned is_spam = 0; is_spam < 2; is_spam++) {
            struct buf bytes;
            const struct learner_example e = {.is_spam = is_spam,
                                              .weight = 1,
                                              .source = LEARNER_TRAINED,
                                              .vector =
                                                  message_with_url(is_spam, i, &bytes)};
            assert_int_equal(learner_put(l, &e), ERR_OK);
            buf_fini(&bytes);
        }
    }
    assert_int_equal(learner_rebuild(l), ERR_OK);
}

static double url_score(struct learner *l, bool is_spam, uint64_t seed,
                        double false_positives)
{
    const struct model_options how = {.false_positives = 0.001,
                                      .cap = {5, 5, 5, 5},
                                      .url_false_positives = false_positives};
    struct model_answer a;
    struct vector v;
    struct buf bytes;
    assert_int_equal(vector_decode(arena, message_with_url(is_spam, seed, &bytes), &v),
                     ERR_OK);
    learner_judge(l, &how, &v, &a);
    buf_fini(&bytes);
    assert_int_equal(a.nurls, 1);
    return a.url[0].score;
}

static void test_urls__below_twenty_of_each__are_clean(void **state)
{
    (void)state;
    struct learner *l = open_learner();
    put_urls(l, 0, MODEL_LEAST - 1);
    assert_true(url_score(l, true, 9000, 0.1) <= 0);
    put_urls(l, 100, 60);
    assert_true(url_score(l, true, 9000, 0.05) > 0);
    learner_close(&l);
}

static void test_urls__of_many__are_as_malicious_as_ham_proves(void **state)
{
    (void)state;
    struct learner *l = open_learner();
    unsigned found[2] = {0, 0};
    put_urls(l, 0, 100);
    /* one of 101: 100 ham prove a share of 0.02, and none of 0.001 */
    for (uint64_t i = 0; i < 50; i++) {
        for (unsigned is_spam = 0; is_spam < 2; is_spam++) {
            found[is_spam] += model_url_rating(url_score(l, is_spam, 9000 + i, 0.02)) ==
                              MODEL_MALICIOUS;
            assert_true(model_url_rating(url_score(l, is_spam, 9000 + i, 0.001)) !=
                        MODEL_MALICIOUS);
        }
    }
    assert_in_range(found[1], 30, 50);
    assert_int_equal(found[0], 0);
    learner_close(&l);
}

static void test_urls__rated__are_a_term_of_the_message(void **state)
{
    (void)state;
    struct learner *l = open_learner();
    struct buf bytes;
    put_urls(l, 0, 100);
    uint32_t hash = vector_hash(VECTOR_SIGN, SLICE_LIT("url-suspicious"));
    assert_true(model_weight(learner_model(l), hash) == 0);
    for (uint64_t i = 0; i < 30; i++) {
        const struct learner_example e = {.is_spam = true,
                                          .weight = 1,
                                          .vector =
                                              message_with_url(true, 300 + i, &bytes)};
        assert_int_equal(learner_add(l, &e), ERR_OK);
        buf_fini(&bytes);
    }
    assert_true(model_weight(learner_model(l), hash) > 0);
    learner_close(&l);
}

/* The worst rating of the URLs, beside the other terms. */
static void test_judge_urls__rated__adds_its_term_behind_the_others(void **state)
{
    (void)state;
    static const uint32_t words[] = {11, 12};
    const struct model_options how = {.url_false_positives = 0.02};
    struct learner *l = open_learner();
    struct vector v = {.n = 0};
    struct model_answer a = {.nurls = 0};
    struct buf bytes;
    uint32_t room[LENGTH(words) + 1];
    put_urls(l, 0, 100);
    for (uint64_t i = 0; i < 50 && v.n <= LENGTH(words); i++) {
        assert_int_equal(
            vector_decode(arena, message_with_url(true, 9000 + i, &bytes), &v), ERR_OK);
        v.n = LENGTH(words);
        v.term = words;
        model_judge_urls(learner_model(l), &how, &v, room, &a);
        buf_fini(&bytes);
    }
    assert_int_equal(v.n, LENGTH(words) + 1);
    assert_memory_equal(v.term, words, sizeof(words));
    enum model_rating rating = model_url_rating(a.url[0].score);
    struct slice name = rating == MODEL_MALICIOUS ? SLICE_LIT("url-malicious")
                                                  : SLICE_LIT("url-suspicious");
    assert_int_not_equal(rating, MODEL_CLEAN);
    assert_int_equal(v.term[LENGTH(words)], (uint32_t)VECTOR_SIGN << VECTOR_HASH_BITS |
                                                vector_hash(VECTOR_SIGN, name));
    assert_int_equal(v.count[VECTOR_SIGN], 1);
    learner_close(&l);
}

static void test_urls__taken_out__leave_no_trace(void **state)
{
    (void)state;
    struct learner *l = open_learner();
    put_urls(l, 0, 50);
    assert_int_equal(learner_model(l)->head.urls.nham, 50);
    assert_int_equal(learner_remove_source(l, LEARNER_TRAINED), 100);
    assert_int_equal(learner_model(l)->head.urls.nham, 0);
    for (size_t i = 0; i < URL_VECTOR_HASHES; i++) {
        assert_int_equal(learner_model(l)->url_weight[i], 0);
    }
    learner_close(&l);
}

/* Nothing tells the classes apart: half of unseen ham is above 0. A window of ham that was learnt
 * has less there (0.48 and 0.50). */
static void test_urls__without_a_pattern__have_ham_above_zero(void **state)
{
    (void)state;
    struct learner *l = open_learner();
    for (uint64_t i = 0; i < 300; i++) {
        struct buf bytes;
        const struct learner_example e = {.is_spam = i % 2 == 1,
                                          .weight = 1,
                                          .vector = message_with_url(true, i, &bytes)};
        assert_int_equal(learner_put(l, &e), ERR_OK);
        buf_fini(&bytes);
    }
    assert_int_equal(learner_rebuild(l), ERR_OK);
    const struct model_kind *k = &learner_model(l)->head.urls;
    assert_true(model_share(&k->window, 0) > 0.55);
    assert_true(model_share(&k->odds, 0) > 0.53);
    learner_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_urls__below_twenty_of_each__are_clean),
        TEST(test_urls__of_many__are_as_malicious_as_ham_proves),
        TEST(test_urls__rated__are_a_term_of_the_message),
        TEST(test_judge_urls__rated__adds_its_term_behind_the_others),
        TEST(test_urls__taken_out__leave_no_trace),
        TEST(test_urls__without_a_pattern__have_ham_above_zero),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
