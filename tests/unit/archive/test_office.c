/*
 * test_office - which parts of an office document are the document, and which are every document's.
 */
#include "core/base/base.h"
#include "core/message/archive/office.h"

#include "tests/unit/unit.h"

static void test_office_kind_of__by_the_entries_that_each_kind_must_have__is_told(
    void **state)
{
    (void)state;
    static const char head[30] = "PK\3\4";
    char zip[200];
    memcpy(zip, head, sizeof(head));
    struct slice text = SLICE_LIT("mimetypeapplication/vnd.oasis.opendocument.text");
    memcpy(zip + sizeof(head), text.p, text.n);
    assert_int_equal(office_kind_of(slice_of(zip, sizeof(head) + text.n)),
                     OFFICE_OPEN_DOCUMENT);
    assert_int_equal(office_kind_of(slice_of(zip, sizeof(head) + text.n - 5)),
                     OFFICE_OPEN_DOCUMENT);
    assert_int_equal(office_kind_of(slice_of(zip, sizeof(head))), OFFICE_NOT);
    assert_int_equal(office_kind_of(SLICE_NONE), OFFICE_NOT);
    assert_int_equal(office_kind_of(SLICE_LIT("PK\3\4...[Content_Types].xml...")),
                     OFFICE_OPEN_XML);
    /* the mark is not in front, or missing */
    assert_int_equal(office_kind_of(SLICE_LIT("PK\3\4...content.xml...mimetype")),
                     OFFICE_OPEN_DOCUMENT);
    assert_int_equal(
        office_kind_of(SLICE_LIT("PK\3\4...content.xml...META-INF/manifest.xml")),
        OFFICE_OPEN_DOCUMENT);
    assert_int_equal(office_kind_of(SLICE_LIT("PK\3\4...content.xml...")), OFFICE_NOT);
    assert_int_equal(
        office_kind_of(SLICE_LIT("PK\3\4[Content_Types].xml content.xml mimetype")),
        OFFICE_OPEN_XML);
}

static void test_office_role_of__paths_of_each_kind__by_the_table(void **state)
{
    (void)state;
    static const struct {
        enum office_kind kind;
        const char *path;
        enum office_role role;
    } rows[] = {
        {OFFICE_OPEN_XML, "word/document.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_XML, "/WORD/Document2.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_XML, "word/_rels/document.xml.rels", OFFICE_RELATIONS},
        {OFFICE_OPEN_XML, "_rels/.rels", OFFICE_RELATIONS},
        {OFFICE_OPEN_XML, "word/settings.xml", OFFICE_OWN},
        {OFFICE_OPEN_XML, "word/stylesWithEffects.xml", OFFICE_OWN},
        {OFFICE_OPEN_XML, "ppt/theme/theme1.xml", OFFICE_OWN},
        {OFFICE_OPEN_XML, "xl/printerSettings/printerSettings1.bin", OFFICE_OWN},
        {OFFICE_OPEN_XML, "docProps/thumbnail.jpeg", OFFICE_OWN},
        {OFFICE_OPEN_XML, "word/header1.xml", OFFICE_TEXT},
        {OFFICE_OPEN_XML, "other/part.xml", OFFICE_TEXT},
        {OFFICE_OPEN_XML, "word/media/image1.png", OFFICE_MEDIA},
        {OFFICE_OPEN_XML, "word/embeddings/oleObject1.bin", OFFICE_FILE},
        {OFFICE_OPEN_XML, "word/vbaProject.bin", OFFICE_FILE},
        {OFFICE_OPEN_XML, "evil.exe", OFFICE_FILE},
        {OFFICE_OPEN_XML, "xl/sharedStrings.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_XML, "xl/worksheets/sheet2.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_XML, "ppt/slides/slide1.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_XML, "ppt/slideMasters/slideMaster1.xml", OFFICE_TEXT},
        {OFFICE_OPEN_DOCUMENT, "content.xml", OFFICE_DOCUMENT},
        {OFFICE_OPEN_DOCUMENT, "Object 1/content.xml", OFFICE_TEXT},
        {OFFICE_OPEN_DOCUMENT, "styles.xml", OFFICE_TEXT},
        {OFFICE_OPEN_DOCUMENT, "settings.xml", OFFICE_OWN},
        {OFFICE_OPEN_DOCUMENT, "META-INF/manifest.xml", OFFICE_OWN},
        {OFFICE_OPEN_DOCUMENT, "Pictures/1000.png", OFFICE_MEDIA},
        {OFFICE_OPEN_DOCUMENT, "Object 2", OFFICE_FILE},
        {OFFICE_NOT, "word/settings.xml", OFFICE_FILE},
        {OFFICE_NOT, "", OFFICE_FILE},
        {OFFICE_OPEN_XML, "", OFFICE_FILE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (office_role_of(rows[i].kind, slice_str(rows[i].path)) != rows[i].role) {
            fail_msg("%s", rows[i].path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_office_kind_of__by_the_entries_that_each_kind_must_have__is_told),
        cmocka_unit_test(test_office_role_of__paths_of_each_kind__by_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
