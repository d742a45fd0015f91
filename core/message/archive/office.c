#include "core/message/archive/office.h"

enum {
    LOCAL_BYTES = 30
}; /* of a zip header: the first entry's name stands behind them */

enum how { BEGINS, HOLDS, ENDS };

struct row {
    enum office_kind kind;
    enum how how;
    const char *path;
    enum office_role role;
};

/* The first that fits counts. */
static const struct row rows[] = {
    {OFFICE_OPEN_XML, ENDS, ".rels", OFFICE_RELATIONS},
    {OFFICE_OPEN_XML, BEGINS, "[Content_Types].xml", OFFICE_OWN},
    {OFFICE_OPEN_XML, BEGINS, "[trash]/", OFFICE_OWN},
    {OFFICE_OPEN_XML, BEGINS, "docProps/", OFFICE_OWN},
    {OFFICE_OPEN_XML, BEGINS, "customXml/", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/media/", OFFICE_MEDIA},
    {OFFICE_OPEN_XML, HOLDS, "/embeddings/", OFFICE_FILE},
    {OFFICE_OPEN_XML, HOLDS, "/theme/", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/fonts/", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/printerSettings", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/styles", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/settings.xml", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/webSettings", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/fontTable", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/numbering", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/calcChain", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/tableStyles", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/presProps", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/viewProps", OFFICE_OWN},
    {OFFICE_OPEN_XML, HOLDS, "/vbaData", OFFICE_OWN},
    {OFFICE_OPEN_XML, BEGINS, "word/document", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, BEGINS, "xl/sharedStrings", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, BEGINS, "xl/worksheets/", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, BEGINS, "xl/macrosheets/", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, BEGINS, "ppt/slides/", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, BEGINS, "visio/pages/page", OFFICE_DOCUMENT},
    {OFFICE_OPEN_XML, ENDS, ".xml", OFFICE_TEXT},
    {OFFICE_OPEN_XML, ENDS, ".vml", OFFICE_TEXT},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "mimetype", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "META-INF/", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "Thumbnails/", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "Configurations2/", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "Fonts/", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "layout-cache", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "manifest.rdf", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, ENDS, "settings.xml", OFFICE_OWN},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "content.xml", OFFICE_DOCUMENT},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "Pictures/", OFFICE_MEDIA},
    {OFFICE_OPEN_DOCUMENT, BEGINS, "ObjectReplacements/", OFFICE_MEDIA},
    {OFFICE_OPEN_DOCUMENT, ENDS, ".xml", OFFICE_TEXT},
};

static bool has(struct slice zip, const char *name)
{
    return slice_find_slice(zip, slice_str(name)) < zip.n;
}

enum office_kind office_kind_of(struct slice zip)
{
    const struct slice open_document =
        SLICE_LIT("mimetypeapplication/vnd.oasis.opendocument");
    if (slice_has_prefix(slice_from(zip, LOCAL_BYTES), open_document)) {
        return OFFICE_OPEN_DOCUMENT;
    }
    if (has(zip, "[Content_Types].xml")) {
        return OFFICE_OPEN_XML;
    }
    /* programs open one without its mark in front, too */
    return has(zip, "content.xml") &&
                   (has(zip, "META-INF/manifest.xml") || has(zip, "mimetype"))
               ? OFFICE_OPEN_DOCUMENT
               : OFFICE_NOT;
}

/* Programs find their parts without regard to case. */
static bool holds(struct slice path, struct slice part)
{
    while (path.n >= part.n && !slice_has_prefix_nocase(path, part)) {
        path = slice_from(path, 1);
    }
    return path.n >= part.n;
}

static bool fits(const struct row *row, struct slice path)
{
    struct slice part = slice_str(row->path);
    if (row->how == HOLDS) {
        return holds(path, part);
    }
    return row->how == BEGINS ? slice_has_prefix_nocase(path, part)
                              : slice_has_suffix_nocase(path, part);
}

enum office_role office_role_of(enum office_kind kind, struct slice path)
{
    while (path.n > 0 && (path.p[0] == '/' || path.p[0] == '.')) {
        path = slice_from(path, 1);
    }
    for (size_t i = 0; kind != OFFICE_NOT && i < LENGTH(rows); i++) {
        if (rows[i].kind == kind && fits(&rows[i], path)) {
            return rows[i].role;
        }
    }
    return OFFICE_FILE;
}
