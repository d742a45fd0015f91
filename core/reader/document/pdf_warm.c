#include <cairo.h>
#include <poppler.h>

#include "core/base/slice.h"
#include "core/reader/wire/format.h"

/* A font of one collection of characters, whose glyphs stand in no file. */
#define FONT(number, ordering, map)                                                   \
    number " 0 obj<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/" map                \
           "/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/A"            \
           "/CIDSystemInfo<</Registry(Adobe)/Ordering(" ordering                      \
           ")/Supplement 2>>/FontDescriptor<</Type/FontDescriptor/FontName/A/Flags 4" \
           ">>>>]>>endobj\n"

/* The first page is drawn, the second one has text in each collection. poppler keeps four tables
 * of encodings, here those that old documents use most. The table of objects is missing; poppler
 * builds one. */
static const char sample[] =
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 99 99]>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources"
    "<</Font<</A 7 0 R>>>>>>endobj\n"
    "4 0 obj<</Type/Page/Parent 2 0 R/Contents 6 0 R/Resources"
    "<</Font<</B 8 0 R/C 9 0 R/D 10 0 R/E 11 0 R/F 12 0 R>>>>>>endobj\n"
    "5 0 obj<</Length 21>>stream\n"
    "BT /A 9 Tf (A) Tj ET \n"
    "endstream endobj\n"
    "6 0 obj<</Length 120>>stream\n"
    "BT /B 9 Tf <0100> Tj /C 9 Tf <4e00> Tj /D 9 Tf <d2bb> Tj "
    "/E 9 Tf <88ea> Tj /F 9 Tf <b0a1> Tj ET                       \n"
    "endstream endobj\n"
    "7 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n" FONT(
        "8", "CNS1", "Identity-H") FONT("9", "GB1", "UniGB-UCS2-H")
        FONT("10", "GB1", "GBK-EUC-H") FONT("11", "Japan1", "90ms-RKSJ-H")
            FONT("12", "Korea1", "KSCms-UHC-H") "trailer<</Root 1 0 R>>\n";

static void discard(const gchar *domain, GLogLevelFlags level, const gchar *message,
                    gpointer data)
{
    (void)domain;
    (void)level;
    (void)message;
    (void)data;
}

/* Loads the configuration of fonts, and the files of cairo and FreeType. */
static void warm_drawing(PopplerPage *page)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 99, 99);
    cairo_t *cairo = cairo_create(surface);

    poppler_page_render(page, cairo);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
}

static void warm_text(PopplerPage *page)
{
    g_free(poppler_page_get_text(page));
}

static void with_page(PopplerDocument *document, int number, void (*use)(PopplerPage *))
{
    PopplerPage *page = poppler_document_get_page(document, number);

    if (page != NULL) {
        use(page);
        g_object_unref(page);
    }
}

void pdf_warm(void)
{
    static bool
        is_warm; /* one thread calls: before the forks, or a reader of one file */
    static PopplerDocument
        *document; /* stays open: poppler drops its tables with the last one */

    if (is_warm) {
        return;
    }
    is_warm = true;
    (void)g_log_set_default_handler(discard, NULL);
    GBytes *bytes = g_bytes_new_static(sample, sizeof(sample) - 1);
    document = poppler_document_new_from_bytes(bytes, NULL, NULL);
    g_bytes_unref(bytes);
    if (document != NULL) {
        with_page(document, 0, warm_drawing);
        with_page(document, 1, warm_text);
    }
}
