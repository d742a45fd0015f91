/* test_embargo - who is answered 451, and that nobody is answered twice. */
#include <fcntl.h>
#include <math.h>

#include "core/base/file.h"
#include "core/verdict/embargo/embargo.h"
#include "core/verdict/embargo/embargo_store.h"

#include "tests/unit/tempdir.h"

enum { NOW = 1800000000, MINUTE = 60, HOUR = 3600, DAY = 86400, COUNTS = 8 };

struct world {
    struct tempdir *dir;
    struct arena *arena;
    struct embargo *e;
    struct hashkey key;
    struct config config;
    struct identity identity;
    struct verdict_context context;
    struct message_counts counts;
    struct counted counted[COUNTS];
    struct verdict v;
    struct embargo_recall recall;
};

/* A message; NULL: without that. */
struct mail {
    const char *from;
    const char *domain;
    const char *net;
    const char *band;
    const char *body;
    const char *rcpt[3];
    uint64_t seen_domain; /* this time included */
    uint64_t seen_net;
    double score;
};

static const struct mail first = {.from = "a@new.example",
                                  .domain = "new.example",
                                  .net = "192.0.2.0/24",
                                  .band = "1.00.aa",
                                  .body = "body1",
                                  .rcpt = {"bob@rcpt.example"},
                                  .seen_domain = 1,
                                  .seen_net = 1,
                                  .score = 4};

static void open_again(struct world *w)
{
    embargo_free(&w->e);
    w->e = embargo_new(w->dir->path, &w->key);
    assert_non_null(w->e);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    void *dir = NULL;
    char counts[TEMPDIR_PATH];

    assert_non_null(w);
    tempdir_setup(&dir);
    w->dir = dir;
    (void)snprintf(counts, sizeof(counts), "%s/counts", w->dir->path);
    assert_int_equal(mkdir(counts, 0700), 0);
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        w->config.threshold[a] = HUGE_VAL;
    }
    w->config.embargo = (struct config_embargo){.threshold = 3,
                                                .time_s = (uint64_t)10 * MINUTE,
                                                .keep_s = (uint64_t)36 * HOUR,
                                                .known_s = (uint64_t)30 * DAY};
    w->arena = arena_new(16 << 20);
    w->counts.v = w->counted;
    w->context =
        (struct verdict_context){.counts = &w->counts, .identity = &w->identity};
    open_again(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    void *dir = w->dir;
    embargo_free(&w->e);
    arena_free(&w->arena);
    tempdir_teardown(&dir);
    free(w);
    return 0;
}

static void add(struct world *w, struct featureset *fs, enum feature_type type,
                const char *text, uint64_t seen)
{
    if (text == NULL || !featureset_add(fs, type, slice_str(text))) {
        return;
    }
    struct counted *c = &w->counted[w->counts.n++];
    *c = (struct counted){.feature = featureset_at(fs, featureset_count(fs) - 1)};
    c->value.w[COUNT_14D] = seen;
}

/* Whether the message that comes at this time is answered 451. */
static bool is_held(struct world *w, const struct mail *m, uint64_t now_s)
{
    struct featureset *fs = featureset_new(w->arena, 100);
    struct slice rcpt[3];
    struct embargo_case c = {
        .config = &w->config, .features = fs, .rcpt = rcpt, .now_s = now_s};

    w->counts.n = 0;
    add(w, fs, FEATURE_from, m->from, m->seen_domain);
    add(w, fs, FEATURE_from_domain, m->domain, m->seen_domain);
    add(w, fs, FEATURE_envelope_domain, m->domain, m->seen_domain);
    add(w, fs, FEATURE_client_net, m->net, m->seen_net);
    add(w, fs, FEATURE_text_band, m->band, 1);
    add(w, fs, FEATURE_body, m->body, 1);
    while (c.nrcpt < LENGTH(rcpt) && m->rcpt[c.nrcpt] != NULL) {
        rcpt[c.nrcpt] = slice_str(m->rcpt[c.nrcpt]);
        c.nrcpt++;
    }
    c.ndeliveries = c.nrcpt;
    bool is_allowed = w->v.allow != NULL;
    w->v = (struct verdict){.score = m->score, .action = w->v.action};
    w->v.allow = is_allowed ? "network" : NULL;
    embargo_recall(w->e, &c, &w->recall);
    c.context = &w->context;
    embargo_judge(w->e, &c, &w->recall, w->arena, &w->v);
    return w->v.is_embargoed;
}

static void has_detail(const struct world *w, const char *name, const char *detail)
{
    assert_int_equal(w->v.nsymbols, 1);
    assert_string_equal(w->v.symbols[0].name, name);
    assert_int_equal(w->v.symbols[0].detail.n, strlen(detail));
    assert_memory_equal(w->v.symbols[0].detail.p, detail, strlen(detail));
    assert_true(w->v.symbols[0].score == 0);
}

static void test_first_contact__grey__held_once(void **state)
{
    struct world *w = *state;

    assert_true(is_held(w, &first, NOW));
    has_detail(w, "EMBARGO", "first contact, for 600 s");
    assert_false(embargo_is_retry(&w->recall));
    assert_false(is_held(w, &first, NOW + 612));
    has_detail(w, "EMBARGOED", "came back after 612 s");
    assert_true(embargo_is_retry(&w->recall));
    /* a duplicate of it later is a message of its own */
    assert_false(is_held(w, &first, NOW + HOUR));
    assert_false(embargo_is_retry(&w->recall));
}

static void test_retry__too_early_or_at_any_time__never_held_again(void **state)
{
    struct world *w = *state;
    static const unsigned after[] = {0, 1, 59, 599, 600, HOUR, DAY, 36 * HOUR - 1};

    for (size_t i = 0; i < LENGTH(after); i++) {
        struct mail m = first;
        char body[16];
        char domain[32];
        (void)snprintf(body, sizeof(body), "body %zu", i);
        (void)snprintf(domain, sizeof(domain), "d%zu.example", i);
        m.body = body;
        m.domain = domain;
        assert_true(is_held(w, &m, NOW));
        assert_false(is_held(w, &m, NOW + after[i]));
    }
}

static void test_retry__from_another_network_or_with_fewer_recipients__not_held(
    void **state)
{
    struct world *w = *state;
    struct mail two = first;
    struct mail moved = first;

    two.rcpt[1] = "carol@rcpt.example";
    assert_true(is_held(w, &two, NOW));
    moved.net = "198.51.100.0/24";
    moved.rcpt[0] = "carol@rcpt.example";
    moved.rcpt[1] = "dave@rcpt.example";
    assert_false(is_held(w, &moved, NOW + 5));
}

static void test_other_copies__within_the_time__held_once_each(void **state)
{
    struct world *w = *state;
    struct mail other = first;

    assert_true(is_held(w, &first, NOW));
    other.rcpt[0] = "carol@rcpt.example";
    other.body = "body2";
    other.seen_domain = other.seen_net = 2; /* no first contact any more */
    assert_true(is_held(w, &other, NOW + 100));
    assert_false(is_held(w, &other, NOW + 110));
    other.rcpt[0] = "dave@rcpt.example";
    assert_false(is_held(w, &other, NOW + 600));
    other.rcpt[0] = "erin@rcpt.example";
    other.net = "198.51.100.0/24"; /* another kind, and no first contact */
    assert_false(is_held(w, &other, NOW + 100));
}

static void test_kind__came_back_after_the_time__known_for_long(void **state)
{
    struct world *w = *state;
    struct mail later = first;

    assert_true(is_held(w, &first, NOW));
    assert_false(is_held(w, &first, NOW + 700));
    later.body = "body9";
    assert_false(is_held(w, &later, NOW + 29 * DAY));
    later.rcpt[0] = "carol@rcpt.example"; /* seen again: known for 30 days from there */
    assert_false(is_held(w, &later, NOW + 58 * DAY));
    assert_true(is_held(w, &later, NOW + 89 * DAY));
}

static void test_kind__never_came_back__forgotten_after_keep(void **state)
{
    struct world *w = *state;

    assert_true(is_held(w, &first, NOW));
    assert_true(is_held(w, &first, NOW + 36 * HOUR));
}

static void test_proved_domain__another_network__same_kind(void **state)
{
    struct world *w = *state;
    struct mail other = first;

    w->identity = (struct identity){.words = UINT64_C(1) << IDENTITY_proved,
                                    .domain = SLICE_LIT("new.example")};
    assert_true(is_held(w, &first, NOW));
    assert_false(is_held(w, &first, NOW + 700));
    other.body = "body2";
    other.net = "198.51.100.0/24";
    assert_false(is_held(w, &other, NOW + 701));
    /* of an unproved one the network counts */
    w->identity = (struct identity){.words = 0};
    assert_true(is_held(w, &other, NOW + 702));
}

static void test_exempt__each__not_held(void **state)
{
    struct world *w = *state;
    static const enum identity_word words[] = {IDENTITY_correspondent, IDENTITY_answer,
                                               IDENTITY_newsletter};

    for (size_t i = 0; i < LENGTH(words); i++) {
        w->identity.words = UINT64_C(1) << words[i] | UINT64_C(1)
                                                          << IDENTITY_first_contact;
        assert_false(is_held(w, &first, NOW));
    }
    w->identity.words = 0;
    bool *flag[] = {&w->context.is_trusted_network, &w->context.is_authenticated,
                    &w->context.is_outgoing};
    for (size_t i = 0; i < LENGTH(flag); i++) {
        *flag[i] = true;
        assert_false(is_held(w, &first, NOW));
        *flag[i] = false;
    }
    w->v.allow = "network";
    assert_false(is_held(w, &first, NOW));
    w->v.allow = NULL;
    assert_true(is_held(w, &first, NOW));
}

static void test_score__below_or_a_harsher_action__not_held(void **state)
{
    struct world *w = *state;
    struct mail low = first;

    low.score = 2.9;
    assert_false(is_held(w, &low, NOW));
    w->v.action = ACTION_DEFER;
    assert_false(is_held(w, &first, NOW));
    w->v.action = ACTION_QUARANTINE;
    assert_true(is_held(w, &first, NOW));
    w->config.embargo.threshold = HUGE_VAL;
    w->v.action = ACTION_ACCEPT;
    low = first;
    low.rcpt[0] = "carol@rcpt.example";
    assert_false(is_held(w, &low, NOW));
}

static void test_first_contact__by_counts_and_identity(void **state)
{
    struct world *w = *state;
    struct mail m = first;

    m.seen_domain = m.seen_net = 2;
    assert_false(is_held(w, &m, NOW));
    m.seen_net = 1; /* a known name from a new network */
    assert_true(is_held(w, &m, NOW));
    m.body = "2";
    m.domain = "proved.example";
    w->identity = (struct identity){.words = UINT64_C(1) << IDENTITY_proved,
                                    .domain = SLICE_LIT("proved.example")};
    assert_false(is_held(w, &m, NOW)); /* proves that it is known */
    w->identity.words |= UINT64_C(1) << IDENTITY_first_contact;
    assert_true(is_held(w, &m, NOW));
    w->identity.words = 0;
    w->context.counts = NULL; /* nothing is counted: nobody is known to be new */
    m.body = "3";
    m.domain = "third.example";
    assert_false(is_held(w, &m, NOW));
}

static void test_no_body_or_recipients_unknown__not_held(void **state)
{
    struct world *w = *state;
    struct mail m = first;

    m.body = NULL;
    assert_false(is_held(w, &m, NOW));
    m = first;
    m.rcpt[0] = NULL;
    assert_false(is_held(w, &m, NOW));
    m = first;
    m.domain = NULL;
    assert_false(is_held(w, &m, NOW));
}

static void test_store__opened_again__remembers(void **state)
{
    struct world *w = *state;

    assert_true(is_held(w, &first, NOW));
    open_again(w);
    assert_false(is_held(w, &first, NOW + 1));
}

/* An entry with a wrong byte is no entry; the header with one: a new file. */
static void test_store__damaged__starts_anew_and_goes_on(void **state)
{
    struct world *w = *state;
    const char *path = tempdir_file(w->dir, STATE_EMBARGO_FILE);

    assert_true(is_held(w, &first, NOW));
    int fd = open(path, O_RDWR);
    assert_true(fd != -1);
    assert_true(file_write_at(fd, 3, SLICE_LIT("x")));
    (void)close(fd);
    open_again(w);
    assert_true(is_held(w, &first, NOW + 1));
    assert_false(is_held(w, &first, NOW + 2));
}

static void test_store__cannot_be_made__nobody_is_held(void **state)
{
    struct world *w = *state;
    char counts[TEMPDIR_PATH];

    (void)snprintf(counts, sizeof(counts), "%s/counts", w->dir->path);
    assert_int_equal(rmdir(counts), 0);
    assert_false(is_held(w, &first, NOW));
    assert_int_equal(mkdir(counts, 0700), 0);
}

static void test_store__bucket_full__refuses_and_reuses_old_ones(void **state)
{
    struct world *w = *state;
    struct embargo_store *s = NULL;
    struct embargo_entry e = {.time_s = NOW, .hours = 1};
    struct embargo_entry found;

    assert_int_equal(embargo_store_open(tempdir_file(w->dir, "store"), &s, NULL),
                     ERR_OK);
    for (uint64_t i = 1; i <= EMBARGO_SLOTS; i++) {
        e.key = i * EMBARGO_BUCKETS + 7;
        assert_int_equal(embargo_store_put(s, &e, NOW), ERR_OK);
    }
    e.key = UINT64_C(1000) * EMBARGO_BUCKETS + 7;
    assert_int_equal(embargo_store_put(s, &e, NOW + 3599), ERR_NOSPACE);
    assert_int_equal(embargo_store_find(s, e.key, NOW, &found), ERR_NOT_FOUND);
    e.key = UINT64_C(9) * EMBARGO_BUCKETS + 7;
    e.is_back = true;
    e.hours = EMBARGO_HOURS_MAX;
    assert_int_equal(embargo_store_put(s, &e, NOW + 3599), ERR_OK); /* its own slot */
    e.key = UINT64_C(1000) * EMBARGO_BUCKETS + 7;
    assert_int_equal(embargo_store_put(s, &e, NOW + 3600), ERR_OK);
    for (uint64_t i = 1; i <= EMBARGO_SLOTS; i++) {
        enum err want = i == 9 ? ERR_OK : ERR_NOT_FOUND;
        assert_int_equal(
            embargo_store_find(s, i * EMBARGO_BUCKETS + 7, NOW + 3600, &found), want);
        assert_true(want != ERR_OK || (found.is_back && found.time_s == NOW &&
                                       found.hours == EMBARGO_HOURS_MAX));
    }
    embargo_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        CASE(test_first_contact__grey__held_once),
        CASE(test_retry__too_early_or_at_any_time__never_held_again),
        CASE(test_retry__from_another_network_or_with_fewer_recipients__not_held),
        CASE(test_other_copies__within_the_time__held_once_each),
        CASE(test_kind__came_back_after_the_time__known_for_long),
        CASE(test_kind__never_came_back__forgotten_after_keep),
        CASE(test_proved_domain__another_network__same_kind),
        CASE(test_exempt__each__not_held),
        CASE(test_score__below_or_a_harsher_action__not_held),
        CASE(test_first_contact__by_counts_and_identity),
        CASE(test_no_body_or_recipients_unknown__not_held),
        CASE(test_store__opened_again__remembers),
        CASE(test_store__damaged__starts_anew_and_goes_on),
        CASE(test_store__cannot_be_made__nobody_is_held),
        CASE(test_store__bucket_full__refuses_and_reuses_old_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
