/* Votes of other servers: one owner's speak fully, others' as one newcomer each; none counts twice;
 * what is not whole, not known or too much is left out. */
#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/random.h"
#include "core/config/config_internal.h"
#include "core/report/report_peers.h"
#include "core/report/vote_stream.h"
#include "core/store/origins.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NOW_S = 1800000000, PEERS = 3, RECORDS = 80000 };

struct bench {
    char dir[64];
    struct keyring keys;
    struct config *config;
    struct votes *votes;
    struct report_peers *peers;
    struct origins origins;
    struct origin_row rows[PEERS];
    struct mirror_entry *v; /* of the list under way */
    size_t n;
    size_t at;
};

static void must(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        fail_msg("%s: %s: %s", err_text(e), why->source, why->text);
    }
}

static void write_origins(struct bench *b, unsigned quorum, uint64_t cap)
{
    struct errinfo why;
    char path[FILE_PATH_MAX];

    b->origins = (struct origins){.quorum = quorum, .v = b->rows, .n = PEERS};
    memset(b->origins.self, 255, ORIGIN_BYTES);
    for (unsigned i = 0; i < PEERS; i++) {
        b->rows[i] = (struct origin_row){.cap = cap};
        memset(b->rows[i].origin, (int)i + 1, ORIGIN_BYTES);
        (void)snprintf(b->rows[i].name, sizeof(b->rows[i].name), "peer%u", i);
    }
    (void)snprintf(path, sizeof(path), "%s/peers", b->dir);
    (void)mkdir(path, 0755);
    must(origins_write(b->dir, &b->origins, &why), &why);
}

static void open_votes(struct bench *b)
{
    report_peers_free(&b->peers);
    votes_free(&b->votes);
    b->votes = votes_new(&b->keys.ring[0]);
    assert_non_null(b->votes);
    b->peers = report_peers_new(b->dir, &b->keys, b->votes);
    assert_non_null(b->peers);
}

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct errinfo why;

    assert_non_null(b);
    assert_true(tempdir_make_fast(b->dir));
    must(keyring_load_or_create(b->dir, &b->keys, &why), &why);
    clock_set_for_test((uint64_t)NOW_S * 1000000, 1000000);
    b->config = config_new();
    b->v = calloc(RECORDS, sizeof(*b->v));
    assert_non_null(b->config);
    assert_non_null(b->v);
    write_origins(b, 0, ORIGIN_NO_CAP);
    open_votes(b);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    report_peers_free(&b->peers);
    votes_free(&b->votes);
    config_release(&b->config);
    tempdir_remove(b->dir);
    free(b->v);
    free(b);
    return 0;
}

/* ---- a peer's list ---- */

static void add(struct bench *b, uint64_t id, uint64_t value, unsigned type,
                unsigned nitems, uint64_t time_s)
{
    const struct vote_record r = {.id = id,
                                  .value = value,
                                  .type = (uint16_t)type,
                                  .nitems = (uint8_t)nitems,
                                  .time_s = time_s};

    assert_true(b->n < RECORDS);
    vote_record_print(&r, &b->v[b->n++]);
}

/* A report of one text. */
static void add_report(struct bench *b, uint64_t id, const char *who, bool is_spam,
                       uint64_t text, uint64_t time_s)
{
    unsigned voice = strcmp(who, REPORT_ADMINISTRATOR) == 0 ? BALLOT_ADMIN
                     : strcmp(who, REPORT_TRAP) == 0        ? BALLOT_TRAP
                                                            : BALLOT_PERSON;

    add(b, id, trust_reporter(&b->keys.ring[0], slice_str(who)),
        VOTE_REPORT + 2 * voice + is_spam, 1, time_s);
    add(b, id, time_s, VOTE_TIME, 0, time_s);
    add(b, id, text, VOTE_ITEM + REPORT_EXACT, 0, time_s);
}

static int by_digest(const void *a, const void *b)
{
    const struct mirror_entry *x = a;
    const struct mirror_entry *y = b;

    return digest_cmp(&x->digest, &y->digest);
}

static bool next_entry(void *context, struct mirror_entry *ret)
{
    struct bench *b = context;

    if (b->at == b->n) {
        return false;
    }
    *ret = b->v[b->at++];
    return true;
}

/* Sets (status 0: removes) what was added, in the list of one peer. */
static void say(struct bench *b, unsigned peer, uint8_t status)
{
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];
    struct list_writer *w = NULL;
    struct errinfo why;

    hex_print(b->rows[peer].origin, ORIGIN_BYTES, hex);
    (void)snprintf(folder, sizeof(folder), "%s/peers/lists", b->dir);
    (void)mkdir(folder, 0755);
    (void)snprintf(folder, sizeof(folder), "%s/peers/lists/%s", b->dir, hex);
    (void)mkdir(folder, 0755);
    must(mirror_open(folder, SLICE_LIT(LIST_VOTES), &b->keys, b->keys.ring[0].id, &w,
                     &why),
         &why);
    qsort(b->v, b->n, sizeof(*b->v), by_digest);
    for (size_t i = 0; i < b->n; i++) {
        b->v[i].status = status;
    }
    b->at = 0;
    must(mirror_apply(w, next_entry, b, b->n, SLICE_LIT("peer:a"), &why), &why);
    list_writer_close(&w);
    b->n = 0;
}

static void look(struct bench *b)
{
    report_peers_look(b->peers, b->config, NOW_S);
    report_peers_until(b->peers, UINT64_MAX);
}

static struct votes_opinion opinion_of(struct bench *b, uint64_t text)
{
    const struct votes_item item = {.digest = {text}, .n = 1, .proof = REPORT_EXACT};
    struct votes_opinion o;

    votes_judge(b->votes, &item, 1, 0, NOW_S, &o);
    return o;
}

/* ---- tests ---- */

static void test_look__the_administrator_of_a_server_of_ours__decides_until_undone(
    void **state)
{
    struct bench *b = *state;

    add_report(b, 1000, REPORT_ADMINISTRATOR, true, 5, NOW_S - 60);
    say(b, 0, ENTRY_LISTED);
    look(b);
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_SPAM);
    assert_int_equal(opinion_of(b, 5).nspam, 1);
    assert_int_equal(report_peers_count(b->peers), 1);
    /* an older word that comes later does not overrule the newer one */
    add_report(b, 7, REPORT_ADMINISTRATOR, false, 5, NOW_S - 600);
    say(b, 1, ENTRY_LISTED);
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_SPAM);
    add_report(b, 1000, REPORT_ADMINISTRATOR, true, 5, NOW_S - 60);
    say(b, 0, 0);
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_HAM);
}

static void
test_look__evidence_of_another_server__teaches_once_and_as_before_after_a_start(
    void **state)
{
    struct bench *b = *state;

    for (unsigned start = 0; start < 2; start++) {
        add_report(b, 1, "ann", true, 5, NOW_S - 7200);
        say(b, 0, ENTRY_LISTED);
        add_report(b, 2, REPORT_ADMINISTRATOR, true, 5, NOW_S - 3600);
        say(b, 1, ENTRY_LISTED);
        look(b);
        add_report(b, 3, REPORT_ADMINISTRATOR, true, 5, NOW_S - 1800);
        say(b, 2, ENTRY_LISTED);
        look(b);
        assert_float_equal(votes_trust(b->votes, SLICE_LIT("ann"), NOW_S), 0.0625,
                           1e-3);
        open_votes(b);
    }
    look(b);
    assert_float_equal(votes_trust(b->votes, SLICE_LIT("ann"), NOW_S), 0.0625, 1e-3);
}

static void test_look__a_listed_value__confirms_earlier_reports_of_every_server(
    void **state)
{
    struct bench *b = *state;

    add_report(b, 1, "ann", true, 5, NOW_S - 7200);
    add_report(b, 2, "bob", true, 5, NOW_S - 600);
    say(b, 0, ENTRY_LISTED);
    add(b, NOW_S - 3600, 5, VOTE_LISTED, 0, NOW_S - 3600);
    say(b, 1, ENTRY_LISTED);
    look(b);
    assert_true(votes_trust(b->votes, SLICE_LIT("ann"), NOW_S) > 0.06);
    assert_true(votes_trust(b->votes, SLICE_LIT("bob"), NOW_S) < 0.06);
    add(b, NOW_S - 3600, 5, VOTE_LISTED, 0, NOW_S - 3600);
    say(b, 1, 0);
    look(b);
    assert_true(votes_trust(b->votes, SLICE_LIT("ann"), NOW_S) < 0.06);
}

static void expect_newcomers(struct bench *b, unsigned nspam)
{
    struct votes_opinion o = opinion_of(b, 5);

    assert_int_equal(o.standing, STANDING_OPEN);
    assert_int_equal(o.nspam, nspam);
    assert_int_equal(o.nham, 0);
    assert_false(o.is_decided);
}

static void test_look__servers_of_other_owners__are_one_newcomer_each_for_spam_alone(
    void **state)
{
    struct bench *b = *state;

    for (unsigned i = 0; i < PEERS; i++) {
        add_report(b, 1, REPORT_ADMINISTRATOR, true, 5, NOW_S - 60);
        add_report(b, 2, REPORT_TRAP, true, 5, NOW_S - 60);
        add_report(b, 3, "ann", true, 5, NOW_S - 60);
        add_report(b, 4, "bob", false, 5, NOW_S - 60);
        add(b, NOW_S - 30, 5, VOTE_LISTED, 0, NOW_S);
        say(b, i, ENTRY_LISTED);
    }
    write_origins(b, 2, ORIGIN_NO_CAP); /* a federation */
    look(b);
    expect_newcomers(b, PEERS);
    assert_true(votes_trust(b->votes, SLICE_LIT("ann"), NOW_S) < 0.051);
    write_origins(b, 0, 10); /* one owner, but capped */
    look(b);
    expect_newcomers(b, PEERS);
    write_origins(b, 0, ORIGIN_NO_CAP);
    b->config->peers.quorum = 2;
    look(b);
    expect_newcomers(b, PEERS);
    b->config->peers.quorum = 0;
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_SPAM);
    write_origins(b, 0, 0); /* publishers that are followed */
    look(b);
    expect_newcomers(b, 0);
    assert_int_equal(report_peers_count(b->peers), 0);
}

static void test_look__a_report_that_is_not_whole__waits_for_the_rest(void **state)
{
    struct bench *b = *state;

    add(b, 9, 77, VOTE_REPORT + 2 * BALLOT_ADMIN + 1, 2, NOW_S);
    add(b, 9, NOW_S, VOTE_TIME, 0, NOW_S);
    add(b, 9, 5, VOTE_ITEM + REPORT_EXACT, 0, NOW_S);
    add(b, 10, 5, VOTE_ITEM + REPORT_EXACT, 0, NOW_S);            /* nobody's */
    add(b, 11, 77, VOTE_REPORT + 2 * BALLOT_ADMIN + 1, 1, NOW_S); /* of nothing */
    add(b, 12, 77, VOTE_REPORT + 2 * BALLOT_ADMIN + 1, 1, NOW_S); /* at no time */
    add(b, 12, 5, VOTE_ITEM + REPORT_EXACT, 0, NOW_S);
    say(b, 0, ENTRY_LISTED);
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_OPEN);
    assert_int_equal(report_peers_count(b->peers), 0);
    add(b, 9, 6, VOTE_ITEM + REPORT_EXACT, 0, NOW_S);
    say(b, 0, ENTRY_LISTED);
    look(b);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_SPAM);
    assert_int_equal(opinion_of(b, 6).standing, STANDING_SPAM);
    assert_int_equal(report_peers_count(b->peers), 1);
}

static void test_look__more_than_a_server_may_say__leaves_our_reports_alone(
    void **state)
{
    struct bench *b = *state;
    struct report *own = calloc(1, sizeof(*own));

    assert_non_null(own);
    own->entry = REPORT_GIVEN;
    own->is_spam = true;
    own->time_s = NOW_S;
    own->reporter = SLICE_LIT(REPORT_ADMINISTRATOR);
    own->number = own->id = 1;
    own->items[own->nitems++] = (struct report_item){5, 0, REPORT_EXACT};
    votes_note(b->votes, own);
    free(own);
    for (unsigned i = 0; i < PEERS; i++) {
        for (uint64_t id = 1; id <= RECORDS / 20; id++) {
            add(b, id, id, VOTE_REPORT + 1, 18, NOW_S);
            add(b, id, NOW_S, VOTE_TIME, 0, NOW_S);
            for (uint64_t k = 0; k < 18; k++) {
                add(b, id, 1000 + id * 18 + k, VOTE_ITEM + REPORT_EXACT, 0, NOW_S);
            }
        }
        say(b, i, ENTRY_LISTED);
    }
    look(b);
    assert_true(report_peers_count(b->peers) <= PEERS * VOTE_RECORDS_MAX / 20);
    assert_true(votes_count(b->votes) <= VOTES_FOREIGN_MAX + 1);
    assert_true(votes_count(b->votes) > PEERS * 50000);
    assert_int_equal(opinion_of(b, 5).standing, STANDING_SPAM);
}

static void test_note_foreign__reports_that_come_and_go__use_one_room(void **state)
{
    struct bench *b = *state;
    struct report_item items[VOTE_ITEMS_MAX];

    for (unsigned k = 0; k < VOTE_ITEMS_MAX; k++) {
        items[k] = (struct report_item){1000 + k, 0, REPORT_EXACT};
    }
    struct votes_foreign f = {.reporter = 3,
                              .time_s = NOW_S,
                              .voice = BALLOT_ADMIN,
                              .is_spam = true,
                              .n = VOTE_ITEMS_MAX,
                              .items = items};
    for (uint64_t i = 0; i < 3 * VOTES_FOREIGN_MAX / VOTE_ITEMS_MAX; i++) {
        f.number = VOTES_FOREIGN + i;
        assert_true(votes_note_foreign(b->votes, &f));
        assert_int_equal(opinion_of(b, 1000).standing, STANDING_SPAM);
        votes_take_foreign(b->votes, &f.number, 1);
    }
    assert_int_equal(opinion_of(b, 1000).standing, STANDING_OPEN);
    assert_true(votes_count(b->votes) <= VOTES_FOREIGN_MAX);
}

static void test_look__random_records__are_refused_or_bounded(void **state)
{
    struct bench *b = *state;
    uint64_t word[3];

    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 3000; i++) {
            random_bytes(word, sizeof(word));
            b->v[b->n] = (struct mirror_entry){
                .class_type =
                    (uint16_t)(word[2] % 4 == 0 ? word[2] >> 8 : word[2] >> 8 & 0x13f),
                .expiry_s = NOW_S + 3600 + (uint32_t)(word[2] >> 40)};
            word[0] %= 200; /* many records of one report */
            memcpy(b->v[b->n].digest.b, word, DIGEST_BYTES);
            b->n++;
        }
        say(b, round % PEERS, ENTRY_LISTED);
        look(b);
        assert_true(report_peers_count(b->peers) <= 200 * PEERS);
    }
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    base_init();
    const struct CMUnitTest tests[] = {
        BENCH_TEST(
            test_look__the_administrator_of_a_server_of_ours__decides_until_undone),
        BENCH_TEST(
            test_look__evidence_of_another_server__teaches_once_and_as_before_after_a_start),
        BENCH_TEST(test_look__a_listed_value__confirms_earlier_reports_of_every_server),
        BENCH_TEST(
            test_look__servers_of_other_owners__are_one_newcomer_each_for_spam_alone),
        BENCH_TEST(test_look__a_report_that_is_not_whole__waits_for_the_rest),
        BENCH_TEST(test_look__more_than_a_server_may_say__leaves_our_reports_alone),
        BENCH_TEST(test_note_foreign__reports_that_come_and_go__use_one_room),
        BENCH_TEST(test_look__random_records__are_refused_or_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
