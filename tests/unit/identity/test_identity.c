/*
 * test_identity - the words of a message, from its header, its results and the store.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/verdict/identity/identity.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { ARENA = 1 << 22, WORDS_TEXT = 512 };

static const struct extract_limits limits = {
    .mail = {.message_bytes = 1 << 20,
             .decoded_bytes = 1 << 20,
             .headers = 100,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 10,
             .depth = 5},
    .urls = 10,
    .recipients = 10,
};
static char our_server[] = "mx.our.example";
static char *const trusted[] = {our_server};

struct site {
    char dir[64];
    struct keyring keys;
    struct contacts *store;
};

static int set_up(void **state)
{
    static struct site s;
    struct errinfo why;
    assert_true(tempdir_make_fast(s.dir));
    assert_int_equal(keyring_load_or_create(s.dir, &s.keys, &why), ERR_OK);
    assert_int_equal(contacts_open(s.dir, &s.keys, &s.store, &why), ERR_OK);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    contacts_close(&s->store);
    assert_int_equal(file_remove_tree(s->dir, NULL), ERR_OK);
    return 0;
}

/* The text's words, and the number of sender domains of its text (0: no counts). */
struct mail {
    const char *text;
    bool has_empty_sender;
    unsigned senders;
    bool learns;
};

static void words_of(struct contacts *store, const struct mail *m, char ret[WORDS_TEXT])
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits, trusted, 1);
    const struct feature text = {.type = FEATURE_text};
    struct counted counted = {.feature = &text,
                              .has_distinct = true,
                              .distinct = {[DISTINCT_SENDER] = m->senders}};
    const struct message_counts counts = {.n = m->senders > 0, .v = &counted};
    struct identity identity;
    size_t used = 0;

    extract_rcpt_to(x, SLICE_LIT("ann@our.example"));
    extract_raw(x, slice_str(m->text));
    struct identity_case c = {.features = extract_finish(x),
                              .auth = extract_auth(x),
                              .conversation = extract_conversation(x),
                              .counts = &counts,
                              .contacts = store,
                              .has_empty_sender = m->has_empty_sender};
    c.nrcpt = extract_recipients(x, &c.rcpt);
    identity_make(&c, &identity);
    ret[0] = '\0';
    for (unsigned w = 0; w < IDENTITY_WORDS; w++) {
        if (identity_has(&identity, (enum identity_word)w)) {
            used += (size_t)snprintf(ret + used, WORDS_TEXT - used, "%s%s",
                                     used > 0 ? " " : "", identity_name(w));
        }
    }
    if (identity.domain.n > 0) {
        (void)snprintf(ret + used, WORDS_TEXT - used, " =%.*s",
                       SLICE_ARGS(identity.domain));
    }
    if (m->learns) {
        identity_learn(&c);
    }
    arena_free(&arena);
}

#define AR          "Authentication-Results: mx.our.example; "
#define FROM        "From: Bob <bob@mail.their.example>\n"
#define PASS        "dmarc=pass header.from=mail.their.example\n"
#define UNSUBSCRIBE "List-Unsubscribe: <https://their.example/u>\n"

static void test_identity_make__header_and_results__give_the_words(void **state)
{
    static const struct {
        struct mail mail;
        const char *words;
    } rows[] = {
        {{FROM "\n", false, 0, false}, ""},
        {{AR "none\n" FROM "\n", false, 0, false}, "results"},
        {{AR "spf=softfail; dkim=fail; dmarc=fail\n" FROM "\n", false, 0, false},
         "results spf_fail dkim_fail dmarc_fail"},
        {{AR "spf=none; dkim=none; dmarc=none; arc=pass\n" FROM "\n", false, 0, false},
         "results arc_pass"},
        {{AR "spf=pass smtp.mailfrom=x.example; dkim=temperror\n" FROM "\n", false, 0,
          false},
         "results spf_pass"},
        {{AR "spf=pass smtp.mailfrom=b@out.their.example\n" FROM "\n", false, 0, false},
         "results spf_pass aligned"},
        {{AR "dmarc=pass header.from=mail.their.example\n" FROM "\n", false, 0, false},
         "results dmarc_pass proved =their.example"},
        /* the signature of a mail provider beside the one of the sender, in any order */
        {{AR "dkim=pass header.d=their.example; dkim=pass header.d=esp.example\n" FROM
             "\n",
          false, 0, false},
         "results dkim_pass aligned proved =their.example"},
        {{AR "dkim=pass header.d=esp.example; dkim=pass header.d=their.example\n" FROM
             "\n",
          false, 0, false},
         "results dkim_pass aligned proved =their.example"},
        {{AR "dkim=pass header.d=esp.example; dkim=fail header.d=their.example\n" FROM
             "\n",
          false, 0, false},
         "results dkim_pass"},
        /* a sister proves that it is the same organisation, not that it may write this From */
        {{AR "dkim=pass header.d=shop.their.example\n" FROM "\n", false, 0, false},
         "results dkim_pass aligned"},
        {{AR "dkim=pass header.d=their.example\nFrom: a@their.example, b@x.example\n\n",
          false, 0, false},
         "results dkim_pass"},
        {{FROM "\n", true, 0, false}, "bounce automatic"},
        {{FROM "Auto-Submitted: auto-replied (vacation)\n\n", false, 0, false},
         "automatic"},
        {{FROM "Auto-Submitted: no\n\n", false, 0, false}, ""},
        {{FROM "Precedence: bulk\n\n", false, 0, false}, "automatic"},
        {{FROM "X-Autoreply: yes\n\n", false, 0, false}, "automatic"},
        {{FROM "Content-Type: Multipart/Report; report-type=disposition-notification;\n"
               " boundary=b\n\n",
          false, 0, false},
         "automatic"},
        {{FROM "Content-Type: multipart/mixed; boundary=b\n\n", false, 0, false}, ""},
        {{FROM "List-Id: <l.their.example>\n\n", false, 0, false}, "automatic"},
        /* a newsletter: proved, with a way out, and a text of this sender alone */
        {{AR "dkim=pass header.d=their.example\n" FROM UNSUBSCRIBE "\n", false, 1,
          false},
         "results dkim_pass aligned proved newsletter =their.example"},
        {{AR "dkim=pass header.d=their.example\n" FROM UNSUBSCRIBE "\n", false, 2,
          false},
         "results dkim_pass aligned proved =their.example"},
        {{AR "dkim=pass header.d=their.example\n" FROM UNSUBSCRIBE "\n", false, 0,
          false},
         "results dkim_pass aligned proved =their.example"},
        {{AR "dkim=pass header.d=their.example\n" FROM "\n", false, 1, false},
         "results dkim_pass aligned proved =their.example"},
        {{FROM UNSUBSCRIBE "\n", false, 1, false}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[WORDS_TEXT];
        words_of(NULL, &rows[i].mail, words);
        if (strcmp(words, rows[i].words) != 0) {
            fail_msg("row %zu: %s gave \"%s\"", i, rows[i].mail.text, words);
        }
    }
}

/* Fields that somebody else wrote, or that say less than they seem to. */
static void test_identity_make__forged_or_odd_results__prove_nothing(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        /* names that are not configured */
        {"Authentication-Results: mx.evil.example; " PASS FROM "\n", ""},
        {"Authentication-Results: mx.our.example.evil.example; " PASS FROM "\n", ""},
        {"Authentication-Results: x.mx.our.example; " PASS FROM "\n", ""},
        {"Authentication-Results: evil.example (mx.our.example); " PASS FROM "\n", ""},
        {"Authentication-Results: evil.example mx.our.example; " PASS FROM "\n", ""},
        {"Authentication-Results: ; mx.our.example; " PASS FROM "\n", ""},
        {"Authentication-Results: " PASS FROM "\n", ""},
        /* other fields, and fields of parts and of messages in the message */
        {"X-Authentication-Results: mx.our.example; " PASS FROM "\n", ""},
        {"ARC-Authentication-Results: i=1; mx.our.example; " PASS FROM "\n", ""},
        {"Received-SPF: pass\nDKIM-Signature: d=mail.their.example; s=a\n" FROM "\n",
         ""},
        {FROM "\n" AR PASS "\n", ""},
        {FROM "Content-Type: multipart/mixed; boundary=b\n\n--b\n" AR PASS
              "\nx\n--b--\n",
         ""},
        {FROM "Content-Type: message/rfc822\n\n" AR PASS FROM "\nx\n", ""},
        /* the first field about a method counts, in any order of others */
        {AR "dmarc=fail\n" AR PASS FROM "\n", "results dmarc_fail"},
        {AR "none\n" AR PASS FROM "\n", "results"},
        {AR "dkim=fail\n" AR "dkim=pass header.d=mail.their.example\n" FROM "\n",
         "results dkim_fail"},
        {"Authentication-Results: mx.evil.example; " PASS AR "dmarc=fail\n" FROM "\n",
         "results dmarc_fail"},
        /* words in comments, quotes and reasons */
        {AR "(dmarc=pass header.from=mail.their.example)\n" FROM "\n", "results"},
        {AR "dmarc=fail (x; dmarc=pass header.from=mail.their.example)\n" FROM "\n",
         "results dmarc_fail"},
        {AR "dmarc=fail (a (b) ; " PASS FROM "\n", "results dmarc_fail"},
        {AR "dmarc=fail reason=\"a; dmarc=pass header.from=mail.their.example\"\n" FROM
            "\n",
         "results dmarc_fail"},
        {AR "dkim=fail reason=\"a\\\"; dkim=pass header.d=mail.their.example\"\n" FROM
            "\n",
         "results dkim_fail"},
        {AR "spf=pass smtp.mailfrom=\"a; dmarc=pass header.from=mail.their.example; \""
            "@x.example\n" FROM "\n",
         "results spf_pass"},
        /* a pass of another domain, of none, or of a public suffix */
        {AR "dmarc=pass header.from=evil.example\n" FROM "\n", "results dmarc_pass"},
        {AR "dmarc=pass\n" FROM "\n", "results dmarc_pass"},
        {AR "dmarc=passed header.from=mail.their.example\n" FROM "\n", "results"},
        {AR "dkim=pass\n" FROM "\n", "results dkim_pass"},
        {AR "dkim=pass header.d=example\n" FROM "\n", "results dkim_pass"},
        {AR "dkim=pass header.d=xmail.their.example.evil.example\n" FROM "\n",
         "results dkim_pass"},
        {AR "dkim=pass header.d=evil.example header.i=@mail.their.example\n" FROM "\n",
         "results dkim_pass"},
        {AR "dkim=pass header.i=\"mail.their.example\"@evil.example\n" FROM "\n",
         "results dkim_pass"},
        {AR "spf=pass smtp.helo=mail.their.example\n" FROM "\n", "results spf_pass"},
        {AR "spf=pass smtp.mailfrom=mail.their.example@evil.example\n" FROM "\n",
         "results spf_pass"},
        {AR "arc=pass header.oldest-pass=1; dmarc=fail\n" FROM "\n",
         "results dmarc_fail arc_pass"},
        /* From of two domains, however they are written */
        {AR PASS FROM "From: x@evil.example\n\n", "results dmarc_pass"},
        {AR PASS "From: x@evil.example\n" FROM "\n", "results dmarc_pass"},
        {AR PASS "From: g: x@evil.example, bob@mail.their.example;\n\n",
         "results dmarc_pass"},
        {AR PASS "From: \"bob@mail.their.example\" <x@evil.example>\n\n",
         "results dmarc_pass"},
        {AR PASS "\nhello\n", "results dmarc_pass"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[WORDS_TEXT];
        words_of(NULL, &(struct mail){.text = rows[i].text}, words);
        if (strcmp(words, rows[i].words) != 0) {
            fail_msg("row %zu: %s gave \"%s\"", i, rows[i].text, words);
        }
    }
}

/* The same proof in each form that a server may write. */
static void test_identity_make__written_otherwise__is_the_same_proof(void **state)
{
    static const char *const rows[] = {
        AR PASS FROM "\n",
        "AUTHENTICATION-RESULTS: MX.Our.Example; DMARC=Pass header.From=MAIL.their.example\n" FROM
        "\n",
        "Authentication-Results: (a;b) mx.our.example (c) 1 (d);\n\tdmarc (e) = (f) pass\n"
        "\theader.from (g) = mail.their.example (h)\n" FROM "\n",
        "Authentication-Results: \"mx.our.example\"; dmarc/1=pass (p=reject) "
        "header.from=mail.their.example.\n" FROM "\n",
        AR "dmarc=pass policy.dmarc=none header.from=\"mail.their.example\"\n" FROM
           "\n",
        AR PASS "From: =?utf-8?q?x=40evil.example?= <BOB@MAIL.their.example>\n\n",
        AR PASS "From: a@mail.their.example, b@mail.their.example\n\n",
        "Authentication-Results: mx.evil.example; dmarc=fail\n" AR PASS FROM "\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[WORDS_TEXT];
        words_of(NULL, &(struct mail){.text = rows[i]}, words);
        if (strcmp(words, "results dmarc_pass proved =their.example") != 0) {
            fail_msg("row %zu: %s gave \"%s\"", i, rows[i], words);
        }
    }
}

static void assert_words(struct contacts *store, const char *text, const char *want)
{
    char words[WORDS_TEXT];
    const struct mail m = {.text = text};
    words_of(store, &m, words);
    if (strcmp(words, want) != 0) {
        fail_msg("%s gave \"%s\"", text, words);
    }
}

static void test_identity_make__we_wrote_to_it__is_correspondent_and_answer(
    void **state)
{
    struct site *s = *state;
    const struct slice to = SLICE_LIT("bob@mail.their.example");
    const struct contacts_sent sent = {.from = SLICE_LIT("eve@our.example"),
                                       .rcpt = &to,
                                       .nrcpt = 1,
                                       .message_id = SLICE_LIT("7.q@our.example")};
    assert_words(s->store, FROM "\n", "first_contact");
    assert_int_equal(contacts_learn_sent(s->store, &sent), ERR_OK);
    assert_words(s->store, FROM "\n", "correspondent");
    assert_words(s->store, FROM "In-Reply-To: <7.q@our.example>\n\n",
                 "correspondent answer");
    assert_words(s->store, FROM "In-Reply-To: <7.Q@our.example>\n\n", "correspondent");
    assert_words(s->store,
                 FROM "References: <1@x> <2@x>\n <3@x><7.q@our.example> <5@x>\n\n",
                 "correspondent answer");
    assert_words(s->store, "From: BOB@Mail.THEIR.example\n\n", "correspondent");
    /* an id of nothing, of another message, or beside the one that was sent */
    assert_words(s->store, FROM "In-Reply-To: <>\n\n", "correspondent");
    assert_words(s->store, FROM "In-Reply-To: 7.q@our.example\n\n", "correspondent");
    assert_words(s->store, FROM "In-Reply-To: <17.q@our.example>\n\n", "correspondent");
    assert_words(s->store, FROM "Message-ID: <7.q@our.example>\n\n", "correspondent");
    /* the address, not the domain, and only one */
    assert_words(s->store,
                 "From: carl@mail.their.example\nIn-Reply-To: <7.q@our.example>\n\n",
                 "");
    assert_words(s->store,
                 "From: bob@mail.their.example, c@mail.their.example\n"
                 "In-Reply-To: <7.q@our.example>\n\n",
                 "");
}

/* Ids of long threads: the last ones are those that are answered. */
static void test_identity_make__many_references__the_last_ones_are_read(void **state)
{
    enum { MANY = 200 };
    struct site *s = *state;
    const struct slice to = SLICE_LIT("bob@mail.their.example");
    const struct contacts_sent sent = {.from = SLICE_LIT("eve@our.example"),
                                       .rcpt = &to,
                                       .nrcpt = 1,
                                       .message_id = SLICE_LIT("7@our.example")};
    char text[MANY * 24];
    size_t n = (size_t)snprintf(text, sizeof(text), FROM "References:");
    assert_int_equal(contacts_learn_sent(s->store, &sent), ERR_OK);
    for (unsigned i = 0; i < MANY; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, " <%u@x.example>\n", i);
    }
    (void)snprintf(text + n, sizeof(text) - n, " <7@our.example>\n\n");
    assert_words(s->store, text, "correspondent answer");
    (void)snprintf(text + n, sizeof(text) - n, "\n");
    assert_words(s->store, text, "correspondent");
}

static void test_identity_learn__accepted_mail__ends_the_first_contact(void **state)
{
    struct site *s = *state;
    char words[WORDS_TEXT];
    const struct mail m = {.text = FROM "\n", .learns = true};
    words_of(s->store, &m, words);
    assert_string_equal(words, "first_contact");
    assert_words(s->store, FROM "\n", "");
    assert_words(s->store, "From: x@their.example\n\n", "");
    assert_words(s->store, "From: x@other.example\n\n", "first_contact");
}

/* Only a list that proves its domain keeps an address from becoming a correspondent. */
static void test_identity_learn__list_post__counts_with_proof_of_its_domain(
    void **state)
{
    static const struct {
        const char *signer;
        bool is_list;
    } rows[] = {{"list.example", true}, {"evil.example", false}};
    struct site *s = *state;
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        char words[WORDS_TEXT];
        char list[64];
        (void)snprintf(list, sizeof(list), "talk%zu@list.example", i);
        (void)snprintf(text, sizeof(text),
                       AR "dkim=pass header.d=%s\n" FROM "List-Post: <mailto:%s?x>\n\n",
                       rows[i].signer, list);
        const struct mail m = {.text = text, .learns = true};
        words_of(s->store, &m, words);
        const struct slice to = slice_str(list);
        const struct contacts_sent sent = {
            .from = SLICE_LIT("ann@our.example"), .rcpt = &to, .nrcpt = 1};
        assert_int_equal(contacts_learn_sent(s->store, &sent), ERR_OK);
        assert_true(contacts_wrote(s->store, sent.from, to) == !rows[i].is_list);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity_make__header_and_results__give_the_words),
        cmocka_unit_test(test_identity_make__forged_or_odd_results__prove_nothing),
        cmocka_unit_test(test_identity_make__written_otherwise__is_the_same_proof),
        TEST(test_identity_make__we_wrote_to_it__is_correspondent_and_answer),
        TEST(test_identity_make__many_references__the_last_ones_are_read),
        TEST(test_identity_learn__accepted_mail__ends_the_first_contact),
        TEST(test_identity_learn__list_post__counts_with_proof_of_its_domain),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
