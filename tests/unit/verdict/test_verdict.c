/*
 * test_verdict - evidence to score and action, and who is let through.
 *
 * The lists are a fake: hits are data here.
 */
#include <math.h>
#include <stdio.h>

#include "core/verdict/verdict.h"

#include "tests/unit/unit.h"

enum { LISTS = 80 };

struct list_reader {
    const char *name;
};
struct listset {
    size_t n;
    struct config_list config[LISTS];
    struct list_reader reader[LISTS];
    bool is_degraded;
};

static struct listset lists;

size_t listset_count(const struct listset *s)
{
    return s->n;
}

bool listset_is_degraded(const struct listset *s)
{
    return s->is_degraded;
}

const struct config_list *listset_config(const struct listset *s, size_t i)
{
    return &s->config[i];
}

const struct list_reader *listset_reader(const struct listset *s, size_t i)
{
    return &s->reader[i];
}

const char *list_reader_name(const struct list_reader *r)
{
    return r->name;
}

/* What verdict_evaluate sees. */
static struct list_hits lookup_hits;
static enum err lookup_result;
static uint64_t lookup_deadline;
static int pins;

const struct listset *listhold_acquire(struct listhold *h)
{
    (void)h;
    pins++;
    return &lists;
}

void listhold_release(struct listhold *h, const struct listset **s)
{
    (void)h;
    pins--;
    *s = NULL;
}

enum err listset_lookup(const struct listset *s, const struct featureset *features,
                        uint64_t deadline_mono_us, struct arena *arena,
                        struct list_hits *ret)
{
    (void)s;
    (void)features;
    (void)arena;
    lookup_deadline = deadline_mono_us;
    *ret = lookup_hits;
    return lookup_result;
}

struct bench {
    struct arena *arena;
    struct featureset *features;
    struct config config;
    struct verdict_context context;
    struct list_hit hits[300];
    struct list_hits found;
    struct verdict v;
};

static int set_up(void **state)
{
    static struct bench b;
    b = (struct bench){.arena = arena_new(1 << 20)};
    b.features = featureset_new(b.arena, 1000);
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        b.config.threshold[a] = HUGE_VAL;
    }
    b.config.threshold[ACTION_HEADER] = 5;
    b.config.threshold[ACTION_QUARANTINE] = 10;
    b.config.threshold[ACTION_REJECT] = 15;
    b.config.skip_authenticated = true;
    b.found.v = b.hits;
    memset(&lists, 0, sizeof lists);
    lookup_result = ERR_OK;
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    arena_free(&b->arena);
    return 0;
}

static struct config_list *add_list(const char *name, double weight)
{
    size_t i = lists.n++;
    lists.reader[i].name = name;
    lists.config[i].weight = weight;
    lists.config[i].enabled = true;
    return &lists.config[i];
}

static void add_hit(struct bench *b, size_t list, uint16_t type, const char *value)
{
    b->hits[b->found.n++] = (struct list_hit){.list = (uint16_t)list,
                                              .report_type = type,
                                              .answer = LIST_CONFIRMED,
                                              .value = slice_str(value)};
}

static void judge(struct bench *b)
{
    verdict_make(&b->config, b->features, &lists, &b->found, &b->context, b->arena,
                 &b->v);
}

static void has_symbol(const struct bench *b, size_t i, const char *name, double score,
                       const char *detail)
{
    assert_true(i < b->v.nsymbols);
    assert_string_equal(b->v.symbols[i].name, name);
    assert_true(fabs(b->v.symbols[i].score - score) < 1e-6);
    assert_int_equal(b->v.symbols[i].detail.n, strlen(detail));
    assert_memory_equal(b->v.symbols[i].detail.p, detail, strlen(detail));
}

static void test_make__no_hits__then_accept_without_symbols(void **state)
{
    struct bench *b = *state;
    add_list("phish", 8);
    judge(b);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    assert_int_equal(b->v.nsymbols, 0);
    assert_null(b->v.allow);
}

static void test_make__several_hits_of_a_list__then_score_once(void **state)
{
    struct bench *b = *state;
    add_list("my-phish_2", 8);
    add_hit(b, 0, FEATURE_url_domain, "evil.example");
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    add_hit(b, 0, FEATURE_from_domain, "evil.example");
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
    has_symbol(b, 0, "LIST_MY_PHISH_2", 8, "url_domain=evil.example (+2 more)");
    assert_true(b->v.score == 8);
    assert_int_equal(b->v.action, ACTION_HEADER);
}

static void test_make__only_confirmed__then_score(void **state)
{
    static const enum list_answer others[] = {LIST_FALSE_POSITIVE, LIST_REVOKED,
                                              LIST_POSSIBLE};
    struct bench *b = *state;
    add_list("phish", 20);
    for (size_t i = 0; i < 3; i++) {
        add_hit(b, 0, FEATURE_url, "evil.example/x");
        b->hits[i].answer = others[i];
    }
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
}

static void test_make__thresholds__then_harshest_reached(void **state)
{
    static const struct {
        double weight;
        enum action action;
    } cases[] = {{4.999, ACTION_ACCEPT},  {5, ACTION_HEADER},  {9.99, ACTION_HEADER},
                 {10, ACTION_QUARANTINE}, {15, ACTION_REJECT}, {1e9, ACTION_REJECT},
                 {-3, ACTION_ACCEPT}};
    struct bench *b = *state;
    struct config_list *list = add_list("phish", 0);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        list->weight = cases[i].weight;
        judge(b);
        assert_int_equal(b->v.action, cases[i].action);
    }
}

static void test_make__decimal_sum__then_reaches_threshold(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < 3; i++) {
        add_list("l", 0.1);
        add_hit(b, i, FEATURE_url, "evil.example/x");
    }
    b->config.threshold[ACTION_HEADER] = 0.3;
    judge(b);
    assert_int_equal(b->v.action, ACTION_HEADER);
}

static void test_make__shadow_list__then_shown_with_zero(void **state)
{
    struct bench *b = *state;
    add_list("phish", 20)->shadow = true;
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    judge(b);
    has_symbol(b, 0, "LIST_PHISH", 0, "shadow, url=evil.example/x");
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    assert_null(b->v.allow);
}

static void test_make__more_lists_than_symbols__then_all_score(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < LISTS; i++) {
        add_list("l", 1);
        add_hit(b, i, FEATURE_url, "evil.example/x");
    }
    judge(b);
    assert_int_equal(b->v.nsymbols, VERDICT_SYMBOLS_MAX);
    assert_true(b->v.score == LISTS);
    has_symbol(b, VERDICT_SYMBOLS_MAX - 1, "OTHERS", LISTS - VERDICT_SYMBOLS_MAX + 1,
               "several symbols");
}

static void test_make__full_arena__then_still_scored(void **state)
{
    struct bench *b = *state;
    add_list("phish", 20);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    while (arena_alloc(b->arena, 64) != NULL) {
    }
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
    assert_true(b->v.limits & LIMIT_FLAG(memory));
}

static void test_make__long_value__then_detail_is_cut(void **state)
{
    struct bench *b = *state;
    char value[5000];
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    add_list("phish", 1);
    add_hit(b, 0, FEATURE_url, value);
    judge(b);
    assert_in_range(b->v.symbols[0].detail.n, 200, 220);
}

static void test_make__limits__then_in_verdict(void **state)
{
    struct bench *b = *state;
    featureset_set_limit(b->features, LIMIT_FLAG(urls));
    b->found.met_deadline = true;
    judge(b);
    assert_int_equal(b->v.limits, LIMIT_FLAG(urls) | LIMIT_FLAG(deadline));
}

static void test_make__degraded_lists__then_in_verdict(void **state)
{
    struct bench *b = *state;
    judge(b);
    assert_false(b->v.is_degraded);
    lists.is_degraded = true;
    judge(b);
    assert_true(b->v.is_degraded);
}

static void test_allow__network_or_login__then_accept_with_score_zero(void **state)
{
    static const uint8_t inside[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
    static const uint8_t outside[16] = {[10] = 0xff, 0xff, 192, 0, 3, 7};
    static struct ipnet net = {.addr = {[10] = 0xff, 0xff, 192, 0, 2}, .prefix = 120};
    static const struct {
        struct verdict_context context;
        bool skip_authenticated;
        const char *allow;
    } cases[] = {
        {{.is_trusted_network = true}, true, "network"},
        {{.client_addr = inside}, true, "network"},
        {{.client_addr = outside}, true, NULL},
        {{.is_authenticated = true}, true, "login"},
        {{.is_authenticated = true}, false, NULL},
    };
    struct bench *b = *state;
    add_list("phish", 20);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    b->config.allow_networks = &net;
    b->config.nallow_networks = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b->context = cases[i].context;
        b->config.skip_authenticated = cases[i].skip_authenticated;
        judge(b);
        if (cases[i].allow == NULL) {
            assert_null(b->v.allow);
            assert_int_equal(b->v.action, ACTION_REJECT);
            continue;
        }
        assert_string_equal(b->v.allow, cases[i].allow);
        assert_int_equal(b->v.action, ACTION_ACCEPT);
        assert_true(b->v.score == 0);
        assert_int_equal(b->v.nsymbols, 2);
        assert_int_equal(strncmp(b->v.symbols[0].name, "ALLOW_", 6), 0);
        has_symbol(b, 1, "LIST_PHISH", 0, "url=evil.example/x");
    }
}

#define AUTH(...) (&(const struct extract_auth){__VA_ARGS__})
#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* Configured strings are not const. */
#define TEXT(text) ((char[]){text})

/* A message from Boss@mail.good.example, envelope bounce@out.good.example. */
static const struct {
    const char *what;
    const struct extract_auth *auth;
    bool is_from_ok;
    bool is_envelope_ok;
} proofs[] = {
    {"nothing", NULL, false, false},
    {"no pass", AUTH(.dkim_domain = S("mail.good.example")), false, false},
    {"dmarc of the domain",
     AUTH(.dmarc_pass = true, .dmarc_domain = S("MAIL.good.example")), true, false},
    {"dmarc of another", AUTH(.dmarc_pass = true, .dmarc_domain = S("evil.example")),
     false, false},
    {"dmarc without domain", AUTH(.dmarc_pass = true), false, false},
    {"dkim of the domain",
     AUTH(.dkim_pass = true, .dkim_domain = S("mail.good.example")), true, false},
    {"dkim of its registrable",
     AUTH(.dkim_pass = true, .dkim_domain = S("good.example")), true, false},
    {"dkim of its suffix", AUTH(.dkim_pass = true, .dkim_domain = S("example")), false,
     false},
    {"dkim of a name that ends alike",
     AUTH(.dkim_pass = true, .dkim_domain = S("l.good.example")), false, false},
    {"dkim below", AUTH(.dkim_pass = true, .dkim_domain = S("x.mail.good.example")),
     false, false},
    {"dkim without domain", AUTH(.dkim_pass = true), false, false},
    {"spf of the envelope", AUTH(.spf_pass = true, .spf_domain = S("out.good.example")),
     false, true},
    {"spf of its parent", AUTH(.spf_pass = true, .spf_domain = S("good.example")),
     false, false},
};

static const struct extract_auth dmarc_pass = {.dmarc_pass = true,
                                               .dmarc_domain = S("mail.good.example")};

static void add_sender(struct bench *b)
{
    featureset_add(b->features, FEATURE_from, SLICE_LIT("Boss@mail.good.example"));
    featureset_add(b->features, FEATURE_from_domain, SLICE_LIT("good.example"));
    featureset_add(b->features, FEATURE_envelope_from,
                   SLICE_LIT("bounce@out.good.example"));
    featureset_add(b->features, FEATURE_envelope_domain, SLICE_LIT("good.example"));
    add_list("phish", 20);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
}

static void expect_allowed(struct bench *b, const char *what, bool is_allowed)
{
    judge(b);
    if ((b->v.allow != NULL) != is_allowed) {
        fail_msg("%s: allow is %s", what, b->v.allow == NULL ? "none" : b->v.allow);
    }
    assert_int_equal(b->v.action, is_allowed ? ACTION_ACCEPT : ACTION_REJECT);
}

static void test_allow__configured_sender__then_only_with_proof(void **state)
{
    char *from[] = {TEXT("Boss@MAIL.good.example")};
    char *envelope[] = {TEXT("bounce@out.good.example")};
    char *domain[] = {TEXT("good.example")};
    struct bench *b = *state;
    add_sender(b);
    for (size_t i = 0; i < sizeof proofs / sizeof proofs[0]; i++) {
        bool from_ok = proofs[i].is_from_ok;
        bool envelope_ok = proofs[i].is_envelope_ok;
        b->context.auth = proofs[i].auth;
        b->config.allow_addresses = (struct config_strings){1, from};
        b->config.allow_domains = (struct config_strings){0, NULL};
        expect_allowed(b, proofs[i].what, from_ok);
        b->config.allow_addresses.v = envelope;
        expect_allowed(b, proofs[i].what, envelope_ok);
        b->config.allow_addresses.n = 0;
        b->config.allow_domains = (struct config_strings){1, domain};
        expect_allowed(b, proofs[i].what, from_ok || envelope_ok);
    }
}

static void test_allow__near_misses__then_not_allowed(void **state)
{
    char *near[] = {TEXT("boss@mail.good.example"), TEXT("Boss@good.example"),
                    TEXT("oss@mail.good.example"), TEXT("Boss@mail.good.exampl")};
    char *near_domains[] = {TEXT("ood.example"), TEXT("mail.good.example.org"),
                            TEXT("x.mail.good.example"), TEXT("le"), TEXT("")};
    struct bench *b = *state;
    add_sender(b);
    b->context.auth = &dmarc_pass;
    b->config.allow_addresses = (struct config_strings){4, near};
    b->config.allow_domains = (struct config_strings){5, near_domains};
    expect_allowed(b, "near", false);
}

static void test_allow__login_without_skip__then_proof_of_sender(void **state)
{
    char *domain[] = {TEXT("good.example")};
    struct bench *b = *state;
    add_sender(b);
    b->context.is_authenticated = true;
    b->config.skip_authenticated = false;
    expect_allowed(b, "no rule", false);
    b->config.allow_domains = (struct config_strings){1, domain};
    expect_allowed(b, "domain", true);
    assert_string_equal(b->v.allow, "domain");
}

static void test_allow__list_of_senders__then_only_with_proof(void **state)
{
    static const struct {
        uint16_t type;
        const char *value;
        bool is_envelope;
    } hits[] = {{FEATURE_from, "Boss@mail.good.example", false},
                {FEATURE_from_domain, "good.example", false},
                {FEATURE_from_domain, "mail.good.example", false},
                {FEATURE_envelope_from, "bounce@out.good.example", true},
                {FEATURE_envelope_domain, "good.example", true}};
    struct bench *b = *state;
    add_sender(b);
    add_list("friends", 0)->is_allow = true;
    for (size_t k = 0; k < sizeof hits / sizeof hits[0]; k++) {
        b->found.n = 1;
        add_hit(b, 1, hits[k].type, hits[k].value);
        for (size_t i = 0; i < sizeof proofs / sizeof proofs[0]; i++) {
            b->context.auth = proofs[i].auth;
            expect_allowed(b, proofs[i].what,
                           hits[k].is_envelope ? proofs[i].is_envelope_ok
                                               : proofs[i].is_from_ok);
        }
    }
    b->context.auth = NULL;
    judge(b);
    has_symbol(b, 1, "LIST_FRIENDS", 0,
               "allow, not authenticated, envelope_domain=good.example");
}

static void test_allow__list_with_client__then_accept(void **state)
{
    struct bench *b = *state;
    add_sender(b);
    add_list("friends", 0)->is_allow = true;
    add_hit(b, 1, FEATURE_client_ip, "192.0.2.0/24");
    expect_allowed(b, "client", true);
    assert_string_equal(b->v.allow, "list");
    has_symbol(b, 0, "ALLOW_FRIENDS", 0, "client_ip=192.0.2.0/24");
    lists.config[1].shadow = true;
    expect_allowed(b, "shadow", false);
}

static void test_allow__list_with_reply_to_or_helo__then_no_effect(void **state)
{
    static const uint16_t types[] = {FEATURE_reply_to, FEATURE_reply_to_domain,
                                     FEATURE_sender, FEATURE_helo, FEATURE_client_name};
    struct bench *b = *state;
    add_sender(b);
    add_list("friends", 0)->is_allow = true;
    b->context.auth = &dmarc_pass;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        b->found.n = 1;
        add_hit(b, 1, types[i], "good.example");
        expect_allowed(b, "type", false);
    }
}

static void test_allow__list_with_url__then_value_does_not_score(void **state)
{
    struct bench *b = *state;
    add_list("phish", 20);
    add_list("friends", 0)->is_allow = true;
    add_hit(b, 0, FEATURE_url_domain, "good.example");
    add_hit(b, 1, FEATURE_url_domain, "good.example");
    judge(b);
    assert_null(b->v.allow);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    has_symbol(b, 0, "LIST_PHISH", 0, "exempt, url_domain=good.example");
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    judge(b);
    has_symbol(b, 0, "LIST_PHISH", 20, "url=evil.example/x");
    assert_int_equal(b->v.action, ACTION_REJECT);
}

static void test_allow__exemptions_over_cap__then_rest_scores(void **state)
{
    static char names[260][24];
    struct bench *b = *state;
    add_list("phish", 20);
    add_list("friends", 0)->is_allow = true;
    for (size_t i = 0; i < 257; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%zu.example", i);
        add_hit(b, 1, FEATURE_url_domain, names[i]);
    }
    add_hit(b, 0, FEATURE_url_domain, names[255]);
    judge(b);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    assert_true(b->v.limits & LIMIT_FLAG(features));
    b->hits[257].value = slice_str(names[256]);
    judge(b);
    assert_int_equal(b->v.action, ACTION_REJECT);
}

static void test_evaluate__lookup__then_pinned_and_judged(void **state)
{
    struct bench *b = *state;
    struct list_hits hits;
    add_list("phish", 8);
    add_hit(b, 0, FEATURE_url, "evil.example/x");
    lookup_hits = b->found;
    lookup_result = ERR_NOMEM;
    verdict_evaluate(&b->config, NULL, b->features, &b->context, 77, b->arena, &b->v,
                     &hits);
    assert_int_equal(lookup_deadline, 77);
    assert_int_equal(pins, 0);
    assert_int_equal(hits.n, 1);
    assert_int_equal(b->v.action, ACTION_HEADER);
    assert_true(b->v.limits & LIMIT_FLAG(memory));
    verdict_evaluate(&b->config, NULL, b->features, &b->context, 0, b->arena, &b->v,
                     NULL);
}

static void test_extract_limits__config__then_all_are_taken(void **state)
{
    struct bench *b = *state;
    struct extract_limits l;
    b->config.limits = (struct config_limits){.message_bytes = 1,
                                              .decoded_bytes = 2,
                                              .headers = 3,
                                              .header_bytes = 4,
                                              .header_field = 5,
                                              .parts = 6,
                                              .mime_depth = 7,
                                              .urls = 8,
                                              .recipients = 9,
                                              .cpu_us = 10};
    verdict_extract_limits(&b->config, &l);
    assert_int_equal(l.mail.message_bytes, 1);
    assert_int_equal(l.mail.decoded_bytes, 2);
    assert_int_equal(l.mail.headers, 3);
    assert_int_equal(l.mail.header_bytes, 4);
    assert_int_equal(l.mail.header_field, 5);
    assert_int_equal(l.mail.parts, 6);
    assert_int_equal(l.mail.depth, 7);
    assert_int_equal(l.urls, 8);
    assert_int_equal(l.recipients, 9);
    assert_int_equal(l.cpu_us, 10);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_make__no_hits__then_accept_without_symbols),
        TEST(test_make__several_hits_of_a_list__then_score_once),
        TEST(test_make__only_confirmed__then_score),
        TEST(test_make__thresholds__then_harshest_reached),
        TEST(test_make__decimal_sum__then_reaches_threshold),
        TEST(test_make__shadow_list__then_shown_with_zero),
        TEST(test_make__more_lists_than_symbols__then_all_score),
        TEST(test_make__full_arena__then_still_scored),
        TEST(test_make__long_value__then_detail_is_cut),
        TEST(test_make__limits__then_in_verdict),
        TEST(test_make__degraded_lists__then_in_verdict),
        TEST(test_allow__network_or_login__then_accept_with_score_zero),
        TEST(test_allow__configured_sender__then_only_with_proof),
        TEST(test_allow__near_misses__then_not_allowed),
        TEST(test_allow__login_without_skip__then_proof_of_sender),
        TEST(test_allow__list_of_senders__then_only_with_proof),
        TEST(test_allow__list_with_client__then_accept),
        TEST(test_allow__list_with_reply_to_or_helo__then_no_effect),
        TEST(test_allow__list_with_url__then_value_does_not_score),
        TEST(test_allow__exemptions_over_cap__then_rest_scores),
        TEST(test_evaluate__lookup__then_pinned_and_judged),
        TEST(test_extract_limits__config__then_all_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
