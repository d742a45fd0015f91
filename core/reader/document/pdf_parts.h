/*
 * pdf_parts - the parts of the PDF reader. Private to pdf_*.c.
 *
 * Two libraries read the same bytes. qpdf reads the objects, which hold actions, scripts, fields
 * and attached files. poppler reads the text of the pages and draws them. The finds come in this
 * order: actions, text of all pages, files, codes, looks. So a page that a library cannot bear
 * costs least.
 * Files in reading order: pdf_open, pdf_walk, pdf_action, pdf_stream, pdf_repair, pdf_text,
 * pdf_seen, pdf_draw.
 */
#ifndef CORE_READER_DOCUMENT_PDF_PARTS_H
#define CORE_READER_DOCUMENT_PDF_PARTS_H

#include <poppler.h>
#include <qpdf/qpdf-c.h>

#include "core/reader/picture/raster.h"
#include "core/reader/wire/found.h"

/* An attached file that is still to be given out. */
struct pdf_file {
    qpdf_oh specification;
    qpdf_oh stream;
};

struct pdf {
    const struct reader_job *job;
    struct slice bytes; /* of the job, or mended ones */
    struct found *found;
    qpdf_data objects;     /* NULL: qpdf cannot read the file */
    qpdf_oh none;          /* no object */
    struct buf base;       /* of relative links */
    struct pdf_file *file; /* found by the walk */
    size_t nfiles;
    uint8_t *invisible; /* by page: 1 when its content may turn drawing of text off */
    size_t npages; /* that the walk met: 0 in a file that only poppler can repair */
};

/* --- pdf_walk --- */

/* Visits each object that a viewer can act on, and gives out what it does. False: enough. */
bool pdf_walk(struct pdf *p);

/* --- pdf_action --- */

/* Gives out what a viewer does with this dictionary. False: enough. */
bool pdf_action(struct pdf *p, qpdf_oh dictionary);

/* --- pdf_stream --- */

typedef bool pdf_data_fn(void *context, struct slice bytes);

/* Gives the decoded bytes of a stream in pieces, until data returns false. True: all of them. */
bool pdf_stream(struct pdf *p, qpdf_oh stream, pdf_data_fn *data, void *context);
/* Appends a string or a stream to b, as UTF-8 when it is marked as UTF-16, else as it stands. */
void pdf_string(struct pdf *p, qpdf_oh object, struct buf *b);
/* Gives out the files that the walk found. False: enough. */
bool pdf_files(struct pdf *p);

/* --- pdf_repair --- */

/* Links of a page and attached files as poppler knows them, for a file whose objects qpdf cannot
 * find. False: enough. */
bool pdf_repaired_links(struct pdf *p, PopplerPage *page);
bool pdf_repaired_files(struct pdf *p, PopplerDocument *document);
/* Writes a file that has lost its trailer with one that names the last catalog in it. False: it
 * has none. */
bool pdf_mend(struct slice bytes, struct buf *ret);

/* --- pdf_text --- */

/* Properties of a page that its text shows. */
struct pdf_page {
    uint32_t nchars;
    bool has_pictures;
    bool
        is_later; /* its text waits until it is drawn: only that shows which words are seen */
};

/* Gives out text of a page. drawn: the page, or NULL. May leave the text for later when
 * may_wait. False: enough. */
bool pdf_text(struct pdf *p, PopplerPage *page, const struct raster *drawn,
              bool may_wait, struct pdf_page *ret);

/* --- pdf_seen --- */

/* Pixels that may be compared on one page. */
enum { PDF_COMPARED_MAX = 64 << 20 };

struct pdf_seen {
    const struct raster *drawn;
    double scale; /* pixels in a point */
    bool
        may_be_unpainted; /* a word without ink is hidden; else only one of the paper's colour */
    uint64_t left; /* pixels that may still be compared */
};

/* Whether a person sees a word of that colour in that box of the page. */
bool pdf_is_seen(struct pdf_seen *s, const PopplerRectangle *box,
                 const PopplerColor *ink);

/* --- pdf_draw --- */

/* Draws the most promising pages, looks for codes in them, and gives out their text if it waited.
 * Then gives out the looks of pictures. */
void pdf_draw(struct pdf *p, PopplerDocument *document, struct pdf_page *page,
              size_t npages);

#endif
