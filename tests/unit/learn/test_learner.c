/*
 * test_learner - what is learnt is judged, taken out again, and kept over kill -9; the prior, the
 * inbox and the windows.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/learn/inbox.h"
#include "core/learn/learner.h"
#include "core/learn/prior.h"
#include "core/learn/vector_store.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { WORDS = 12, TOPICS = 40, MANY = 200 };

static const struct model_options options = {.false_positives = 0.001,
                                             .cap = {5, 5, 5, 5}};
static char dir[64];
static struct arena *arena;

/* A message of some words of its class and some that both have. */
static struct slice message_of(bool is_spam, uint64_t seed, struct buf *to)
{
    uint32_t term[WORDS];
    struct prng random;
    struct vector v = {.kind = VECTOR_PERSON, .group = (uint16_t)seed, .term = term};
    prng_init(&random, seed, is_spam);
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t topic = prng_below(&random, TOPICS);
        uint32_t base = i % 3 == 0 ? 0 : is_spam ? 1000 : 2000;
        term[v.n] =
            (uint32_t)VECTOR_TEXT << VECTOR_HASH_BITS | (base + (uint32_t)topic);
        bool is_new = true;
        for (size_t j = 0; j < v.n; j++) {
            is_new = is_new && term[j] != term[v.n];
        }
        v.n += is_new;
    }
    v.count[VECTOR_TEXT] = (uint16_t)v.n;
    buf_init(to, VECTOR_BYTES);
    assert_true(vector_encode(&v, to));
    return buf_slice(to);
}

static struct learner *open_learner(const char *prior)
{
    const struct learner_options how = {.prior = prior};
    struct errinfo why = {.code = ERR_OK};
    struct learner *l = NULL;
    if (learner_open(dir, &how, &l, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return l;
}

static enum err add(struct learner *l, uint64_t number, bool is_spam, uint64_t seed)
{
    struct buf bytes;
    const struct learner_example e = {.number = number,
                                      .is_spam = is_spam,
                                      .weight = 1,
                                      .vector = message_of(is_spam, seed, &bytes)};
    enum err result = learner_add(l, &e);
    buf_fini(&bytes);
    return result;
}

static struct model_answer judge(struct learner *l, bool is_spam, uint64_t seed)
{
    struct model_answer a;
    struct buf bytes;
    struct vector v;
    assert_int_equal(vector_decode(arena, message_of(is_spam, seed, &bytes), &v),
                     ERR_OK);
    learner_judge(l, &options, &v, &a);
    buf_fini(&bytes);
    return a;
}

static uint64_t add_many(struct learner *l, uint64_t number, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(add(l, number + 2 * i, true, i), ERR_OK);
        assert_int_equal(add(l, number + 2 * i + 1, false, i), ERR_OK);
    }
    return number + 2 * n;
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

static void test_learner__below_twenty_of_each__says_nothing(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    add_many(l, 1, MODEL_LEAST - 1);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    struct model_answer a = judge(l, true, 5000);
    assert_false(a.is_local);
    assert_true(a.score <= 0);
    add_many(l, 1000, 1);
    assert_true(judge(l, true, 5000).is_local);
    learner_close(&l);
}

static void test_learner__without_examples__writes_no_model(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    assert_int_equal(path_make(path, NULL, "%s/%s", dir, STATE_MODEL_FILE), ERR_OK);
    struct learner *l = open_learner(NULL);
    assert_int_equal(learner_tick(l, NULL), ERR_OK);
    learner_close(&l);
    assert_int_equal(access(path, F_OK), -1); /* 24 MB in which nothing stands */
    l = open_learner(NULL);
    assert_int_equal(add(l, 1, true, 1), ERR_OK);
    learner_close(&l);
    assert_int_equal(access(path, F_OK), 0);
    l = open_learner(NULL);
    assert_int_equal(learner_remove(l, 1), ERR_OK);
    learner_close(&l);
    struct model *m = NULL;
    assert_int_equal(model_open(path, NULL, &m, NULL),
                     ERR_OK); /* forgotten here, too */
    assert_int_equal(model_data(m)->head.nspam, 0);
    model_close(&m);
}

static void test_learner__of_many__tells_unseen_mail_apart(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    add_many(l, 1, MANY);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    unsigned marked[2] = {0, 0};
    for (uint64_t i = 0; i < 100; i++) {
        marked[1] += judge(l, true, 9000 + i).score > 2;
        marked[0] += judge(l, false, 9000 + i).score > 2;
    }
    assert_true(marked[1] > 90);
    assert_int_equal(marked[0], 0);
    learner_close(&l);
}

/* A newsletter of a sender; the term of the sender is its number. */
static struct slice newsletter_of(bool is_spam, uint64_t seed, uint32_t sender,
                                  struct buf *to)
{
    uint32_t term[WORDS + 1];
    struct buf bytes;
    struct vector v;
    assert_int_equal(vector_decode(arena, message_of(is_spam, seed, &bytes), &v),
                     ERR_OK);
    memcpy(term, v.term, v.n * sizeof(*term));
    term[v.n++] = (uint32_t)VECTOR_SENDER << VECTOR_HASH_BITS | sender;
    v.term = term;
    v.count[VECTOR_SENDER] = 1;
    v.kind = VECTOR_NOTICE;
    buf_fini(&bytes);
    buf_init(to, VECTOR_BYTES);
    assert_true(vector_encode(&v, to));
    return buf_slice(to);
}

static void add_newsletter(struct learner *l, bool is_spam, uint64_t seed,
                           uint32_t sender)
{
    struct buf bytes;
    const struct learner_example e = {.is_spam = is_spam,
                                      .weight = 1,
                                      .source = LEARNER_TRAINED,
                                      .vector =
                                          newsletter_of(is_spam, seed, sender, &bytes)};
    assert_int_equal(learner_add(l, &e), ERR_OK);
    buf_fini(&bytes);
}

static double score_newsletter(struct learner *l, uint64_t seed, uint32_t sender)
{
    const struct model_options cautious = {.false_positives = 0.001,
                                           .cap = {5, 5, 1, 2}};
    struct model_answer a;
    struct buf bytes;
    struct vector v;
    assert_int_equal(
        vector_decode(arena, newsletter_of(true, seed, sender, &bytes), &v), ERR_OK);
    learner_judge(l, &cautious, &v, &a);
    buf_fini(&bytes);
    return a.score;
}

static void test_learner__a_sender_of_spam_alone__ends_the_caution_of_notices(
    void **state)
{
    (void)state;
    enum { SPAMMER = 5000, SHOP = 6000, STRANGER = 7000 };
    struct learner *l = open_learner(NULL);
    for (uint32_t i = 0; i < MANY; i++) {
        add_newsletter(l, true, i, 8000 + i);
        add_newsletter(l, false, i, 9000 + i);
    }
    for (uint64_t i = 0; i < 12; i++) {
        add_newsletter(l, true, 1000 + i, SPAMMER);
        add_newsletter(l, true, 1100 + i, SHOP);
    }
    add_newsletter(l, false, 1200, SHOP);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    assert_true(score_newsletter(l, 2000, SPAMMER) > 2);
    assert_true(score_newsletter(l, 2000, SHOP) <= 1);
    assert_true(score_newsletter(l, 2000, STRANGER) <= 1);
    learner_close(&l);
}

/* A reporter without trust calls spam ham. */
static void add_lies(struct learner *l, uint64_t number, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct buf bytes;
        const struct learner_example e = {.number = number + i,
                                          .weight = 0.01F,
                                          .source = LEARNER_REPORTED,
                                          .vector = message_of(true, 3000 + i, &bytes)};
        assert_int_equal(learner_add(l, &e), ERR_OK);
        buf_fini(&bytes);
    }
}

static void test_learner__lies_of_one_without_trust__change_no_verdict(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    uint64_t next = add_many(l, 1, MANY);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    struct model_answer before = judge(l, true, 9000);
    add_lies(l, next, 2 * MANY);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    struct model_answer after = judge(l, true, 9000);
    assert_true(before.score > 2);
    assert_true(after.margin > 0.8 * before.margin);
    assert_true(after.score > 0.9 * before.score);
    learner_close(&l);
}

static void put(struct learner *l, enum learner_source source, uint64_t seed)
{
    struct buf bytes;
    const struct learner_example e = {.weight = source == LEARNER_TRAINED ? 1 : 0.3F,
                                      .source = source,
                                      .vector = message_of(false, seed, &bytes)};
    assert_int_equal(learner_put(l, &e), ERR_OK);
    buf_fini(&bytes);
}

static void test_learner__many_reports_without_trust__displace_few_others(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    for (uint64_t i = 0; i < LEARNER_STORE; i++) {
        put(l, LEARNER_TRAINED, i);
    }
    for (uint64_t i = 0; i < LEARNER_STORE; i++) {
        put(l, LEARNER_REPORTED, LEARNER_STORE + i);
    }
    assert_int_equal(learner_remove_source(l, LEARNER_REPORTED), STORE_UNPROVED);
    assert_int_equal(learner_remove_source(l, LEARNER_TRAINED),
                     LEARNER_STORE - STORE_UNPROVED);
    learner_close(&l);
}

static void test_learner__few_ham__cannot_be_sure(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    add_many(l, 1, MODEL_LEAST);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    /* 1 of 21: the share that 20 ham can prove at best */
    assert_true(judge(l, true, 9000).score < 1.0);
    learner_close(&l);
}

static void test_learner__a_number_again__is_refused_over_restarts(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    assert_int_equal(add(l, 7, true, 1), ERR_OK);
    assert_int_equal(add(l, 7, true, 1), ERR_EXISTS);
    assert_int_equal(add(l, 6, true, 2), ERR_EXISTS);
    assert_int_equal(add(l, 0, true, 3), ERR_OK);
    assert_int_equal(learner_tick(l, NULL), ERR_OK);
    learner_close(&l);
    l = open_learner(NULL);
    assert_int_equal(learner_applied(l), 7);
    assert_int_equal(add(l, 7, true, 1), ERR_EXISTS);
    uint32_t counts[VECTOR_KINDS][2];
    learner_counts(l, counts);
    assert_int_equal(counts[VECTOR_PERSON][1], 2);
    learner_close(&l);
}

static void test_learner_remove__of_an_example__leaves_no_trace(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    uint64_t next = add_many(l, 1, 50);
    assert_int_equal(learner_rebuild(l), ERR_OK);
    double before = judge(l, true, 9000).margin;
    assert_int_equal(add(l, next, false, 4711), ERR_OK); /* a lie about other mail */
    assert_int_equal(learner_remove(l, next), ERR_OK);
    assert_int_equal(learner_remove(l, next), ERR_NOT_FOUND);
    assert_true(judge(l, true, 9000).margin == before);
    learner_close(&l);
}

static void test_learner_remove_source__of_train__keeps_the_others(void **state)
{
    (void)state;
    struct learner *l = open_learner(NULL);
    struct buf bytes;
    add_many(l, 1, 2);
    const struct learner_example e = {.is_spam = true,
                                      .weight = 1,
                                      .source = LEARNER_TRAINED,
                                      .vector = message_of(true, 1, &bytes)};
    assert_int_equal(learner_put(l, &e), ERR_OK);
    assert_int_equal(learner_remove_source(l, LEARNER_TRAINED), 1);
    assert_int_equal(learner_remove_source(l, LEARNER_TRAINED), 0);
    uint32_t counts[VECTOR_KINDS][2];
    learner_counts(l, counts);
    assert_int_equal(counts[VECTOR_PERSON][1], 2);
    buf_fini(&bytes);
    learner_close(&l);
}

static void learn_for_ever(int progress)
{
    const struct learner_options how = {.prior = NULL};
    struct learner *l = NULL;
    if (learner_open(dir, &how, &l, NULL) != ERR_OK) {
        _exit(1);
    }
    for (uint64_t n = learner_applied(l) + 1;; n++) {
        (void)add(l, n, n % 2, n);
        if (n % 3 == 0) {
            (void)learner_tick(l, NULL);
            if (write(progress, "x", 1) != 1) {
                _exit(1);
            }
        }
    }
}

static void test_learner__killed_at_any_time__replays_each_once(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        int progress[2];
        char bytes[4];
        assert_int_equal(pipe(progress), 0);
        pid_t child = fork();
        if (child == 0) {
            learn_for_ever(progress[1]);
        }
        (void)close(progress[1]);
        assert_int_equal(read(progress[0], bytes, 1),
                         1); /* one checkpoint is written */
        (void)usleep(3000 * round);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        (void)close(progress[0]);
    }
    struct learner *l = open_learner(NULL);
    uint32_t counts[VECTOR_KINDS][2];
    uint64_t applied = learner_applied(l);
    learner_counts(l, counts);
    assert_true(applied > 0);
    assert_int_equal(counts[VECTOR_PERSON][0] + counts[VECTOR_PERSON][1], applied);
    learner_close(&l);
}

static void test_learner__a_damaged_store__keeps_what_is_whole(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    struct learner *l = open_learner(NULL);
    add_many(l, 1, 10);
    learner_close(&l);
    assert_int_equal(path_make(path, NULL, "%s/model/vectors", dir), ERR_OK);
    assert_int_equal(truncate(path, 300), 0);
    l = open_learner(NULL);
    uint32_t counts[VECTOR_KINDS][2];
    learner_counts(l, counts);
    assert_in_range(counts[VECTOR_PERSON][0] + counts[VECTOR_PERSON][1], 1, 19);
    assert_int_equal(add(l, 100, true, 1), ERR_OK);
    learner_close(&l);
    l = open_learner(NULL);
    assert_int_equal(learner_applied(l), 100);
    learner_close(&l);
}

static void test_learner__the_second_one__is_locked_out_and_uses_the_inbox(void **state)
{
    (void)state;
    const struct learner_options how = {.prior = NULL};
    struct learner *l = open_learner(NULL);
    struct learner *other = NULL;
    struct buf inbox;
    struct buf bytes;
    assert_int_equal(learner_open(dir, &how, &other, NULL), ERR_LOCKED);
    inbox_init(&inbox);
    const struct learner_example e = {.is_spam = true,
                                      .weight = 1,
                                      .source = LEARNER_TRAINED,
                                      .vector = message_of(true, 1, &bytes)};
    inbox_add(&inbox, &e);
    for (unsigned i = 0; i < 2; i++) { /* the same again is not learnt twice */
        assert_int_equal(inbox_put(dir, &inbox, NULL), ERR_OK);
        assert_int_equal(learner_tick(l, NULL), ERR_OK);
        uint32_t counts[VECTOR_KINDS][2];
        learner_counts(l, counts);
        assert_int_equal(counts[VECTOR_PERSON][1], 1);
    }
    buf_fini(&inbox);
    buf_fini(&bytes);
    learner_close(&l);
}

static void test_prior__of_a_model__speaks_up_to_its_cap(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    struct learner *l = open_learner(NULL);
    add_many(l, 1, MANY);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    assert_int_equal(path_make(path, NULL, "%s/prior", dir), ERR_OK);
    assert_int_equal(prior_write(path, learner_model(l), NULL), ERR_OK);
    learner_close(&l);
    assert_int_equal(path_make(path, NULL, "%s/model", dir), ERR_OK);
    assert_int_equal(file_remove_tree(path, NULL), ERR_OK);
    assert_int_equal(path_make(path, NULL, "%s/prior", dir), ERR_OK);
    l = open_learner(path);
    struct model_answer a = judge(l, true, 9000);
    assert_false(a.is_local);
    assert_true(a.score > 1 && a.score <= MODEL_PRIOR_SCORE);
    assert_true(judge(l, false, 9000).score <= 0);
    learner_close(&l);
}

static void
test_learner_prior__damaged_or_missing__learns_without_it_until_it_is_mended(
    void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    struct learner *l = open_learner(NULL);
    struct buf whole;
    add_many(l, 1, MANY);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    assert_int_equal(path_make(path, NULL, "%s/prior", dir), ERR_OK);
    assert_int_equal(prior_write(path, learner_model(l), NULL), ERR_OK);
    learner_close(&l);
    buf_init(&whole, PRIOR_BYTES);
    assert_int_equal(file_read(path, &whole, NULL), ERR_OK);
    assert_int_equal(truncate(path, (off_t)whole.n / 2), 0);

    l = open_learner(path); /* with what was learnt here */
    assert_true(judge(l, true, 9000).is_local);
    assert_int_equal(add(l, 10000, true, 1), ERR_OK);
    assert_int_equal(learner_prior(l, &why), ERR_CORRUPT);
    assert_string_equal(why.source, path);
    assert_non_null(strstr(why.text, "model.prior"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(learner_prior(l, &why), ERR_NOT_FOUND);
    assert_string_equal(why.source, path);
    double before = judge(l, true, 9000).margin;
    assert_int_equal(file_write_atomic(path, buf_slice(&whole), 0644, NULL), ERR_OK);
    assert_int_equal(learner_prior(l, &why), ERR_OK);
    assert_true(judge(l, true, 9000).margin > before);
    learner_close(&l);
    l = open_learner(NULL);
    assert_int_equal(learner_prior(l, &why), ERR_OK);
    learner_close(&l);
    buf_fini(&whole);
}

static void test_model_open__after_a_checkpoint__judges_as_the_learner(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    struct learner *l = open_learner(NULL);
    struct model *m = NULL;
    struct model_answer a;
    struct vector v;
    struct buf bytes;
    add_many(l, 1, 60);
    assert_int_equal(learner_calibrate(l), ERR_OK);
    assert_int_equal(learner_tick(l, NULL), ERR_OK);
    assert_int_equal(path_make(path, NULL, "%s/%s", dir, STATE_MODEL_FILE), ERR_OK);
    assert_int_equal(model_open(path, NULL, &m, NULL), ERR_OK);
    assert_int_equal(vector_decode(arena, message_of(true, 9000, &bytes), &v), ERR_OK);
    model_judge(model_data(m), &options, &v, &a);
    assert_true(a.margin == judge(l, true, 9000).margin);
    model_close(&m);
    assert_int_equal(truncate(path, 1000), 0);
    assert_int_equal(model_open(path, NULL, &m, NULL), ERR_CORRUPT);
    assert_null(m);
    buf_fini(&bytes);
    learner_close(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_learner__below_twenty_of_each__says_nothing),
        TEST(test_learner__without_examples__writes_no_model),
        TEST(test_learner__of_many__tells_unseen_mail_apart),
        TEST(test_learner__a_sender_of_spam_alone__ends_the_caution_of_notices),
        TEST(test_learner__lies_of_one_without_trust__change_no_verdict),
        TEST(test_learner__many_reports_without_trust__displace_few_others),
        TEST(test_learner__few_ham__cannot_be_sure),
        TEST(test_learner__a_number_again__is_refused_over_restarts),
        TEST(test_learner_remove__of_an_example__leaves_no_trace),
        TEST(test_learner_remove_source__of_train__keeps_the_others),
        TEST(test_learner__killed_at_any_time__replays_each_once),
        TEST(test_learner__a_damaged_store__keeps_what_is_whole),
        TEST(test_learner__the_second_one__is_locked_out_and_uses_the_inbox),
        TEST(test_prior__of_a_model__speaks_up_to_its_cap),
        TEST(
            test_learner_prior__damaged_or_missing__learns_without_it_until_it_is_mended),
        TEST(test_model_open__after_a_checkpoint__judges_as_the_learner),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
