/*
 * address - RFC 5322 address lists in header fields, read leniently, without recursion.
 *
 * "Name" <a@b>, a@b (comment), groups, quoted local parts, obsolete routes; several addresses; a
 * bare word without @ gives nothing. The normal form keeps the local part, puts the domain in
 * normal form (core/message/url/host.h). Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_ADDRESS_H
#define CORE_MESSAGE_URL_ADDRESS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum { ADDRESS_BYTES_MAX = 320 };

struct address {
    struct slice display; /* display name, quotes removed, not yet RFC 2047 decoded */
    struct slice text;    /* normal form local@domain */
    struct slice
        domain; /* the part of text after @; an address literal keeps its brackets off */
};

/* Parses a field body; writes at most max addresses; returns how many there are in ret. *retrest
 * (may be NULL) is the end of the field whose addresses did not fit; empty when all did. */
size_t address_list_parse(struct arena *arena, struct slice field, struct address *ret,
                          size_t max, struct slice *retrest);
/* One address as in SMTP (with or without angle brackets) or in a list entry. "<>" and bad ones:
 * ERR_SYNTAX. */
enum err address_parse(struct arena *arena, struct slice text, struct address *ret);

#endif
