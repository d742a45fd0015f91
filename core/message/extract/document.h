/*
 * document - inside of core/message/extract: the text of a document in a file, and its keys.
 *
 * A document's text has a checksum and near-duplicate keys of its own, made as those of the
 * message's text are. They stand beside those of the message: a campaign with one document and ever
 * new letters is known by it.
 */
#ifndef CORE_MESSAGE_EXTRACT_DOCUMENT_H
#define CORE_MESSAGE_EXTRACT_DOCUMENT_H

#include "core/message/extract/fingerprint.h"

struct extract;

enum {
    EXTRACT_DOCUMENTS = 8
}; /* of a message, whose text has keys: each takes memory */

struct extract_document {
    unsigned n; /* documents so far */
    struct fingerprint_options options;
    struct fingerprint
        *imprint; /* of the document that is read; NULL: it has no text yet */
};

/* Text of the document at hand that its reader sees, in order. The end of a call ends a line. */
void extract_document_text(struct extract *x, struct slice text);
/* The document is over: its keys become features. is_cut: not all of it was read. */
void extract_document_end(struct extract *x, bool is_cut);

#endif
