/*
 * network - IP networks as list entries have them: the prefix lengths and the text form.
 * Threads: pure.   Allocates: from the arena.   Depends: text (host).
 */
#ifndef CORE_MESSAGE_FEATURE_NETWORK_H
#define CORE_MESSAGE_FEATURE_NETWORK_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

/* The prefix lengths that entries may have, longest first: IPv4 32 to 8, IPv6 128, 64, 60, 56, 52
 * and 48 to 19. A message's address is sought at each of them. */
const uint8_t *feature_prefixes_v4(size_t *retcount);
const uint8_t *feature_prefixes_v6(size_t *retcount);

/* "192.0.2.0/24" of any address in it, bits below the length cleared; full length is written
 * without "/32" or "/128". addr as in core/message/url/host.h; length counts from the address' own
 * first bit. {NULL, 0} when the arena is full. */
struct slice feature_network_text(struct arena *arena, const uint8_t addr[16],
                                  unsigned length);

/* Reads "192.0.2.1", "192.0.2.0/24", "2001:db8::/32" into the normal text. ERR_SYNTAX: it does
 * not look like a network at all; ERR_RANGE: it does, but not with a length that is possible or
 * allowed, reterr says which. */
enum err feature_network_parse(struct arena *arena, struct slice text,
                               struct slice *ret, struct errinfo *reterr);

#endif
