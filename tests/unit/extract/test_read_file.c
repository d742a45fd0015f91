/*
 * test_read_file - records of a reader become features, traits and places of a message.
 *
 * The records are those of a table, not of a reader: tests/integ/reader* read real files.
 */
#include "core/base/base.h"
#include "core/message/extract/extract.h"
#include "core/reader/wire/ask.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, RECORDS = 8, FINDS = 6 };

#define HEAD "From: a@sender.example\nMIME-Version: 1.0\n"
#define PICTURE                             \
    "Content-Type: image/png; name=q.png\n" \
    "Content-Transfer-Encoding: base64\n\niVBORw0KGgoAAAAN\n"
#define PDF                                       \
    "Content-Type: application/pdf; name=a.pdf\n" \
    "Content-Transfer-Encoding: base64\n\nJVBERi0xLjQKZW5k\n"
#define ARCHIVE                                       \
    "Content-Type: application/vnd.rar; name=a.rar\n" \
    "Content-Transfer-Encoding: base64\n\nUmFyIRoHAAAA\n"
#define DOCUMENT                                     \
    "Content-Type: application/msword; name=a.doc\n" \
    "Content-Transfer-Encoding: base64\n\n0M8R4KGxGuEAAA==\n"
#define RICH_TEXT                            \
    "Content-Type: text/rtf; name=a.rtf\n\n" \
    "{\\rtf1 see http://source.example/s or call +49 30 901820 }\n"
#define TWO                                                                          \
    "Content-Type: multipart/related; boundary=b\n\n--b\n" PICTURE "\n--b\n" PICTURE \
    "\n--b--\n"
#define SIXTEEN "AAAAAAAAAAAAAAAA"
#define ZEROS   SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN
#define BETWEEN "\n--b\n"
#define FOUR    PICTURE BETWEEN PICTURE BETWEEN PICTURE BETWEEN PICTURE BETWEEN
#define SEVENTEEN                                                               \
    "Content-Type: multipart/related; boundary=b\n" BETWEEN FOUR FOUR FOUR FOUR \
        PICTURE "\n--b--\n"
#define LOCKED_BEHIND                                                    \
    "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nThe password: " \
    "tulip42\n--b\n" FOUR PDF "\n--b--\n"
#define LOCKED                                                           \
    "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nThe password: " \
    "tulip42\n--b\n" PDF "\n--b--\n"

#define SAYS(kind, detail, place, value)                   \
    {                                                      \
        RECORD_##kind, detail, {place, sizeof(place) - 1}, \
        {                                                  \
            value, sizeof(value) - 1                       \
        }                                                  \
    }

struct row {
    const char *message;
    enum reader_outcome outcome;
    struct record says[RECORDS];
    /* "type:text" or "type:text@within"; "!" before what must not be there */
    const char *finds[FINDS];
};

static const struct row rows[] = {
    {HEAD RICH_TEXT,
     READER_READ,
     {SAYS(TEXT, 0, "", "http://text.example/a"),
      SAYS(LINK, 0, "", "http://link.example/b")},
     {"url:text.example/a@a.rtf", "url:link.example/b@a.rtf", "!url:source.example/s"}},
    {HEAD RICH_TEXT, READER_DIED, {{0}}, {"phone:+4930901820", "url:source.example/s"}},
    {HEAD PICTURE,
     READER_READ,
     {SAYS(CODE, RECORD_QR, "", "https://evil.example/x")},
     {"url:evil.example/x@QR code in q.png", "trait:code_link", "!trait:code_split",
      "!trait:file_unread", "!trait:limit_reader"}},
    {HEAD PICTURE,
     READER_READ,
     {SAYS(CODE, RECORD_AZTEC, "page 2", "no link")},
     {"!trait:code_link"}},
    {HEAD PICTURE,
     READER_READ,
     {SAYS(LOOK, 0, "", "1.a.0123"), SAYS(LOOK, 0, "", "1 b"),
      SAYS(LOOK, 0, "", "\x80")},
     {"picture:1.a.0123@q.png", "!picture:1 b", "!picture:\x80"}},
    {HEAD TWO,
     READER_READ,
     {SAYS(CODE, RECORD_QR, "2 pictures together", "https://evil.example/x")},
     {"url:evil.example/x", "!trait:code_split"}},
    {HEAD PDF,
     READER_READ,
     {SAYS(TEXT, 0, "page 2", "Visit http://text.example/a now"),
      SAYS(TEXT, 1, "page 2", "secret http://hidden.example/h"),
      SAYS(LINK, 0, "page 3", "http://link.example/b")},
     {"url:text.example/a@page 2 of a.pdf", "url:hidden.example/h@page 2 of a.pdf",
      "url:link.example/b@page 3 of a.pdf", "trait:document_hidden",
      "!trait:document_form"}},
    {HEAD PDF,
     READER_READ,
     {SAYS(TEXT, 0, "page 1",
           "one two three four five six seven eight nine ten eleven twelve")},
     {"text:e4e1a5c1@a.pdf", "!trait:document_hidden", "!trait:document_runs",
      "!trait:document_script"}},
    {HEAD PDF,
     READER_READ,
     {SAYS(SCRIPT, RECORD_JAVASCRIPT, "", "app.launchURL('http://s' + '.example/j');"),
      SAYS(FACT, RECORD_FORM, "", ""), SAYS(FACT, RECORD_RUNS, "", "")},
     {"url:s.example/j@a.pdf", "trait:document_script", "trait:document_form",
      "trait:document_runs"}},
    {HEAD PDF,
     READER_READ,
     {SAYS(FACT, RECORD_ENCRYPTED, "", "")},
     {"trait:pdf_encrypted", "!trait:file_opened", "!trait:office_encrypted"}},
    {HEAD ARCHIVE,
     READER_READ,
     {SAYS(FACT, RECORD_RATIO, "", "")},
     {"trait:limit_archive_ratio", "!trait:limit_archive_bytes",
      "!trait:limit_archive_entries"}},
    {HEAD ARCHIVE,
     READER_READ,
     {SAYS(FACT, RECORD_BYTES, "", ""), SAYS(FACT, RECORD_ENTRIES, "", "")},
     {"!trait:limit_archive_ratio", "trait:limit_archive_bytes",
      "trait:limit_archive_entries"}},
    {HEAD DOCUMENT,
     READER_READ,
     {SAYS(FACT, RECORD_ENCRYPTED, "", "")},
     {"trait:office_encrypted", "!trait:pdf_encrypted"}},
    {HEAD DOCUMENT,
     READER_READ,
     {SAYS(FACT, RECORD_OPENED, "", ""), SAYS(SCRIPT, RECORD_VBA, "", "Shell \"x\"")},
     {"trait:file_opened", "trait:attachment_macro"}},
    {HEAD ARCHIVE,
     READER_READ,
     {SAYS(NAME, 0, "", "locked.exe"), SAYS(FILE_BEGIN, 0, "", "in.html\0text/html"),
      SAYS(FILE_DATA, 0, "", "<html><a href=\"http://in.ex"),
      SAYS(FILE_DATA, 0, "", "ample/i\">x</a></html>"), SAYS(FILE_END, 1, "", "")},
     {"archive_entry:locked.exe", "archive_entry:in.html",
      "url:in.example/i@in.html in a.rar", "trait:archive_runs",
      "!trait:archive_encrypted"}},
    /* a record that nobody expects, and an end that does not come */
    {HEAD ARCHIVE,
     READER_READ,
     {SAYS(FILE_DATA, 0, "", "lost"), SAYS(FILE_END, 1, "", ""),
      SAYS(FILE_BEGIN, 0, "", "a.txt"), SAYS(FILE_DATA, 0, "", "http://a.example/a "),
      SAYS(FILE_BEGIN, 0, "", "b.txt\0text/plain"),
      SAYS(TEXT, 0, "", "http://b.example/b ")},
     {"url:a.example/a@a.txt in a.rar", "url:b.example/b@a.rar"}},
    {HEAD
     "Content-Type: text/html\n\n<p><img src=\"data:image/png;base64,iVBORw0KGgoA" ZEROS
     "\" alt=x>",
     READER_READ,
     {SAYS(CODE, RECORD_QR, "", "https://evil.example/x")},
     {"url:evil.example/x@QR code in a picture in HTML", "trait:code_link"}},
    {HEAD
     "Content-Type: text/html\n\n<p><img src=\"data:text/png;base64,iVBORw0KGgoA" ZEROS
     "\" alt=x>",
     READER_READ,
     {SAYS(CODE, RECORD_QR, "", "https://evil.example/x")},
     {"!url:evil.example/x"}},
    {HEAD "Content-Type: application/octet-stream; name=f.eml\n\n" HEAD PICTURE,
     READER_READ,
     {SAYS(CODE, RECORD_QR, "", "https://evil.example/x")},
     {"url:evil.example/x@QR code in q.png in f.eml"}},
    /* an archive that begins like a picture: its name says how a person opens it */
    {HEAD "Content-Type: image/png; name=a.iso\n"
          "Content-Transfer-Encoding: base64\n\niVBORw0KGgoAAAAN\n",
     READER_READ,
     {SAYS(FACT, RECORD_ENCRYPTED, "", "")},
     {"trait:archive_encrypted"}},
    {HEAD PICTURE, READER_SLOW, {{0}}, {"trait:limit_reader", "trait:file_unread"}},
    {HEAD PICTURE, READER_DIED, {{0}}, {"trait:file_unread", "!trait:limit_reader"}},
    {HEAD PICTURE, READER_AWAY, {{0}}, {"trait:file_unread"}},
    {HEAD PICTURE, READER_WRONG, {{0}}, {"trait:file_unread"}},
    {HEAD PICTURE, READER_ABSENT, {{0}}, {"!trait:file_unread"}},
};

/* The fake reader notes each ask. */
static struct {
    const struct row *row;
    unsigned asks;
    unsigned asks_with_next;
    unsigned asks_with_password;
    bool is_of_pdf; /* a PDF file has the records, other files have none */
} fake;

static enum reader_outcome ask(void *context, const struct reader_job *job,
                               uint64_t within_us, record_fn *on_record,
                               void *record_context)
{
    (void)context;
    assert_true(within_us > 0);
    fake.asks++;
    fake.asks_with_next += job->nnext > 0 ? 1 : 0;
    fake.asks_with_password += job->npasswords > 0 && job->locked_only ? 1 : 0;
    const bool is_meant =
        !fake.is_of_pdf || slice_has_prefix(job->bytes, SLICE_LIT("%PDF-"));
    for (size_t i = 0; is_meant && i < RECORDS && fake.row->says[i].kind != 0; i++) {
        (void)on_record(record_context, &fake.row->says[i]);
    }
    return fake.row->outcome;
}

static struct extract_limits limits_with(uint64_t reader_us)
{
    static const struct reader_ask offer = {.ask = ask};
    struct extract_limits limits = limits_default;

    limits.reader = &offer;
    limits.reader_us = reader_us;
    return limits;
}

static struct featureset *read_row(const struct row *row, struct arena *arena,
                                   uint64_t reader_us)
{
    const struct extract_limits limits = limits_with(reader_us);
    struct extract *x = extract_new(arena, &limits, NULL, 0);

    fake.row = row;
    fake.asks = fake.asks_with_next = fake.asks_with_password = 0;
    assert_non_null(x);
    extract_raw(x, slice_str(row->message));
    return extract_finish(x);
}

static bool is_found(const struct featureset *set, struct slice want)
{
    const struct slice type = slice_cut(&want, ':');
    const size_t at = slice_find(want, '@');
    const struct slice text = slice_head(want, at);

    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        const bool is_text =
            slice_eq(type, SLICE_LIT("text")) || slice_eq(f->text, text);
        if (slice_eq(slice_str(feature_type_name(f->type)), type) && is_text) {
            return at == want.n ||
                   (f->place != NULL &&
                    slice_eq(f->place->within, slice_from(want, at + 1)));
        }
    }
    return false;
}

static void test_records__become_features__at_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct arena *arena = arena_new(ARENA);
        const struct featureset *set = read_row(&rows[i], arena, 10000000);
        for (size_t k = 0; k < FINDS && rows[i].finds[k] != NULL; k++) {
            const char *want = rows[i].finds[k];
            const bool is_absent = want[0] == '!';
            if (is_found(set, slice_str(want + (is_absent ? 1 : 0))) == is_absent) {
                fail_msg("row %zu: %s", i, want);
            }
        }
        arena_free(&arena);
    }
}

static void test_pictures_without_a_code__are_looked_at_together(void **state)
{
    static const struct row row = {
        HEAD TWO, READER_READ, {SAYS(LOOK, 0, "", "1.a.0")}, {NULL}};
    struct arena *arena = arena_new(ARENA);

    (void)state;
    (void)read_row(&row, arena, 10000000);
    assert_int_equal(fake.asks, 3);
    assert_int_equal(fake.asks_with_next, 1);
    arena_free(&arena);
}

static void test_a_locked_file__is_tried_with_the_passwords_of_the_text(void **state)
{
    static const struct row row = {
        HEAD LOCKED, READER_READ, {SAYS(FACT, RECORD_ENCRYPTED, "", "")}, {NULL}};
    struct arena *arena = arena_new(ARENA);

    (void)state;
    (void)read_row(&row, arena, 10000000);
    assert_int_equal(fake.asks, 2);
    assert_int_equal(fake.asks_with_password, 1);
    arena_free(&arena);
}

static void test_more_pictures_than_wait__a_limit_says_so(void **state)
{
    static const struct row row = {
        HEAD SEVENTEEN, READER_READ, {{0}}, {"trait:limit_reader"}};
    struct arena *arena = arena_new(ARENA);

    (void)state;
    assert_true(is_found(read_row(&row, arena, 10000000), slice_str(row.finds[0])));
    assert_int_equal(fake.asks_with_next, 1);
    arena_free(&arena);
}

static void test_pictures_wait__a_locked_file_behind_them_has_room(void **state)
{
    static const struct row row = {HEAD LOCKED_BEHIND,
                                   READER_READ,
                                   {SAYS(FACT, RECORD_ENCRYPTED, "", "")},
                                   {NULL}};
    struct extract_limits limits = limits_with(10000000);
    struct arena *arena = arena_new(ARENA);

    (void)state;
    limits.attachment_bytes = 100; /* four pictures of 12 bytes, half of it */
    fake.row = &row;
    fake.asks_with_password = 0;
    fake.is_of_pdf = true;
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    extract_raw(x, slice_str(row.message));
    (void)extract_finish(x);
    fake.is_of_pdf = false;
    assert_int_equal(fake.asks_with_password, 1);
    arena_free(&arena);
}

static void test_no_time__nothing_is_asked_and_a_limit_says_so(void **state)
{
    struct arena *arena = arena_new(ARENA);
    const struct featureset *set = read_row(&rows[0], arena, 100);

    (void)state;
    assert_int_equal(fake.asks, 0);
    assert_true((featureset_limits(set) & LIMIT_FLAG(reader)) != 0);
    assert_true(is_found(set, SLICE_LIT("trait:file_unread")));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records__become_features__at_their_place),
        cmocka_unit_test(test_pictures_without_a_code__are_looked_at_together),
        cmocka_unit_test(test_a_locked_file__is_tried_with_the_passwords_of_the_text),
        cmocka_unit_test(test_more_pictures_than_wait__a_limit_says_so),
        cmocka_unit_test(test_pictures_wait__a_locked_file_behind_them_has_room),
        cmocka_unit_test(test_no_time__nothing_is_asked_and_a_limit_says_so),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
