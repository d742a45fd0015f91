/*
 * mail_text - UTF-8 text as ASCII in a mail: quoted-printable and encoded words.
 *
 * Threads: pure.   Allocates: nothing.   Source: RFC 2045 section 6.7, RFC 2047.
 */
#ifndef CORE_QUARANTINE_MAIL_TEXT_H
#define CORE_QUARANTINE_MAIL_TEXT_H

#include "core/base/buf.h"

/* Appends "NAME: value\n", folded. Control characters become blanks. */
void mail_text_add_field(struct buf *b, const char *name, struct slice value);
/* Appends text as quoted-printable; its lines end in LF. */
void mail_text_add_body(struct buf *b, struct slice text);

#endif
