/*
 * mailbox - one form for all spellings of an address that reach the same mailbox.
 *
 * ASCII letters of the local part are written in lower case. For a provider of mailbox.def, the
 * ignored bytes and the tag are removed, and one of the provider's domains stands for all:
 *   "V.ictim+x@googlemail.com" -> "victim@gmail.com"
 * A quoted local part changes only its case, and so does a local part that would become empty.
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_MAILBOX_H
#define CORE_MESSAGE_URL_MAILBOX_H

#include "core/base/arena.h"
#include "core/base/slice.h"

/* Returns the mailbox of address, which is in the normal form of address.h. Returns address itself
 * (the same pointer) if nothing differs; {NULL, 0}: the arena is full. */
struct slice mailbox_of(struct arena *arena, struct slice address);
/* True if both reach one mailbox. */
bool mailbox_eq(struct slice a, struct slice b);

#endif
