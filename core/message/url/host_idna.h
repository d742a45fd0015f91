/*
 * host_idna - names of any script to A-labels, for host.c, and back.
 *
 * Threads: any.   Allocates: nothing.
 * Source: UTS 46, non-transitional, CheckBidi and CheckJoiners; WHATWG "domain to ASCII".
 */
#ifndef CORE_MESSAGE_URL_HOST_IDNA_H
#define CORE_MESSAGE_URL_HOST_IDNA_H

#include "core/base/slice.h"
#include "core/message/url/host.h"

/* UTS 46 ToASCII of UTF-8. Returns the length in dst, 0 if text is no domain name. Empty and long
 * labels pass: the caller decides about them. */
size_t host_to_ascii(struct slice text, char dst[HOST_INPUT_MAX]);
/* The label that an A-label ("xn--...") stands for, in UTF-8; returns its length in dst, 0 if it is
 * none. */
size_t host_to_unicode(struct slice label, char dst[HOST_INPUT_MAX]);

#endif
