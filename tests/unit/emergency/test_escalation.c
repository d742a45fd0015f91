/* test_escalation - domains that count as listed for a while: when, for how long, and which never. */
#include "core/verdict/emergency/escalation.h"

#include "tests/unit/verdict/judge.h"

enum { NOW = 1800000000, URLS = 5, WINDOW = 600, LASTS = 3600 };

struct world {
    struct bench *b;
    struct escalation *e;
};

static unsigned nnew;

static void on_new(const struct escalated *d)
{
    (void)d;
    nnew++;
}

static int begin(void **state)
{
    static struct world w;
    static char category[] = "phish";
    void *b = NULL;

    set_up(&b);
    w = (struct world){.b = b, .e = escalation_new()};
    w.b->config.emergency.escalate = URLS;
    w.b->config.emergency.escalate_window_s = WINDOW;
    w.b->config.emergency.escalate_for_s = LASTS;
    add_list("phish", 6)->category = category;
    nnew = 0;
    *state = &w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;
    void *b = w->b;
    escalation_free(&w->e);
    return tear_down(&b);
}

/* A message with one confirmed URL below the domain. */
static void see(struct world *w, const char *domain, unsigned n, uint64_t now_s)
{
    char url[300];

    (void)snprintf(url, sizeof(url), "www.%s/%u", domain, n);
    arena_reset(w->b->arena);
    w->b->features = featureset_new(w->b->arena, 10);
    assert_true(featureset_add(w->b->features, FEATURE_url_domain, slice_str(domain)));
    w->b->found.n = 0;
    add_hit(w->b, 0, FEATURE_url, url);
    escalation_note(w->e,
                    &(struct escalation_case){.config = &w->b->config,
                                              .features = w->b->features,
                                              .lists = &lists,
                                              .hits = &w->b->found,
                                              .now_s = now_s},
                    on_new);
}

static void see_many(struct world *w, const char *domain, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        see(w, domain, i, NOW);
    }
}

static const struct escalated *find(const struct world *w, const char *domain,
                                    uint64_t now_s)
{
    return escalation_find(w->e, slice_str(domain), now_s);
}

static void test_urls__enough_in_the_window__until_the_end(void **state)
{
    struct world *w = *state;

    see_many(w, "evil.example", URLS - 1);
    see(w, "evil.example", 0, NOW); /* the same again is no other */
    assert_null(find(w, "evil.example", NOW));
    see(w, "evil.example", 77, NOW + 10);
    const struct escalated *d = find(w, "evil.example", NOW + 10);
    assert_non_null(d);
    assert_int_equal(d->nurls, URLS);
    assert_string_equal(d->list, "phish");
    assert_string_equal(d->category, "phish");
    assert_int_equal(d->from_s, NOW + 10);
    assert_non_null(find(w, "evil.example", NOW + 10 + LASTS - 1));
    assert_null(find(w, "evil.example", NOW + 10 + LASTS));
    assert_null(find(w, "vil.example", NOW + 10));
    assert_int_equal(nnew, 1);
    assert_int_equal(escalation_list(w->e, NOW + 10, NULL, 0), 1);
    assert_true(escalation_drop(w->e, SLICE_LIT("evil.example")));
    assert_false(escalation_drop(w->e, SLICE_LIT("evil.example")));
    assert_null(find(w, "evil.example", NOW + 10));
}

static void test_urls__over_more_than_the_window__not(void **state)
{
    struct world *w = *state;

    for (unsigned i = 0; i < 100; i++) {
        see(w, "slow.example", i, NOW + (uint64_t)i * (WINDOW / (URLS - 1)));
    }
    assert_null(find(w, "slow.example", NOW));
    assert_int_equal(nnew, 0);
}

static void test_names__exempt__never(void **state)
{
    struct world *w = *state;
    static char own_name[] = "mine.example";
    static char friends_name[] = "shop.friend.example";
    static char *mine[] = {own_name};
    static char *allowed[] = {friends_name};
    static const char *const names[] = {
        "google.com", "microsoft.com", "sites.google.com",
        "bit.ly",     "blogspot.com",  "github.io",
        "co.uk",      "mine.example",  "friend.example"};

    w->b->config.protected_domains = (struct config_strings){1, mine};
    w->b->config.allow_domains = (struct config_strings){1, allowed};
    for (size_t i = 0; i < LENGTH(names); i++) {
        see_many(w, names[i], 3 * URLS);
        assert_null(find(w, names[i], NOW));
    }
    see_many(w, "customer.github.io",
             URLS); /* one stranger's name, not the host of all */
    assert_non_null(find(w, "customer.github.io", NOW));
}

static void test_hits__that_are_no_evidence__not(void **state)
{
    struct world *w = *state;

    lists.config[0].shadow = true;
    see_many(w, "evil.example", 2 * URLS);
    lists.config[0].shadow = false;
    lists.config[0].is_allow = true;
    see_many(w, "evil.example", 2 * URLS);
    lists.config[0].is_allow = false;
    lists.config[0].weight = 0;
    see_many(w, "evil.example", 2 * URLS);
    lists.config[0].weight = 6;
    lists.origin[0] = "a-peer";
    see_many(w, "evil.example", 2 * URLS);
    lists.origin[0] = NULL;
    assert_null(find(w, "evil.example", NOW));
    w->b->config.emergency.escalate = 0;
    see_many(w, "evil.example", 2 * URLS);
    assert_null(find(w, "evil.example", NOW));
}

/* Memory is bounded: what was seen longest ago, or ends first, makes room. */
static void test_domains__more_than_there_is_room_for__oldest_go(void **state)
{
    struct world *w = *state;
    char name[64];

    for (unsigned d = 0; d < 2 * ESCALATION_DOMAINS_MAX; d++) {
        (void)snprintf(name, sizeof(name), "d%u.example", d);
        for (unsigned i = 0; i < URLS; i++) {
            see(w, name, i, NOW + d);
        }
        assert_non_null(find(w, name, NOW + d));
    }
    assert_int_equal(escalation_list(w->e, NOW + 600, NULL, 0), ESCALATION_DOMAINS_MAX);
    for (unsigned d = 0; d < 3 * ESCALATION_WATCHED_MAX; d++) {
        (void)snprintf(name, sizeof(name), "w%u.example", d);
        see(w, name, 0, NOW + 600 + d);
    }
    see_many(w, "evil.example", URLS);
    assert_non_null(find(w, "evil.example", NOW));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(test_urls__enough_in_the_window__until_the_end),
        CASE(test_urls__over_more_than_the_window__not),
        CASE(test_names__exempt__never),
        CASE(test_hits__that_are_no_evidence__not),
        CASE(test_domains__more_than_there_is_room_for__oldest_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
