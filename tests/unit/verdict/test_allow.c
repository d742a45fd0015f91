/* test_allow - clients and senders that are accepted. */
#include "tests/unit/verdict/judge.h"

static void test_allow__network_or_login__then_accept_with_score_zero(void **state)
{
    static const uint8_t inside[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
    static const uint8_t outside[16] = {[10] = 0xff, 0xff, 192, 0, 3, 7};
    static struct ipnet net = {.addr = {[10] = 0xff, 0xff, 192, 0, 2}, .prefix = 120};
    static const struct {
        struct verdict_context context;
        bool outgoing;
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        b->context = cases[i].context;
        b->config.outgoing = cases[i].outgoing;
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
    for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++) {
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

static void test_allow__second_from_of_another_domain__then_not_allowed(void **state)
{
    char *domain[] = {TEXT("good.example")};
    struct bench *b = *state;
    add_sender(b);
    b->context.auth = &dmarc_pass;
    b->config.allow_domains = (struct config_strings){1, domain};
    featureset_add(b->features, FEATURE_from, SLICE_LIT("other@mail.good.example"));
    expect_allowed(b, "same domain", true);
    featureset_add(b->features, FEATURE_from, SLICE_LIT("spam@evil.example"));
    expect_allowed(b, "two domains", false);
}

static void test_allow__login_without_skip__then_proof_of_sender(void **state)
{
    char *domain[] = {TEXT("good.example")};
    struct bench *b = *state;
    add_sender(b);
    b->context.is_authenticated = true;
    b->config.outgoing = false;
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
    for (size_t k = 0; k < sizeof(hits) / sizeof(hits[0]); k++) {
        b->found.n = 1;
        add_hit(b, 1, hits[k].type, hits[k].value);
        for (size_t i = 0; i < sizeof(proofs) / sizeof(proofs[0]); i++) {
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
    static const uint16_t types[] = {FEATURE_reply_to,
                                     FEATURE_reply_to_domain,
                                     FEATURE_sender,
                                     FEATURE_helo,
                                     FEATURE_client_name,
                                     FEATURE_return_path,
                                     FEATURE_return_path_domain,
                                     FEATURE_display_name,
                                     FEATURE_dkim_domain,
                                     FEATURE_list_id,
                                     FEATURE_message_id_domain};
    struct bench *b = *state;
    add_sender(b);
    add_list("friends", 0)->is_allow = true;
    b->context.auth = &dmarc_pass;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
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

static void test_allow__list_with_looser_keys_of_urls__then_value_does_not_score(
    void **state)
{
    static const uint16_t types[] = {FEATURE_url, FEATURE_url_exact, FEATURE_url_folded,
                                     FEATURE_url_template};
    struct bench *b = *state;
    add_list("phish", 20);
    add_list("friends", 0)->is_allow = true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        b->found.n = 0;
        add_hit(b, 0, types[i], "good.example/x");
        judge(b);
        assert_int_equal(b->v.action, ACTION_REJECT);
        add_hit(b, 1, types[i], "good.example/x");
        judge(b);
        assert_null(b->v.allow);
        assert_int_equal(b->v.action, ACTION_ACCEPT);
    }
}

static void test_allow__exemptions_over_cap__then_rest_scores(void **state)
{
    static char names[260][24];
    struct bench *b = *state;
    add_list("phish", 20);
    add_list("friends", 0)->is_allow = true;
    for (size_t i = 0; i < 257; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%zu.example", i);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_allow__network_or_login__then_accept_with_score_zero),
        TEST(test_allow__configured_sender__then_only_with_proof),
        TEST(test_allow__near_misses__then_not_allowed),
        TEST(test_allow__second_from_of_another_domain__then_not_allowed),
        TEST(test_allow__login_without_skip__then_proof_of_sender),
        TEST(test_allow__list_of_senders__then_only_with_proof),
        TEST(test_allow__list_with_client__then_accept),
        TEST(test_allow__list_with_reply_to_or_helo__then_no_effect),
        TEST(test_allow__list_with_url__then_value_does_not_score),
        TEST(test_allow__list_with_looser_keys_of_urls__then_value_does_not_score),
        TEST(test_allow__exemptions_over_cap__then_rest_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
