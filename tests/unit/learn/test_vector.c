/*
 * test_vector - what gives terms and what does not; vectors as bytes.
 */
#include "core/base/base.h"
#include "core/learn/vector.h"

#include "tests/unit/unit.h"

enum { ARENA = 8 << 20 };

static const struct extract_limits wide = {.mail = {.message_bytes = 1 << 20,
                                                    .decoded_bytes = 1 << 20,
                                                    .headers = 100,
                                                    .header_bytes = 64 << 10,
                                                    .header_field = 16 << 10,
                                                    .parts = 50,
                                                    .depth = 8},
                                           .urls = 100,
                                           .recipients = 100};

static struct arena *arena;

static struct vector vector_of(const char *message)
{
    struct extract_limits limits = wide;
    struct vector v = {.n = 0};
    struct vector_reader *r = vector_reader_new(arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    assert_non_null(r);
    assert_non_null(x);
    extract_raw(x, slice_str(message));
    struct featureset *set = extract_finish(x);
    assert_true(vector_reader_finish(r, x, set, &v));
    return v;
}

static bool has_word(const struct vector *v, enum vector_block block, const char *word)
{
    uint32_t key =
        (uint32_t)block << VECTOR_HASH_BITS | vector_hash(block, slice_str(word));
    for (size_t i = 0; i < v->n; i++) {
        if (v->term[i] == key) {
            return true;
        }
    }
    return false;
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(ARENA);
    return arena != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

#define HEAD "From: Anna <anna@shop.example>\nTo: bert.meyer@garden.example\n"

static void test_vector__a_text__gives_its_words_in_normal_form(void **state)
{
    (void)state;
    struct vector v = vector_of(HEAD "Subject: Cheap Watches\n\nBuy V1agr@ today.\n");
    assert_true(has_word(&v, VECTOR_TEXT, "viagra"));
    assert_true(has_word(&v, VECTOR_TEXT, "buy"));
    assert_true(has_word(&v, VECTOR_SUBJECT, "watches"));
    assert_true(has_word(&v, VECTOR_NAME, "anna"));
    assert_false(has_word(&v, VECTOR_TEXT, "watches"));
}

static void test_vector__what_betrays_a_collection__gives_no_terms(void **state)
{
    (void)state;
    struct vector with = vector_of(
        HEAD
        "Subject: [SPAM] Re: [linux] kernel question\n"
        "Received: from gatherer.example by trap.example; today\n"
        "X-Spam-Flag: YES\nList-Id: <linux.lists.example>\n\n"
        "On Monday Bert wrote:\n> which kernel, meyer\n\nthis one\n-- \nAnna of Sales\n");
    assert_true(has_word(&with, VECTOR_SUBJECT, "kernel"));
    assert_true(has_word(&with, VECTOR_TEXT, "which"));
    assert_false(has_word(&with, VECTOR_SUBJECT, "spam"));
    assert_false(has_word(&with, VECTOR_SUBJECT, "linux"));
    assert_false(has_word(&with, VECTOR_TEXT, "monday")); /* attribution */
    assert_false(has_word(&with, VECTOR_TEXT, "meyer"));  /* recipient */
    assert_false(has_word(&with, VECTOR_TEXT, "sales"));  /* signature */

    struct vector without = vector_of(HEAD "Subject: kernel question\n"
                                           "\n> which kernel, meyer\n\nthis one\n");
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        if (b == VECTOR_SUBJECT || b == VECTOR_TEXT || b == VECTOR_LINK) {
            assert_int_equal(with.count[b], without.count[b]);
        }
    }
}

static void test_vector__text_behind_a_delimiter__counts_if_it_is_long(void **state)
{
    (void)state;
    char message[4096];
    size_t n =
        (size_t)snprintf(message, sizeof(message), HEAD "Subject: x\n\nhello\n-- \n");
    for (unsigned i = 0; i < 60; i++) {
        n += (size_t)snprintf(message + n, sizeof(message) - n,
                              "a line of an offer that goes on\n");
    }
    struct vector v = vector_of(message);
    assert_true(has_word(&v, VECTOR_TEXT, "offer"));
}

static void test_vector__alternatives__give_the_words_of_the_html(void **state)
{
    (void)state;
    struct vector v = vector_of(
        HEAD
        "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/alternative; "
        "boundary=b\n\n--b\nContent-Type: text/plain\n\nhidden words of the plain "
        "text\n--b\nContent-Type: text/html\n\n<p>one two three four five six seven "
        "eight nine ten eleven <a href=\"http://pay.example/login.php\">twelve</a>"
        "</p>\n--b--\n");
    assert_true(has_word(&v, VECTOR_TEXT, "eleven"));
    assert_false(has_word(&v, VECTOR_TEXT, "hidden"));
    assert_true(has_word(&v, VECTOR_LINK_WORD, "login"));
    assert_int_equal(v.kind, VECTOR_NOTICE);
}

/* The terms of the sender's block, in order, a blank behind each. */
static const char *sender_terms(const char *message)
{
    static char text[256];
    static char server[] = "mx.example";
    char *const trusted[] = {server};
    struct extract_limits limits = wide;
    struct vector v = {.n = 0};
    size_t n = 0;
    struct vector_reader *r = vector_reader_new(arena, &limits);
    struct extract *x = extract_new(arena, &limits, trusted, 1);
    assert_non_null(r);
    assert_non_null(x);
    vector_reader_keep_names(r);
    extract_raw(x, slice_str(message));
    struct featureset *set = extract_finish(x);
    assert_true(vector_reader_finish(r, x, set, &v));
    for (size_t i = 0; i < v.n; i++) {
        if (v.term[i] >> VECTOR_HASH_BITS >= VECTOR_SENDER) {
            struct slice name = vector_reader_name(r, v.term[i]);
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s ", (int)name.n,
                                  name.p);
        }
    }
    text[n] = '\0';
    return text;
}

static void test_vector__the_sender__is_a_term_with_what_leads_there(void **state)
{
    (void)state;
    assert_string_equal(sender_terms(HEAD "Subject: x\n\nhello\n"),
                        "from=shop.example ");
    assert_string_equal(sender_terms(HEAD
                                     "Subject: x\nReply-To: a@mail.shop.example\n\n"
                                     "http://www.shop.example/a\n"),
                        "from=shop.example links=own reply=own ");
    assert_string_equal(sender_terms(HEAD
                                     "Subject: x\nReply-To: a@b.example\n\n"
                                     "http://www.shop.example/a http://c.example/\n"),
                        "from=shop.example links=mixed reply=away ");
    assert_string_equal(sender_terms(HEAD "Subject: x\n\nhttp://c.example/\n"),
                        "from=shop.example links=away ");
}

static void test_vector__a_sender_that_a_signature_proves__is_another_term(void **state)
{
    (void)state;
    static const char message[] =
        "Authentication-Results: mx.example; dkim=pass header.d=shop.example\n" HEAD
        "Subject: x\n\nhello\n";
    assert_string_equal(sender_terms(message), "proved=shop.example ");
}

static void test_vector_decode__of_an_encoded_one__gives_the_same(void **state)
{
    (void)state;
    struct vector v =
        vector_of(HEAD "Subject: Cheap Watches\n\nBuy some watches today.\n");
    struct vector back;
    struct buf bytes;
    buf_init(&bytes, VECTOR_BYTES);
    assert_true(vector_encode(&v, &bytes));
    assert_int_equal(vector_decode(arena, buf_slice(&bytes), &back), ERR_OK);
    assert_int_equal(back.n, v.n);
    assert_int_equal(back.kind, v.kind);
    assert_int_equal(back.group, v.group);
    assert_memory_equal(back.count, v.count, sizeof(v.count));
    assert_true(has_word(&back, VECTOR_TEXT, "watches"));
    buf_fini(&bytes);
}

static void test_vector_decode__cut_or_changed_anywhere__stays_in_bounds(void **state)
{
    (void)state;
    struct vector v =
        vector_of(HEAD "Subject: Cheap Watches\n\nBuy some watches today.\n");
    struct vector back;
    struct buf bytes;
    buf_init(&bytes, VECTOR_BYTES);
    assert_true(vector_encode(&v, &bytes));
    struct slice all = buf_slice(&bytes);
    for (size_t n = 0; n < all.n; n++) {
        assert_int_not_equal(vector_decode(arena, slice_head(all, n), &back), ERR_OK);
    }
    for (size_t i = 0; i < all.n; i++) {
        bytes.p[i] = (char)(bytes.p[i] ^ 0x55);
        if (vector_decode(arena, all, &back) == ERR_OK) {
            assert_true(back.n <= VECTOR_TERMS);
        }
        bytes.p[i] = (char)(bytes.p[i] ^ 0x55);
    }
    bytes.p[0] = VECTOR_VERSION + 1;
    assert_int_equal(vector_decode(arena, all, &back), ERR_VERSION);
    buf_fini(&bytes);
}

static void test_vector_kind__of_mail__is_what_the_message_shows(void **state)
{
    (void)state;
    static const struct {
        const char *message;
        enum vector_kind kind;
    } rows[] = {
        {HEAD "Subject: x\n\nlunch at noon?\n", VECTOR_PERSON},
        {HEAD
         "Subject: x\nList-Id: <l.example>\nList-Post: <mailto:l@l.example>\n\nhi\n",
         VECTOR_LIST},
        {HEAD "Subject: x\nList-Unsubscribe: <http://u.example/>\n\nnews\n",
         VECTOR_NOTICE},
        {HEAD "Subject: x\nAuto-Submitted: auto-generated\n\nyour backup ran\n",
         VECTOR_NOTICE},
        {HEAD
         "Subject: x\n\nSehr geehrte Damen und Herren, wir haben Ihre Bestellung "
         "erhalten und werden sie morgen mit der Post an Ihre Adresse schicken. Mit "
         "freundlichen Gruessen Ihre Freunde aus dem Laden nebenan\n",
         VECTOR_LANGUAGE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(vector_of(rows[i].message).kind, rows[i].kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector__a_text__gives_its_words_in_normal_form),
        cmocka_unit_test(test_vector__what_betrays_a_collection__gives_no_terms),
        cmocka_unit_test(test_vector__text_behind_a_delimiter__counts_if_it_is_long),
        cmocka_unit_test(test_vector__alternatives__give_the_words_of_the_html),
        cmocka_unit_test(test_vector__the_sender__is_a_term_with_what_leads_there),
        cmocka_unit_test(
            test_vector__a_sender_that_a_signature_proves__is_another_term),
        cmocka_unit_test(test_vector_decode__of_an_encoded_one__gives_the_same),
        cmocka_unit_test(test_vector_decode__cut_or_changed_anywhere__stays_in_bounds),
        cmocka_unit_test(test_vector_kind__of_mail__is_what_the_message_shows),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
