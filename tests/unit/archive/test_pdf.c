/*
 * test_pdf - which links a PDF file has, however they are written.
 */
#include "core/base/base.h"
#include "core/message/archive/pdf.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/unit.h"

static void on_link(void *context, struct slice text, bool is_wide)
{
    struct buf *b = context;
    buf_add_str(b, is_wide ? "wide " : "");
    buf_add(b, text);
    buf_add_str(b, "\n");
}

static bool is_encrypted; /* the file read last */

static unsigned links_of(struct slice file, struct buf *ret)
{
    struct archive_budget budget = archive_budget_start();
    buf_init(ret, BUILD_CAP);
    is_encrypted = pdf_read(file, &budget, on_link, ret);
    buf_add(ret, SLICE_LIT("\n")); /* so that there is something */
    ret->p[--ret->n] = '\0';
    return budget.limits_met;
}

struct row {
    struct slice file;
    const char *links;
};

#define ROW(file, links)                \
    {                                   \
        {file, sizeof(file) - 1}, links \
    }

static const struct row rows[] = {
    ROW("%PDF-1.4\n1 0 obj<</A<</S/URI/URI(http://a.com/)>>>>endobj",
        "http://a.com/\n"),
    ROW("/S /URI /URI (http://a.com/x)", "http://a.com/x\n"),
    ROW("/URI\r\n (a(b(c)d)e)", "a(b(c)d)e\n"),
    ROW("/URI(\\150\\164tp:\\057/a\\56com\\)\\(\\\\\\n)", "http://a.com)(\\\n\n"),
    ROW("/URI(http://a\\\n.c\\\r\nom\\\r/x)", "http://a.com/x\n"),
    ROW("/URI(\\1a\\12b\\1234)", "\1a\nbS4\n"),
    ROW("/URI<687474703A2f 2F61\n2e636F6D2>", "http://a.com \n"),
    ROW("/URI<68zz>/URI(b)", "b\n"),
    ROW("/URI<</X(y)>>", ""),
    ROW("/UR#49(http://a.com/)/U#zz(no)", "http://a.com/\n"),
    ROW("/URI % comment (no)\n(http://a.com/)", "http://a.com/\n"),
    ROW("/URI(\xfe\xff\0h\0i)", "wide \0h\0i\n"),
    ROW("/URI<FEFF00680069>", "wide \0h\0i\n"),
    ROW("/URI(\xef\xbb\xbfhttp://a.com/)", "http://a.com/\n"),
    /* an indirect string, and one that is the value of another name */
    ROW("/URI 7 0 R\n7 0 obj\n(HTTP://a.com/)\nendobj", "HTTP://a.com/\n"),
    ROW("/Producer (http://fpdf.org)", ""),
    ROW("(www.a.com) Tj (see http://b.com) Tj", "www.a.com\n"),
    ROW("( http (unbalanced /URI(http://a.com/)", "http://a.com/\n"),
    ROW("/S/SubmitForm/F<</FS/URL/F(http://a.com/x)>>", "http://a.com/x\n"),
    ROW("/S/Launch/Win<</F(mshta)/P(http://a.com/x)>>", "http://a.com/x\n"),
    ROW("/S/GoToR/F(b.pdf)/UF(https://a.com/)", "https://a.com/\n"),
    ROW("/JS(app.launchURL\\(\"http://a.com/\"\\))",
        "app.launchURL(\"http://a.com/\")\n"),
    ROW("/URIs(no)/URI()/URI", ""),
    ROW("/URI(http://never.closed", ""),
};

static void test_links__each_way_of_writing__are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf got;
        assert_int_equal(links_of(rows[i].file, &got), 0);
        size_t n = strlen(rows[i].links);
        if (n != got.n || memcmp(got.p, rows[i].links, n) != 0) {
            /* rows with zeros are longer than strlen says */
            bool has_zero = got.n > n && memchr(got.p, '\0', got.n) != NULL &&
                            memcmp(got.p, rows[i].links, got.n) == 0;
            if (!has_zero) {
                fail_msg("%.*s: %s instead of %s", (int)rows[i].file.n, rows[i].file.p,
                         got.p, rows[i].links);
            }
        }
        buf_fini(&got);
    }
}

/* An object stream whose dictionary and text are given. */
static void build_pdf(struct buf *ret, const char *dictionary, struct slice text)
{
    buf_init(ret, BUILD_CAP);
    buf_add_str(ret, "%PDF-1.5\n1 0 obj\n<<");
    buf_add_str(ret, dictionary);
    buf_add_str(ret, ">>\nstream\r\n");
    build_deflate(ret, text, false);
    buf_add_str(ret, "\nendstream\nendobj\n2 0 obj<</URI(http://b.com/)>>endobj");
}

static void test_object_stream__inflated__its_links_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary;
        const char *links;
    } streams[] = {
        {"/Type/ObjStm/N 1/First 5/Length 7/Filter/FlateDecode",
         "http://b.com/\nhttp://a.com/\n"},
        {"/Type/Obj#53tm/Filter[/Fl]", "http://b.com/\nhttp://a.com/\n"},
        {"/N 1 /First 4 /Filter /FlateDecode", "http://b.com/\nhttp://a.com/\n"},
        {"/Type/XObject/Filter/FlateDecode", "http://b.com/\n"},
        {"/Type/ObjStm", "http://b.com/\n"},
    };
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        struct buf file;
        struct buf got;
        build_pdf(&file, streams[i].dictionary,
                  SLICE_LIT("2 0 <</S/URI/URI (http://a.com/)>> padding padding"));
        assert_int_equal(links_of(buf_slice(&file), &got), 0);
        assert_string_equal(got.p, streams[i].links);
        buf_fini(&got);
        buf_fini(&file);
    }
}

static void test_object_stream__link_over_a_step_of_output__is_whole(void **state)
{
    (void)state;
    for (size_t before = 16 * 1024 - 30; before < 16 * 1024 + 2; before++) {
        struct buf text;
        struct buf file;
        struct buf got;
        buf_init(&text, BUILD_CAP);
        for (size_t i = 0; i < before; i++) {
            buf_add_char(&text, (char)('a' + i * i % 7));
        }
        buf_add_str(&text, "/URI(http://a.com/)");
        build_pdf(&file, "/Type/ObjStm/Filter/FlateDecode", buf_slice(&text));
        assert_int_equal(links_of(buf_slice(&file), &got), 0);
        assert_string_equal(got.p, "http://b.com/\nhttp://a.com/\n");
        buf_fini(&got);
        buf_fini(&file);
        buf_fini(&text);
    }
}

static void test_file__cut_anywhere__is_read_as_far(void **state)
{
    (void)state;
    struct buf file;
    build_pdf(&file, "/Type/ObjStm/Filter/FlateDecode",
              SLICE_LIT("/URI(http://a.com/)"));
    for (size_t n = 0; n <= file.n; n++) {
        struct buf got;
        char *exact = malloc(n + 1);
        memcpy(exact, file.p, n);
        (void)links_of(slice_of(exact, n), &got);
        buf_fini(&got);
        free(exact);
    }
    buf_fini(&file);
}

static void test_link__below_at_above_the_limit__is_cut(void **state)
{
    (void)state;
    for (size_t n = PDF_LINK_MAX - 1; n <= PDF_LINK_MAX + 1; n++) {
        struct buf file;
        struct buf got;
        buf_init(&file, BUILD_CAP);
        buf_add_str(&file, "/URI(");
        for (size_t i = 0; i < n; i++) {
            buf_add_char(&file, 'x');
        }
        buf_add_str(&file, ")/URI(b)");
        (void)links_of(buf_slice(&file), &got);
        assert_int_equal(got.n, (n < PDF_LINK_MAX ? n : PDF_LINK_MAX) + 1 + 2);
        buf_fini(&got);
        buf_fini(&file);
    }
}

static void test_encryption__named_in_a_dictionary__is_told(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        bool is_encrypted;
    } files[] = {
        {"trailer<</Root 1 0 R/Encrypt 12 0 R/ID[<1><2>]>>", true},
        {"<</Type/XRef/Encr#79pt\n<</Filter/Standard>>>>stream", true},
        {"<</EncryptMetadata true/Root 1 0 R>>", false},
        {"/Encrypt/Name (/Encrypt) /Encryption 1 0 R", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct buf got;
        (void)links_of(slice_str(files[i].file), &got);
        assert_int_equal(is_encrypted, files[i].is_encrypted);
        buf_fini(&got);
    }
}

static void test_streams__of_nothing_but_zeros__end_with_the_ratio(void **state)
{
    (void)state;
    struct buf file;
    struct buf got;
    struct slice zeros = {calloc(1, ARCHIVE_RATIO_FREE * 2), ARCHIVE_RATIO_FREE * 2};
    build_pdf(&file, "/Type/ObjStm/Filter/FlateDecode", zeros);
    assert_int_equal(links_of(buf_slice(&file), &got), ARCHIVE_LIMIT_RATIO);
    free((void *)(uintptr_t)zeros.p);
    buf_fini(&got);
    buf_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links__each_way_of_writing__are_told),
        cmocka_unit_test(test_object_stream__inflated__its_links_are_told),
        cmocka_unit_test(test_object_stream__link_over_a_step_of_output__is_whole),
        cmocka_unit_test(test_file__cut_anywhere__is_read_as_far),
        cmocka_unit_test(test_link__below_at_above_the_limit__is_cut),
        cmocka_unit_test(test_encryption__named_in_a_dictionary__is_told),
        cmocka_unit_test(test_streams__of_nothing_but_zeros__end_with_the_ratio),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
