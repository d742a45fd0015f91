#include "core/message/extract/document.h"

#include "core/message/extract/extract_internal.h"

static void begin_document(struct extract *x)
{
    struct extract_document *d = &x->document;

    d->n++;
    d->options = (struct fingerprint_options){.keys = x->limits.imprint.keys,
                                              .guard = x->limits.imprint.guard};
    d->imprint = fingerprint_new(x->arena, &d->options);
    if (d->imprint != NULL) {
        fingerprint_part(d->imprint, FINGERPRINT_OTHER);
    }
}

void extract_document_text(struct extract *x, struct slice text)
{
    struct extract_document *d = &x->document;

    if (x->limits.on_document != NULL) {
        x->limits.on_document(x->limits.text_context, text);
    }
    if (d->imprint == NULL && d->n < EXTRACT_DOCUMENTS) {
        begin_document(x);
    }
    if (d->imprint != NULL) {
        fingerprint_text(d->imprint, text);
    }
}

void extract_document_end(struct extract *x, bool is_cut)
{
    struct extract_document *d = &x->document;

    if (d->imprint != NULL) {
        fingerprint_document(d->imprint, x->set, is_cut);
        fingerprint_drop(d->imprint);
        d->imprint = NULL;
    }
}
