/*
 * transfer - streaming decoders of content transfer encodings: base64, quoted-printable, none.
 *
 * Fed in chunks cut anywhere; junk in base64 is skipped as mail clients do, a broken escape of
 * quoted-printable stays as it is. Linear, constant state. Threads: one at a time.
 */
#ifndef CORE_MESSAGE_TEXT_TRANSFER_H
#define CORE_MESSAGE_TEXT_TRANSFER_H

#include "core/base/slice.h"

enum transfer_kind { TRANSFER_IDENTITY, TRANSFER_BASE64, TRANSFER_QUOTED_PRINTABLE };

struct transfer {
    enum transfer_kind kind;
    uint32_t bits; /* base64: collected bits */
    unsigned nbits;
    bool has_junk;  /* base64: the input had a printable byte outside the alphabet */
    char held[128]; /* quoted-printable: white space or escape not yet decided */
    size_t nheld;
};

/* Kind from a Content-Transfer-Encoding value ("BASE64 ", "quoted-printable; x"). */
enum transfer_kind transfer_kind_of(struct slice value);
void transfer_init(struct transfer *t, enum transfer_kind kind);
/* Decodes in; dst must hold transfer_bound(in.n) bytes; returns bytes written. */
size_t transfer_feed(struct transfer *t, struct slice in, char *dst);
size_t transfer_end(struct transfer *t, char *dst); /* at most sizeof(held) bytes */
size_t transfer_bound(size_t n);

#endif
