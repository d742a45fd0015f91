/*
 * sender_name - traits of the name beside the From address.
 *
 * A name that is an address or a host of another domain claims to be that sender. Programs on
 * phones show nothing but the name.
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_TRAIT_SENDER_NAME_H
#define CORE_MESSAGE_TRAIT_SENDER_NAME_H

#include "core/base/arena.h"
#include "core/message/trait/trait.h"

/* raw: as the field has it. name: decoded, UTF-8. domain: host of the address, in normal form. */
void sender_name_traits(struct arena *scratch, struct slice raw, struct slice name,
                        struct slice domain, struct traits *ret);

#endif
