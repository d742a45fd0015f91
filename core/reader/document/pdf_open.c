#include "core/reader/document/pdf_parts.h"
#include "core/reader/wire/format.h"

enum { PDF_MOST_BYTES = INT32_MAX }; /* poppler counts bytes in an int */

enum opening { OPENED, NEEDS_PASSWORD, BROKEN };

static enum opening open_objects(struct pdf *p, const char *password)
{
    qpdf_data q = qpdf_init();

    qpdf_silence_errors(q);
    qpdf_set_suppress_warnings(q, QPDF_TRUE);
    const QPDF_ERROR_CODE code =
        qpdf_read_memory(q, "", p->bytes.p, p->bytes.n, password);
    if ((code & QPDF_ERRORS) == 0) {
        p->objects = q;
        p->none = qpdf_oh_new_null(q);
        return OPENED;
    }
    const enum qpdf_error_code_e why =
        qpdf_has_error(q) ? qpdf_get_error_code(q, qpdf_get_error(q)) : qpdf_e_internal;
    qpdf_cleanup(&q);
    return why == qpdf_e_password ? NEEDS_PASSWORD : BROKEN;
}

/* Writes the open document without its encryption, so that poppler is given no password: version
 * 22.12 crashes when one is wrong. */
static void decrypt(struct pdf *p)
{
    qpdf_data q = p->objects;

    if ((qpdf_init_write_memory(q) & QPDF_ERRORS) != 0) {
        return;
    }
    qpdf_set_preserve_encryption(q, QPDF_FALSE);
    qpdf_set_stream_data_mode(q, qpdf_s_preserve);
    qpdf_set_static_ID(q, QPDF_TRUE); /* else it asks for random bytes */
    if ((qpdf_write(q) & QPDF_ERRORS) == 0) {
        p->bytes = slice_of(qpdf_get_buffer(q), qpdf_get_buffer_length(q));
    }
}

static enum opening open_objects_with_any(struct pdf *p)
{
    enum opening opening = open_objects(p, "");

    for (size_t i = 0; opening == NEEDS_PASSWORD && i < p->job->npasswords; i++) {
        const struct slice s = p->job->password[i];
        char *password = g_strndup(s.n > 0 ? s.p : "", s.n);
        opening = open_objects(p, password);
        g_free(password);
        if (opening == OPENED) {
            (void)found_fact(p->found, RECORD_OPENED);
            decrypt(p);
        }
    }
    return opening;
}

static enum opening open_pages(const struct pdf *p, PopplerDocument **ret)
{
    GBytes *bytes = g_bytes_new_static(p->bytes.p, p->bytes.n);
    GError *error = NULL;
    enum opening opening = OPENED;

    *ret = poppler_document_new_from_bytes(bytes, NULL, &error);
    g_bytes_unref(bytes);
    if (*ret == NULL) {
        opening = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED)
                      ? NEEDS_PASSWORD
                      : BROKEN;
        g_clear_error(&error);
    }
    return opening;
}

/* Text of all pages, but of those that must be drawn first. False: enough. */
static bool read_texts(struct pdf *p, PopplerDocument *document, struct pdf_page *pages,
                       size_t npages)
{
    uint32_t waiting = 0;
    bool is_more = true;

    for (size_t i = 0; i < npages && is_more; i++) {
        PopplerPage *page = poppler_document_get_page(document, (int)i);
        if (page == NULL) {
            is_more = found_fact(p->found, RECORD_DAMAGED);
            continue;
        }
        found_at(p->found, "page %zu", i + 1);
        is_more = (i < p->npages || pdf_repaired_links(p, page)) &&
                  pdf_text(p, page, NULL, waiting < p->job->limits.pages, &pages[i]);
        waiting += pages[i].is_later ? 1 : 0;
        g_object_unref(page);
    }
    return is_more;
}

static void read_pages(struct pdf *p, PopplerDocument *document)
{
    const int n = poppler_document_get_n_pages(document);
    const size_t npages = n > 0 ? (size_t)n : 0;
    struct pdf_page *pages = calloc(npages + 1, sizeof(*pages));

    if (pages != NULL && read_texts(p, document, pages, npages) && pdf_files(p)) {
        pdf_draw(p, document, pages, npages);
        /* Last: poppler 22.12 crashes on an attached file whose stream is missing. */
        if (p->npages == 0) {
            (void)pdf_repaired_files(p, document);
        }
    }
    free(pages);
}

/* Reads p->bytes with both libraries. One of them is enough: each repairs damage that stops the
 * other. */
static enum opening read_document(struct pdf *p)
{
    PopplerDocument *document = NULL;
    const enum opening objects = open_objects_with_any(p);

    if (objects == NEEDS_PASSWORD ||
        (objects == OPENED && !(pdf_walk(p) && found_flush(p->found)))) {
        return objects;
    }
    const enum opening pages = open_pages(p, &document);
    if (pages == OPENED) {
        read_pages(p, document);
        g_object_unref(document);
    } else if (objects == OPENED) {
        (void)(found_fact(p->found, RECORD_DAMAGED) && pdf_files(p));
    }
    return objects == OPENED ? OPENED : pages;
}

static void pdf_fini(struct pdf *p)
{
    if (p->objects != NULL) {
        (void)qpdf_get_error(p->objects); /* qpdf prints an error that nobody took */
        qpdf_cleanup(&p->objects);
    }
    buf_fini(&p->base);
    free(p->file);
    free(p->invisible);
}

void pdf_read_whole(const struct reader_job *job, struct found *f)
{
    struct pdf p = {.job = job, .bytes = job->bytes, .found = f};
    struct buf mended;

    pdf_warm();
    if (job->bytes.n > PDF_MOST_BYTES) {
        (void)found_fact(f, RECORD_BYTES);
        return;
    }
    buf_init(&p.base, FOUND_VALUE_MAX);
    buf_init(&mended, PDF_MOST_BYTES);
    enum opening opening = read_document(&p);
    if (opening == BROKEN && pdf_mend(job->bytes, &mended)) {
        p.bytes = buf_slice(&mended);
        opening = read_document(&p);
    }
    if (opening != OPENED) {
        (void)found_fact(f, opening == BROKEN ? RECORD_DAMAGED : RECORD_ENCRYPTED);
    }
    pdf_fini(&p);
    buf_fini(&mended);
}
