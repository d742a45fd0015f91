/* test_user - one verdict, and what it comes to for recipients with settings of their own. */
#include <math.h>
#include <stdio.h>

#include "core/verdict/user/user_file.h"
#include "core/verdict/user/user_verdict.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { USERS_MAX = 300, SETS_MAX = 4 };

struct bench {
    struct arena *arena;
    struct featureset *features;
    struct config config;
    struct config_user users[USERS_MAX];
    char *sets[USERS_MAX][SETS_MAX];
    struct config_rule rules[2];
    struct verdict_context context;
    struct extract_auth auth;
    struct slice rcpt[USERS_MAX];
    size_t nrcpt;
    size_t nall;
    struct verdict v;
};

static char rule_replica[] = "replica";
static char rule_quiet[] = "quiet";
static char category[] = "phish";

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
    b.config.bulk_alone = ACTION_HEADER;
    b.config.block_score = 20;
    b.config.users = b.users;
    b.rules[0] = (struct config_rule){.name = rule_replica, .score = 2};
    b.rules[1] = (struct config_rule){.name = rule_quiet, .score = 3, .shadow = true};
    b.config.rules = b.rules;
    b.config.nrules = 2;
    b.config.list_default.weight = 6;
    b.config.list_default.category = category;
    b.context.auth = &b.auth;
    featureset_add(b.features, FEATURE_from, SLICE_LIT("shop@news.example"));
    featureset_add(b.features, FEATURE_envelope_from,
                   SLICE_LIT("bounce@mailer.example"));
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    for (size_t i = 0; i < b->config.nusers; i++) {
        for (size_t k = 0; k < b->users[i].set.n; k++) {
            free(b->users[i].set.v[k]);
        }
        free(b->users[i].name);
    }
    arena_free(&b->arena);
    return 0;
}

/* name has the settings, with blanks between. */
static void set(struct bench *b, const char *name, const char *words)
{
    struct config_user *u = &b->users[b->config.nusers];
    char **v = b->sets[b->config.nusers++];
    struct slice rest = slice_str(words);

    *u = (struct config_user){.name = strdup(name), .set = {.v = v}};
    while (rest.p != NULL) {
        struct slice word = slice_cut(&rest, ' ');
        v[u->set.n++] = strndup(word.p, word.n);
    }
}

static void to(struct bench *b, const char *rcpt)
{
    b->rcpt[b->nrcpt++] = slice_str(rcpt);
    b->nall++;
}

/* A firm score. */
static void scores(struct bench *b, double score)
{
    b->v = (struct verdict){.nsymbols = 0};
    verdict_add_symbol(&b->v, "LIST_", "phish", score, SLICE_LIT("url=x"));
    b->v.action = config_action(&b->config, score);
}

static void judge_with(struct bench *b, struct users *users)
{
    const struct user_case c = {.config = &b->config,
                                .users = users,
                                .features = b->features,
                                .context = &b->context,
                                .rcpt = b->rcpt,
                                .nrcpt = b->nrcpt,
                                .nall = b->nall,
                                .arena = b->arena};
    users_judge(&c, &b->v);
}

static bool has_symbol(const struct bench *b, const char *name)
{
    for (size_t i = 0; i < b->v.nsymbols; i++) {
        if (strcmp(b->v.symbols[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void expect(struct bench *b, enum action action, double score)
{
    judge_with(b, NULL);
    assert_string_equal(action_name(b->v.action), action_name(action));
    assert_true(fabs(b->v.score - score) < 1e-9);
}

/* ---- one recipient ---- */

static void test_one__no_settings__the_sites(void **state)
{
    struct bench *b = *state;

    set(b, "other@b.example", "sensitivity=high");
    to(b, "anna@b.example");
    scores(b, 4);
    expect(b, ACTION_ACCEPT, 4);
    assert_int_equal(b->v.nsymbols, 1);
}

static void test_one__sensitivity__moves_every_threshold(void **state)
{
    static const struct {
        const char *words;
        double score;
        enum action action;
        double required;
    } rows[] = {
        {"sensitivity=high", 3.4, ACTION_ACCEPT, 3.5},
        {"sensitivity=high", 3.5, ACTION_HEADER, 3.5},
        {"sensitivity=high", 10.5, ACTION_REJECT, 10.5},
        {"sensitivity=low", 7.4, ACTION_ACCEPT, 7.5},
        {"sensitivity=low", 15, ACTION_QUARANTINE, 15},
        {"sensitivity=2", 9.9, ACTION_ACCEPT, 10},
        {"thresholds.header=4 sensitivity=high", 3.9, ACTION_ACCEPT, 4},
        {"sensitivity=high thresholds.reject=off", 99, ACTION_QUARANTINE, 7},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)tear_down(state);
        (void)set_up(state);
        struct bench *b = *state;
        set(b, "anna@b.example", rows[i].words);
        to(b, "Anna@b.example");
        scores(b, rows[i].score);
        expect(b, rows[i].action, rows[i].score);
        assert_true(fabs(b->v.required - rows[i].required) < 1e-9);
    }
}

static void test_one__user_and_domain__the_user_wins(void **state)
{
    struct bench *b = *state;

    set(b, "@b.example", "sensitivity=high thresholds.quarantine=6");
    set(b, "anna@b.example", "sensitivity=normal");
    to(b, "anna+shop@b.example");
    scores(b, 5);
    expect(b, ACTION_HEADER, 5);
    scores(b, 4.9);
    expect(b, ACTION_ACCEPT, 4.9);
    scores(b, 6); /* the threshold of the domain stays */
    expect(b, ACTION_QUARANTINE, 6);
}

static void test_one__rules_and_lists__other_scores(void **state)
{
    static const struct {
        const char *words;
        double score;
    } rows[] = {
        {"rules.replica.score=7", 4 + 7},
        {"rules.replica.enabled=false", 4},
        {"rules.replica.shadow=true", 4},
        {"rules.quiet.shadow=false", 4 + 2 + 3},
        {"rules.quiet.shadow=false rules.quiet.score=1", 4 + 2 + 1},
        {"rules.quiet.score=9", 4 + 2},  /* still in shadow */
        {"lists.phish.weight=3", 2 + 2}, /* a hit of a part of the weight of 6 */
        {"lists.phish.enabled=false", 2},
        {"lists.other.enabled=false", 6},
        {"lists.replica.enabled=false", 6}, /* a rule of that name */
        {"rules.cash.score=0", 6 - 0.5},
        {"rules.urgent.enabled=false", 6 - 0.25},
        {"rules.pattern_urgent.score=9", 6},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)tear_down(state);
        (void)set_up(state);
        struct bench *b = *state;
        set(b, "anna@b.example", rows[i].words);
        to(b, "anna@b.example");
        scores(b, 4);
        verdict_add_symbol(&b->v, "TRAIT_", "replica", 2, SLICE_NONE);
        verdict_add_symbol(&b->v, "TRAIT_", "quiet", 0, SLICE_LIT("shadow"));
        verdict_add_symbol(&b->v, "RULE_", "cash", 0.5, SLICE_NONE);
        verdict_add_symbol(&b->v, "BLOCKED_PATTERN_", "urgent", 0.25, SLICE_NONE);
        judge_with(b, NULL);
        if (fabs(b->v.score - rows[i].score - 0.75) > 1e-9) {
            fail_msg("%s: %g, not %g", rows[i].words, b->v.score, rows[i].score + 0.75);
        }
    }
}

/* Bulk alone leads to bulk_alone, values without a quorum to a header: for users as for the site. */
static void test_one__bulk_or_unsure__no_harsher_than_for_the_site(void **state)
{
    struct bench *b = *state;

    set(b, "anna@b.example", "sensitivity=0.1");
    to(b, "anna@b.example");
    for (unsigned kind = SYMBOL_BULK; kind < SYMBOL_KINDS; kind++) {
        scores(b, 0);
        verdict_add_symbol(&b->v, "BULK_", "replica", 4, SLICE_NONE);
        b->v.symbols[1].kind = (enum symbol_kind)kind;
        expect(b, ACTION_HEADER, 4);
    }
}

/* ---- senders ---- */

static void test_sender__blocked__block_score(void **state)
{
    static const char *const words[] = {
        "block.addresses=SHOP@news.example", "block.domains=a.example,news.example",
        "block.addresses=bounce@mailer.example", "block.domains=example"};

    for (size_t i = 0; i < LENGTH(words); i++) {
        (void)tear_down(state);
        (void)set_up(state);
        struct bench *b = *state;
        set(b, "anna@b.example", words[i]);
        to(b, "anna@b.example");
        scores(b, 0);
        expect(b, ACTION_REJECT, 20);
        assert_true(has_symbol(b, "BLOCK"));
    }
}

static void test_sender__allowed__only_with_proof(void **state)
{
    struct bench *b = *state;

    set(b, "anna@b.example", "allow.addresses=shop@news.example");
    to(b, "anna@b.example");
    scores(b, 30);
    expect(b, ACTION_REJECT, 30);
    b->auth = (struct extract_auth){.dmarc_pass = true,
                                    .dmarc_domain = SLICE_LIT("news.example")};
    expect(b, ACTION_ACCEPT, 0);
    assert_string_equal(b->v.allow, "recipient");
}

static void test_sender__more_specific_levels__decide(void **state)
{
    struct bench *b = *state;

    b->auth = (struct extract_auth){.dmarc_pass = true,
                                    .dmarc_domain = SLICE_LIT("news.example")};
    set(b, "@b.example", "block.domains=news.example");
    set(b, "anna@b.example", "allow.domains=news.example");
    set(b, "bob@b.example",
        "allow.domains=news.example block.addresses=shop@news.example");
    to(b, "anna@b.example");
    scores(b, 6);
    expect(b, ACTION_ACCEPT, 0);
    b->nrcpt = 0;
    to(b, "bob@b.example");
    scores(b, 0);
    expect(b, ACTION_REJECT, 20);
    scores(b, 0);
    b->v.allow = "network"; /* of the site: the user is more specific */
    expect(b, ACTION_REJECT, 20);
}

/* ---- several recipients ---- */

static void test_several__disagree__the_mildest_that_loses(void **state)
{
    static const struct {
        const char *words; /* of the second recipient; the first has the site's */
        double score;
        enum action action;
    } rows[] = {
        {"thresholds.reject=off", 16, ACTION_QUARANTINE},
        {"thresholds.reject=off thresholds.quarantine=off", 16, ACTION_HEADER},
        {"sensitivity=4", 16, ACTION_HEADER}, /* the site marks it */
        {"sensitivity=0.1", 4, ACTION_ACCEPT},
        {"sensitivity=0.1", 6, ACTION_HEADER},
        {"sensitivity=0.1", 12, ACTION_QUARANTINE},
        {"block.domains=news.example", 1, ACTION_ACCEPT},
        {"block.domains=news.example", 11, ACTION_QUARANTINE},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        for (unsigned order = 0; order < 2; order++) {
            (void)tear_down(state);
            (void)set_up(state);
            struct bench *b = *state;
            set(b, "anna@b.example", rows[i].words);
            to(b, order == 0 ? "anna@b.example" : "bob@b.example");
            to(b, order == 1 ? "anna@b.example" : "bob@b.example");
            scores(b, rows[i].score);
            expect(b, rows[i].action, rows[i].score);
            assert_true(has_symbol(b, "RECIPIENTS_DISAGREE"));
        }
    }
}

static void test_several__disagree__no_name_in_any_text(void **state)
{
    struct bench *b = *state;

    set(b, "anna@b.example", "block.domains=news.example");
    to(b, "anna@b.example");
    to(b, "bob@b.example");
    scores(b, 6);
    judge_with(b, NULL);
    for (size_t i = 0; i < b->v.nsymbols; i++) {
        assert_int_equal(slice_find_slice(b->v.symbols[i].detail, SLICE_LIT("anna")),
                         b->v.symbols[i].detail.n);
    }
}

static void test_several__agree__their_verdict(void **state)
{
    struct bench *b = *state;

    set(b, "@b.example", "sensitivity=high");
    to(b, "anna@b.example");
    to(b, "bob@b.example");
    scores(b, 4);
    expect(b, ACTION_HEADER, 4);
    assert_false(has_symbol(b, "RECIPIENTS_DISAGREE"));
}

/* As many as are looked at, and one more, who could have the mildest settings of all. */
static void test_several__more_than_are_known__nothing_is_lost(void **state)
{
    struct bench *b = *state;
    static char names[USERS_MAX][32];

    for (unsigned i = 0; i < USER_RECIPIENTS_MAX + 1; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "u%u@b.example", i);
        set(b, names[i], "sensitivity=0.5");
        if (i < USER_RECIPIENTS_MAX) {
            to(b, names[i]);
        }
    }
    scores(b, 16);
    expect(b, ACTION_REJECT, 16);
    to(b, names[USER_RECIPIENTS_MAX]);
    scores(b, 16);
    expect(b, ACTION_HEADER, 16);
    b->nrcpt = 1;
    b->nall = EXTRACT_RECIPIENTS;
    scores(b, 16);
    expect(b, ACTION_REJECT, 16);
    b->nall = EXTRACT_RECIPIENTS + 1;
    scores(b, 16);
    expect(b, ACTION_HEADER, 16);
}

/* ---- the table ---- */

static char no_file[] = "";

static void publish(struct bench *b, const char *text)
{
    struct errinfo why = {.text = ""};
    struct filelock lock = {.fd = -1};
    size_t n = 0;
    enum err e = users_file_lock(&b->config, &lock, &why);

    THEN(e, users_file_compile(&b->config, slice_str(text), NULL, NULL, &n, &why));
    THEN(e, users_file_publish(&b->config, &why));
    filelock_drop(&lock);
    if (e != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

static void test_table__replaced__followed_and_pinned(void **state)
{
    struct bench *b = *state;
    char dir[64];
    struct errinfo why = {.text = ""};
    struct slice words = SLICE_NONE;

    assert_true(tempdir_make_fast(dir));
    b->config.state_dir = dir;
    b->config.users_file = no_file;
    struct users *users = users_new(dir);
    assert_int_equal(users_refresh(users, &why), ERR_OK);
    assert_null(users_acquire(users));
    publish(
        b,
        "# two\n\nanna@b.example   sensitivity=high\n@c.example\tlists.x.weight=1\n");
    assert_int_equal(users_refresh(users, &why), ERR_OK);
    struct users_view *old = users_acquire(users);
    assert_int_equal(users_find(old, SLICE_LIT("anna@b.example"), &words), ERR_OK);
    assert_true(slice_eq(words, SLICE_LIT("sensitivity=high")));
    to(b, "anna@b.example");
    scores(b, 4);
    judge_with(b, users);
    assert_int_equal(b->v.action, ACTION_HEADER);
    publish(b, "anna@b.example sensitivity=low\n");
    assert_int_equal(users_refresh(users, &why), ERR_OK);
    assert_true(slice_eq(words, SLICE_LIT("sensitivity=high"))); /* still pinned */
    users_release(users, &old);
    scores(b, 6);
    judge_with(b, users);
    assert_int_equal(b->v.action, ACTION_ACCEPT);
    users_free(&users);
    (void)tempdir_remove(dir);
}

static unsigned wrong_lines[8];
static size_t nwrong;

static void on_wrong(void *context, unsigned line, const char *why)
{
    (void)context;
    (void)why;
    wrong_lines[nwrong++ % LENGTH(wrong_lines)] = line;
}

static void test_file__wrong_lines__all_named_and_nothing_made(void **state)
{
    struct bench *b = *state;
    char dir[64];
    struct errinfo why = {.text = ""};
    struct filelock lock = {.fd = -1};
    size_t n = 0;
    bool is_compiled = false;

    assert_true(tempdir_make_fast(dir));
    b->config.state_dir = dir;
    b->config.users_file = no_file;
    assert_int_equal(users_file_lock(&b->config, &lock, &why), ERR_OK);
    nwrong = 0;
    assert_int_equal(users_file_compile(&b->config,
                                        SLICE_LIT("# fine\n"
                                                  "anna@b.example\n"
                                                  "anna@b.example sensitivity=high\n"
                                                  "ANNA@b.example sensitivity=low\n"
                                                  "@b.example rules.none.score=1\n"
                                                  "nobody sensitivity=low\n"),
                                        on_wrong, NULL, &n, &why),
                     ERR_SYNTAX);
    assert_int_equal(nwrong, 4);
    assert_int_equal(wrong_lines[0], 2);
    assert_int_equal(wrong_lines[1], 4);
    assert_int_equal(wrong_lines[2], 5);
    assert_int_equal(wrong_lines[3], 6);
    assert_int_equal(
        users_file_is_compiled(&b->config, SLICE_LIT(""), &is_compiled, &why),
        ERR_NOT_FOUND);
    filelock_drop(&lock);
    (void)tempdir_remove(dir);
}

static void test_file__thresholds_out_of_order__refused_with_what_is_inherited(
    void **state)
{
    struct bench *b = *state;
    char dir[64];
    struct errinfo why = {.text = ""};
    struct filelock lock = {.fd = -1};
    size_t n = 0;

    assert_true(tempdir_make_fast(dir));
    b->config.state_dir = dir;
    b->config.users_file = no_file;
    assert_int_equal(users_file_lock(&b->config, &lock, &why), ERR_OK);
    nwrong = 0;
    assert_int_equal(
        users_file_compile(&b->config,
                           SLICE_LIT("a@b.example sensitivity=low sensitivity=low\n"),
                           on_wrong, NULL, &n, &why),
        ERR_SYNTAX);
    assert_int_equal(nwrong, 1);
    nwrong = 0;
    assert_int_equal(
        users_file_compile(
            &b->config,
            SLICE_LIT("a@b.example thresholds.quarantine=3 thresholds.header=off "
                      "thresholds.reject=1\n"
                      "b@b.example thresholds.quarantine=3\n"
                      "c@c.example thresholds.quarantine=3\n"
                      "d@c.example thresholds.quarantine=8 sensitivity=low\n"
                      "e@e.example thresholds.quarantine=8 sensitivity=low\n"
                      "f@f.example thresholds.quarantine=7\n"
                      "@c.example thresholds.header=off\n"
                      "@f.example sensitivity=low\n"),
            on_wrong, NULL, &n, &why),
        ERR_SYNTAX);
    assert_int_equal(nwrong, 3);
    assert_int_equal(wrong_lines[0], 1);
    assert_int_equal(wrong_lines[1], 2);
    assert_int_equal(wrong_lines[2], 6);
    filelock_drop(&lock);
    (void)tempdir_remove(dir);
}

static void expect_change(const char *text, bool does_clear, const char *word,
                          const char *wanted)
{
    struct buf ret;
    const struct slice words[] = {slice_str(word)};

    buf_init(&ret, 1000);
    users_file_change(slice_str(text), "a@b.example", does_clear, words, word != NULL,
                      &ret);
    if (!slice_eq(buf_slice(&ret), slice_str(wanted))) {
        fail_msg("%.*s, not %s", SLICE_ARGS(buf_slice(&ret)), wanted);
    }
    buf_fini(&ret);
}

static void test_file__changed__the_rest_stays(void **state)
{
    static const char text[] = "# x\n\nA@b.example k=1 l=2\nz@b.example k=3\n";
    char one[] = "k=5";
    char none[] = "l=";

    (void)state;
    expect_change(text, false, one, "# x\n\na@b.example l=2 k=5\nz@b.example k=3\n");
    expect_change(text, false, none, "# x\n\na@b.example k=1\nz@b.example k=3\n");
    expect_change(text, true, one, "# x\n\na@b.example k=5\nz@b.example k=3\n");
    expect_change(text, true, NULL, "# x\n\nz@b.example k=3\n");
    expect_change("z@b.example k=3", false, one, "z@b.example k=3\na@b.example k=5\n");
    expect_change("", false, none, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_one__no_settings__the_sites),
        TEST(test_one__sensitivity__moves_every_threshold),
        TEST(test_one__user_and_domain__the_user_wins),
        TEST(test_one__rules_and_lists__other_scores),
        TEST(test_one__bulk_or_unsure__no_harsher_than_for_the_site),
        TEST(test_sender__blocked__block_score),
        TEST(test_sender__allowed__only_with_proof),
        TEST(test_sender__more_specific_levels__decide),
        TEST(test_several__disagree__the_mildest_that_loses),
        TEST(test_several__disagree__no_name_in_any_text),
        TEST(test_several__agree__their_verdict),
        TEST(test_several__more_than_are_known__nothing_is_lost),
        TEST(test_table__replaced__followed_and_pinned),
        TEST(test_file__wrong_lines__all_named_and_nothing_made),
        TEST(test_file__thresholds_out_of_order__refused_with_what_is_inherited),
        TEST(test_file__changed__the_rest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
