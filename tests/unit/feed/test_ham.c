/*
 * test_ham - names that good mail has had for days are left out of a feed, those of a fresh
 * campaign are not; and an update that would hit much good mail as a whole is refused.
 */
#include "core/feed/exclude.h"
#include "core/telemetry/ham_log.h"

#include "tests/unit/feed/stage_fixture.h"

enum { MESSAGES = 2000, DAY_S = 86400 };

struct mail {
    struct feed_fixture *x;
    struct ham_log *j;
};

static void begin(struct mail *m, struct feed_fixture *x)
{
    char path[128];
    m->x = x;
    snprintf(path, sizeof(path), "%s/counts", x->f->state);
    assert_int_equal(mkdir(path, 0750), 0);
    snprintf(path, sizeof(path), "%s/%s", x->f->state, STATE_HAM_LOG_FILE);
    MUST(x->f, ham_log_open(path, x->f->keys.ring[0].id, &m->j, &x->f->info));
}

static uint64_t key_of(const struct mail *m, const char *domain)
{
    struct digest d;
    digest_make(&m->x->f->keys.ring[0], FEATURE_domain, slice_str(domain), &d);
    return ham_log_key(&d);
}

/* n messages with the domain, spread over span_s up to now, from this number of networks. */
static void add(const struct mail *m, const char *domain, unsigned n, uint32_t span_s,
                unsigned networks)
{
    for (unsigned i = 0; i < n; i++) {
        struct ham_log_message j = {
            .time_s = (uint32_t)m->x->now_s - span_s +
                      (uint32_t)((uint64_t)span_s * i / (n > 1 ? n - 1 : 1)),
            .is_good = true,
            .network = 1 + i % networks,
            .n = 2,
            .key = {key_of(m, domain), key_of(m, "common.example")}};
        ham_log_add(m->j, &j);
    }
}

static void test_entry__when_much_good_mail_has_it__then_it_is_left_out(void **state)
{
    struct feed_fixture *x = *state;
    struct mail m;
    begin(&m, x);
    add(&m, "other.example", MESSAGES, 5 * DAY_S, 50);
    add(&m, "often.example", 3, 2 * DAY_S, 1);    /* more than 0.1 % */
    add(&m, "fresh.example", 200, DAY_S / 2, 50); /* as a campaign is: half a day old */
    add(&m, "twice.example", 2, 2 * DAY_S, 2);    /* too few to say anything */
    add(&m, "old.example", 100, 2 * DAY_S, 9);
    struct ham_log_message bad = {.time_s = (uint32_t)x->now_s, .n = 1};
    bad.key[0] = key_of(&m, "spam.example");
    for (unsigned i = 0; i < 500;
         i++) { /* a message with a hit does not count as ham */
        bad.time_s -= 1000;
        ham_log_add(m.j, &bad);
    }
    ham_log_close(&m.j);
    (void)update(x, "often.example\nfresh.example\ntwice.example\nspam.example\n"
                    "new.example\nold.example\n");
    assert_non_null(strstr(x->said, "!often.example ham\n"));
    assert_non_null(strstr(x->said, "!old.example ham\n"));
    assert_true(is_listed(x, "fresh.example") && is_listed(x, "twice.example"));
    assert_true(is_listed(x, "spam.example") && is_listed(x, "new.example"));
    assert_false(is_listed(x, "often.example") || is_listed(x, "old.example"));
}

static void test_entry__when_people_use_a_name__then_a_larger_share_does_not_help(
    void **state)
{
    struct feed_fixture *x = *state;
    struct mail m;
    reopen(x, "ham_share = 1.0;", "");
    begin(&m, x);
    add(&m, "other.example", MESSAGES, 5 * DAY_S, 50);
    add(&m, "popular.example", FEED_POPULAR_MESSAGES, 2 * DAY_S, FEED_POPULAR_NETWORKS);
    add(&m, "one.example", FEED_POPULAR_MESSAGES, 2 * DAY_S, FEED_POPULAR_NETWORKS - 1);
    ham_log_close(&m.j);
    (void)update(x, "popular.example\none.example\n");
    assert_string_equal(x->said, "!popular.example ham\n+one.example\n");
}

static void test_update__when_all_of_it_hits_much_good_mail__then_it_is_refused(
    void **state)
{
    struct feed_fixture *x = *state;
    struct mail m;
    struct buf b;
    reopen(x, "ham_share = 0.002;", "");
    begin(&m, x);
    buf_init(&b, 1 << 16);
    add(&m, "other.example", MESSAGES, 5 * DAY_S, 50);
    for (unsigned i = 0; i < 60; i++) { /* each alone is in little of it */
        char name[32];
        snprintf(name, sizeof(name), "host-%u.example", i);
        add(&m, name, 3, 2 * DAY_S, 1);
        buf_printf(&b, "%s\n", name);
    }
    ham_log_close(&m.j);
    struct update_report r = update(x, "good.example\n");
    assert_string_equal(r.refusal.reason, "");
    r = update_as(x, buf_slice(&b), (struct update_body){.is_by_hand = true});
    assert_string_equal(r.refusal.reason, "ham");
    assert_true(is_listed(x, "good.example"));
    assert_false(is_listed(x, "host-1.example"));
    r = update_as(x, slice_head(buf_slice(&b), 64), (struct update_body){0});
    assert_string_equal(r.refusal.reason, ""); /* a few of them are not */
    buf_fini(&b);
}

static void test_ham_log__when_it_is_of_another_key__then_it_says_nothing(void **state)
{
    struct feed_fixture *x = *state;
    struct feed_exclude *g = NULL;
    struct mail m;
    begin(&m, x);
    add(&m, "old.example", 100, 2 * DAY_S, 9);
    MUST(x->f, feed_exclude_new(x->config, &x->config->feeds[0], &x->f->keys, &g,
                                &x->f->info));
    assert_int_equal(feed_exclude_ham(g), 100);
    feed_exclude_free(&g);
    ham_log_close(&m.j);
    struct keyring other = x->f->keys;
    other.ring[0].id++;
    MUST(x->f,
         feed_exclude_new(x->config, &x->config->feeds[0], &other, &g, &x->f->info));
    assert_int_equal(feed_exclude_ham(g), 0);
    feed_exclude_free(&g);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_entry__when_much_good_mail_has_it__then_it_is_left_out),
        TEST(test_entry__when_people_use_a_name__then_a_larger_share_does_not_help),
        TEST(test_update__when_all_of_it_hits_much_good_mail__then_it_is_refused),
        TEST(test_ham_log__when_it_is_of_another_key__then_it_says_nothing),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
