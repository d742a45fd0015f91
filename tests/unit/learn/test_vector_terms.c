/*
 * test_vector_terms - the terms of header, parts, HTML, links and text, by their names.
 */
#include "core/base/base.h"
#include "core/learn/vector.h"

#include "tests/unit/unit.h"

enum { ARENA = 8 << 20, TEXT = 8192 };

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
static char text[TEXT];

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

/* The vector of a message, and its reader with the names of the terms. */
static const struct vector_reader *read_message(const char *message, struct vector *ret)
{
    struct extract_limits limits = wide;
    arena_reset(arena);
    struct vector_reader *r = vector_reader_new(arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    assert_true(r != NULL && x != NULL);
    vector_reader_keep_names(r);
    extract_raw(x, slice_str(message));
    struct featureset *set = extract_finish(x);
    assert_true(vector_reader_finish(r, x, set, ret));
    return r;
}

/* The terms of these blocks (a bit for each) in their order, a blank behind each. */
static const char *terms_of(const char *message, unsigned blocks)
{
    struct vector v = {.n = 0};
    const struct vector_reader *r = read_message(message, &v);
    size_t n = 0;
    for (size_t i = 0; i < v.n; i++) {
        if ((blocks & 1U << (v.term[i] >> VECTOR_HASH_BITS)) != 0) {
            struct slice name = vector_reader_name(r, v.term[i]);
            n +=
                (size_t)snprintf(text + n, sizeof(text) - n, "%.*s ", SLICE_ARGS(name));
        }
    }
    text[n] = '\0';
    return text;
}

#define HEAD "From: Anna <anna@shop.example>\nSubject: x\n"

#define ONLY(block) (1U << (block))

/* The terms of the header behind those that every message here has. */
static void test_field__of_each_kind__then_its_form(void **state)
{
    static const struct {
        const char *fields;
        const char *terms;
    } rows[] = {
        {"Message-ID: <Ab12.CD-3xyz@a.example>\n",
         "message-id=Aa9.A-9a has=Message-ID no-mailer "},
        {"Message-ID: Ab12@a.example\n", "message-id=Aa9 has=Message-ID no-mailer "},
        {"Message-Id: <12>\n", "message-id=9> has=Message-Id no-mailer "},
        {"X-Mailer: Big Mailer 9.1 (x64) and more words\n",
         "mailer=big mailer  x and mo "},
        {"User-Agent: 1.2\n", "mailer= "},
        {"X-Priority: 3 (Normal)\n", "priority=3 no-mailer "},
        {"References: <a@b.example>\nIn-Reply-To: <a@b.example>\n",
         "answer no-mailer "},
        {"MIME-Version: 1.0\nContent-Type: text/plain; format=flowed\n",
         "has=MIME-Version content-type~format=flowed has=Content-Type no-mailer "},
        {"Content-Type: multipart/mixed; boundary=\"--=_Part_1.2ab\"\n",
         "boundary=\"--=_Aa_9.9a has=Content-Type no-mailer "},
        {"Content-Type: multipart/mixed; boundary=abc1;x\n",
         "boundary=a9 has=Content-Type no-mailer "},
        {"reply-to: <a@b.example>\n", "has=reply-to no-mailer "},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char message[512];
        char terms[512];
        (void)snprintf(message, sizeof(message), HEAD "%s\nhi\n", rows[i].fields);
        (void)snprintf(terms, sizeof(terms), "%sfrom-top=example ", rows[i].terms);
        assert_string_equal(terms_of(message, ONLY(VECTOR_FIELD)), terms);
    }
}

static void test_field__with_encoded_names__then_how_they_are_encoded(void **state)
{
    static const struct {
        const char *message;
        const char *terms;
    } rows[] = {
        {"From: \"A, B\" <x12345678901234567@shop.example>\n"
         "Subject: =?utf-8*en?Q?a?=\n\nhi\n",
         "from-quoted subject-charset=utf-8 encoding=q no-mailer from-digits from-long "
         "from-top=example "},
        {"From: =?ISO-8859-1?b?YQ==?= <a12@shop.example>\nSubject: x\n\nhi\n",
         "from-charset=iso-8859-1 encoding=b no-mailer from-top=example "},
        {"From: a123@shop.example\nSubject: =?\n\nhi\n",
         "from-bare subject-charset= encoding=  no-mailer from-digits from-top=example "
         "no-name "},
        {"From: <aaaaaaaaaaaaaaaa@shop.example>\nSubject: x\n\nhi\n",
         "no-mailer from-top=example no-name "},
        {"From: <aaaaaaaaaaaaaaaaa@shop.example>\nSubject: x\n\nhi\n",
         "no-mailer from-long from-top=example no-name "},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_string_equal(terms_of(rows[i].message, ONLY(VECTOR_FIELD)),
                            rows[i].terms);
    }
}

static void test_link__of_each_form__then_host_path_and_query_apart(void **state)
{
    static const struct {
        const char *url;
        const char *terms;
    } rows[] = {
        {"www.two.example/a",
         "top=example labels=2 host=4 depth=1 path=2 query=0 two example "},
        {"www.two.example/?path=1",
         "top=example labels=2 host=4 depth=0 path=0 query=3 parameters=1 two example "},
        {"two.example/one?word=1",
         "top=example labels=2 host=4 depth=1 path=3 query=3 parameters=1 two example one "},
        {"a-b-c.shop1234.example/One/two.html?a=1&b=%20",
         "top=example labels=3 host=5 host-digits host-hyphens depth=2 path=4 query=4 "
         "parameters=2 extension=lmth percent shop example one two html "},
        {"a-b.shop123.example/x.y",
         "top=example labels=3 host=5 depth=1 path=3 query=0 shop example "},
        {"192.0.2.1/", "top=address labels=4 host=4 depth=0 path=0 query=0 "},
        {"two.example/a@b/c/d/e/f/g/h",
         "top=example labels=2 host=4 depth=6 path=5 query=0 at two example "},
        {"two.example/?q", "top=example labels=2 host=4 depth=0 path=0 query=2 "
                           "parameters=0 two example "},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char message[512];
        char terms[512];
        (void)snprintf(message, sizeof(message), HEAD "\nhttp://%s\n", rows[i].url);
        (void)snprintf(terms, sizeof(terms), "%slinks=1 domains=%d ", rows[i].terms,
                       strstr(rows[i].terms, "address") == NULL);
        assert_string_equal(
            terms_of(message, ONLY(VECTOR_LINK) | ONLY(VECTOR_LINK_WORD)), terms);
    }
}

static void test_part__of_each_kind__then_types_names_and_tags(void **state)
{
    static const char message[] =
        HEAD "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
             "--b\nContent-Type: text/html; charset=UTF-8\n"
             "Content-Transfer-Encoding: 8bit\n\n<p class=a>one<br>two<br>three</p>\n"
             "--b\nContent-Type: application/pdf\n"
             "Content-Disposition: attachment; filename=\"Invoice 12.PDF\"\n"
             "Content-Transfer-Encoding: base64\n\nAAAA\n"
             "--b\n\nplain\n--b--\n";
    (void)state;
    assert_string_equal(
        terms_of(message, ONLY(VECTOR_PART) | ONLY(VECTOR_HTML)),
        "multipart=multipart/mixed type=text/html text-transfer=8bit charset=utf-8 "
        "@class type=application/pdf transfer=base64 disposition=attachment "
        "extension=pdf file-name=4 type=text/plain no-type text-transfer= charset= "
        "tag=p about 1 times tag=br about 2 times words-per-tag=4 parts=3 ");
}

/* The table of tags has no place that is left out. */
static void test_tag__at_each_place_of_the_table__then_a_term(void **state)
{
    bool is_tried[128] = {false};
    size_t left = LENGTH(is_tried);
    (void)state;
    for (unsigned i = 0; left > 0 && i < 100000; i++) {
        char name[16];
        char message[256];
        (void)snprintf(name, sizeof(name), "t%u", i);
        size_t at = vector_hash(VECTOR_HTML, slice_str(name)) % LENGTH(is_tried);
        if (is_tried[at]) {
            continue;
        }
        is_tried[at] = true;
        left--;
        (void)snprintf(message, sizeof(message),
                       HEAD "Content-Type: text/html\n\n<%s>word\n", name);
        assert_non_null(strstr(terms_of(message, ONLY(VECTOR_HTML)), name));
    }
    assert_int_equal(left, 0);
}

static void test_look__of_a_text__then_its_size_and_signs(void **state)
{
    const unsigned look = ONLY(VECTOR_LOOK);
    (void)state;
    assert_string_equal(terms_of(HEAD "\nhi\n", look),
                        "subject-length=1 words=1 capitals=0 !=0 money=0 ");
    assert_string_equal(
        terms_of(HEAD "\nBUY NOW!! 50% off, $5! \xd0\x9f\xd1\x80\xd0\xb8\n", look),
        "subject-length=1 words=3 capitals=5 !=2 money=2 script=16 ");
    assert_string_equal(
        terms_of("From: a@b.example\nSubject: Really!? \xd0\x9f\n\nhi\n", look),
        "subject! subject? subject8 subject-length=4 words=1 capitals=0 !=0 money=0 ");
}

/* ---- words ---- */

static bool has_text(const char *message, const char *word)
{
    struct vector v = {.n = 0};
    uint32_t key = (uint32_t)VECTOR_TEXT << VECTOR_HASH_BITS |
                   vector_hash(VECTOR_TEXT, slice_str(word));
    (void)read_message(message, &v);
    for (size_t i = 0; i < v.n; i++) {
        if (v.term[i] == key) {
            return true;
        }
    }
    return false;
}

/* An order's number or an id is known by its length alone. */
static void test_word__that_is_no_word__then_its_kind_and_length(void **state)
{
    static const struct {
        const char *word;
        const char *term;
    } rows[] = {
        {"7", "01"},
        {"1234", "04"},
        {"123456789012", "09"},
        {"x9f3k2ab", "#4"},
        {"x9f3k2abx9f3k2ab", "#5"},
        {"abcdefghijklmnopqrstuvwxy", "abcdefghijklmnopqrstuvwxy"},
        {"abcdefghijklmnopqrstuvwxyz", "+5"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char message[256];
        (void)snprintf(message, sizeof(message), HEAD "\nsee %s there\n", rows[i].word);
        if (!has_text(message, rows[i].term)) {
            fail_msg("%s: not %s", rows[i].word, rows[i].term);
        }
    }
}

/* Behind a delimiter stands a signature, up to 900 bytes with the ends of lines. */
static void test_word__behind_a_delimiter__counts_from_one_byte_too_many_on(
    void **state)
{
    enum { MOST = 900 };
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        char message[2048];
        size_t n = (size_t)snprintf(message, sizeof(message), HEAD "\nhi\n--\n");
        size_t end = n + MOST - 1 + more;
        n += (size_t)snprintf(message + n, sizeof(message) - n, "offer ");
        memset(message + n, 'x', end - n);
        memcpy(message + end, "\n", 2);
        assert_int_equal(has_text(message, "offer"), more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field__of_each_kind__then_its_form),
        cmocka_unit_test(test_field__with_encoded_names__then_how_they_are_encoded),
        cmocka_unit_test(test_link__of_each_form__then_host_path_and_query_apart),
        cmocka_unit_test(test_part__of_each_kind__then_types_names_and_tags),
        cmocka_unit_test(test_tag__at_each_place_of_the_table__then_a_term),
        cmocka_unit_test(test_look__of_a_text__then_its_size_and_signs),
        cmocka_unit_test(test_word__that_is_no_word__then_its_kind_and_length),
        cmocka_unit_test(
            test_word__behind_a_delimiter__counts_from_one_byte_too_many_on),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
