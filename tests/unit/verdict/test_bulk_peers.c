/* test_bulk_peers - bulk by counts of peers: spread mailings, and liars that try to harm a
 * sender. */
#include "core/verdict/rule/counted.h"

#include "tests/unit/verdict/judge.h"

enum { NOW = 2000 * COUNT_DAY_BUCKETS + 7, PEERS_MAX = 29, KEYS = 8, LIARS = 3 };

/* Counts of each key on each server; [0] is this server. */
struct said {
    struct digest digest;
    uint64_t count[PEERS_MAX + 1];
};
static struct said said[KEYS];
static size_t nsaid;
static unsigned npeers;
static struct origin_row rows[PEERS_MAX];
static struct counted counted[KEYS];
static struct feature features_of[KEYS];
static struct message_counts counts;
static struct count_port port;
static struct keyring ring;

static void fake_batch(void *context, struct count_item *items, size_t n)
{
    (void)context;
    (void)items;
    (void)n;
    fail();
}

static void fake_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    (void)context;
    (void)digest;
    (void)ret;
    fail();
}

static bool fake_is_sound(void *context, enum count_window w, double bound)
{
    (void)context;
    (void)w;
    (void)bound;
    return true;
}

static void fake_shares(void *context, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    const struct origins o = {.self = {255}, .quorum = 2, .v = rows, .n = npeers};
    (void)context;
    assert_true(count_breakdown_init(ret, NOW));
    assert_true(count_breakdown_set_origins(ret, &o));
    for (size_t i = 0; i < nsaid; i++) {
        if (memcmp(&said[i].digest, &digest[0], sizeof(digest[0])) != 0) {
            continue;
        }
        for (unsigned p = 0; p <= npeers; p++) {
            struct count_part *s = p == 0 ? &ret->v[0]
                                   : said[i].count[p] > 0
                                       ? count_breakdown_of(ret, rows[p - 1].origin)
                                       : NULL;
            if (s != NULL) {
                s->history.bucket[0] = said[i].count[p];
                s->history.day[0] = said[i].count[p];
            }
        }
    }
    count_breakdown_end(ret);
}

static void begin(unsigned peers)
{
    npeers = peers;
    nsaid = 0;
    counts.n = 0;
}

static int set_up_peers(void **state)
{
    set_up(state);
    struct bench *b = *state;
    port = (struct count_port){.batch = fake_batch,
                               .exact = fake_exact,
                               .is_sound = fake_is_sound,
                               .shares = fake_shares};
    ring = (struct keyring){.n = 1};
    counts = (struct message_counts){.port = &port, .keys = &ring, .v = counted};
    for (unsigned i = 0; i < PEERS_MAX; i++) {
        rows[i] = (struct origin_row){
            .origin = {(uint8_t)(i + 1)}, .cap = 10, .state = ORIGIN_ACTIVE};
        (void)snprintf(rows[i].name, sizeof(rows[i].name), "peer%u", i + 1);
    }
    b->config.count.noise_floor = 0.001;
    b->config.bulk_alone = ACTION_REJECT;
    b->context.counts = &counts;
    begin(0);
    return 0;
}

/* A feature, which the sketch takes for very frequent; counted by each as `by` says. */
static struct counted *saw(enum feature_type type, const char *value,
                           const uint64_t *by)
{
    size_t i = counts.n++;
    features_of[i] = (struct feature){.type = (uint16_t)type, .text = slice_str(value)};
    counted[i] = (struct counted){.feature = &features_of[i]};
    counted[i].digest[0].b[0] = (uint8_t)(i + 1);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        counted[i].value.w[w] = 1000000;
    }
    said[nsaid].digest = counted[i].digest[0];
    memcpy(said[nsaid++].count, by, (npeers + 1) * sizeof(by[0]));
    return &counted[i];
}

static void saw_senders(struct counted *c, const uint64_t *by)
{
    struct digest digest[KEYRING_MAX];
    c->has_distinct = true;
    count_distinct_digest(&ring, c->digest, DISTINCT_SENDER, NOW / COUNT_DAY_BUCKETS,
                          digest);
    said[nsaid].digest = digest[0];
    memcpy(said[nsaid++].count, by, (npeers + 1) * sizeof(by[0]));
}

static struct config_rule *text_rule(struct bench *b, unsigned count)
{
    static struct config_rule rule;
    rule = (struct config_rule){.name = (char *)(uintptr_t) "t",
                                .trait = (char *)(uintptr_t) "",
                                .enabled = true,
                                .type = (char *)(uintptr_t) "text",
                                .window = RULE_1D,
                                .count = count,
                                .score = 20,
                                .spares_newsletters = true};
    b->config.nrules = 1;
    b->config.rules = &rule;
    return &rule;
}

static void test_bulk_peers__when_each_of_thirty_saw_one__then_bulk(void **state)
{
    struct bench *b = *state;
    uint64_t by[PEERS_MAX + 1];
    for (unsigned i = 0; i <= PEERS_MAX; i++) {
        by[i] = 1;
    }
    begin(PEERS_MAX);
    saw(FEATURE_text, "ab", by);
    text_rule(b, 20);
    judge(b);
    has_symbol(
        b, 0, "BULK_T", 20,
        "text=ab seen 30 times in 1d (own 1, peer1 1, peer2 1, peer3 1, peer4 1, "
        "peer5 1, and 24 more servers; 27 of them count)");
    b->config.peers.quorum = 30; /* more than there are */
    judge(b);
    assert_int_equal(b->v.nsymbols, 0);
}

static void test_bulk_peers__when_caps_are_lower_here__then_they_hold(void **state)
{
    static const uint64_t by[] = {5, 30, 8, 9, 0};
    struct bench *b = *state;
    begin(4);
    saw(FEATURE_text, "ab", by);
    text_rule(b, 20);
    judge(b);
    has_symbol(b, 0, "BULK_T", 20,
               "text=ab seen 52 times in 1d (own 5, peer1 30, peer3 9, peer2 8; 22 of "
               "them count)");
    b->config.peers.cap = 7;
    judge(b);
    assert_int_equal(b->v.nsymbols, 0); /* 5 + 7 + 7 */
    b->config.rules[0].count = 19;
    judge(b);
    assert_int_equal(b->v.nsymbols, 1);
}

/* A newsletter as it is counted honestly: by us and five peers; then with what three more say who
 * lie. */
static void judge_newsletter(struct bench *b, const uint64_t honest[9], bool lies)
{
    uint64_t by[3][9];
    for (unsigned key = 0; key < 3; key++) {
        for (unsigned i = 0; i < 9; i++) {
            uint64_t truth = key == 2 ? honest[i] > 0 : honest[i];
            by[key][i] =
                i > 8 - LIARS
                    ? (lies ? (uint64_t)(lrand48() % 3 * lrand48() % 100000) : 0)
                    : truth;
        }
    }
    begin(8);
    struct counted *c = saw(FEATURE_text, "ab", by[0]);
    saw(FEATURE_template_sender, "cd news.example", by[1]);
    saw_senders(c, by[2]);
    judge(b);
}

static void test_bulk_peers__when_three_of_eight_lie__then_a_newsletter_is_unharmed(
    void **state)
{
    struct bench *b = *state;
    const struct extract_auth auth = {.dkim_pass = true,
                                      .dkim_domain = SLICE_LIT("news.example")};
    unsigned nspared = 0;
    text_rule(b, 20);
    featureset_add(b->features, FEATURE_from, SLICE_LIT("us@news.example"));
    featureset_add(b->features, FEATURE_from_domain, SLICE_LIT("news.example"));
    srand48(3);
    for (unsigned round = 0; round < 3000; round++) {
        bool is_proved = round % 2 == 0;
        uint64_t honest[9] = {0};
        uint64_t sum = 0;
        uint64_t most = round % 4 < 2 ? 4 : 15;
        for (unsigned i = 0; i <= 8 - LIARS; i++) {
            honest[i] = (uint64_t)lrand48() % most;
            sum += i > 0 && honest[i] > 10 ? 10 : honest[i];
        }
        b->context.auth = is_proved ? &auth : NULL;
        judge_newsletter(b, honest, true);
        if (sum < 20 || is_proved) {
            assert_true(b->v.score == 0);
            assert_int_equal(b->v.action, ACTION_ACCEPT);
        }
        nspared += b->v.nsymbols > 1;
    }
    assert_true(nspared > 100); /* some were bulk, and spared */
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_peers, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bulk_peers__when_each_of_thirty_saw_one__then_bulk),
        TEST(test_bulk_peers__when_caps_are_lower_here__then_they_hold),
        TEST(test_bulk_peers__when_three_of_eight_lie__then_a_newsletter_is_unharmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
