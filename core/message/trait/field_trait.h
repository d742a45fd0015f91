/*
 * field_trait - traits of header fields that programs write, not people.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_FIELD_TRAIT_H
#define CORE_MESSAGE_TRAIT_FIELD_TRAIT_H

#include "core/message/trait/trait.h"

enum {
    /* Servers try for five days; a note that was written offline is older at times. */
    DATE_BEHIND_SECONDS = 6 * 86400,
    DATE_AHEAD_SECONDS = 12 * 3600, /* a clock in the wrong zone */
    BOUNDARY_DIGITS_MIN = 6         /* a boundary of so many digits and nothing else */
};

void message_id_traits(struct slice value, struct traits *ret);
/* taken: the date of the first Received field; empty if there is none. */
void date_traits(struct slice date, struct slice taken, struct traits *ret);
void boundary_traits(struct slice boundary, struct traits *ret);

#endif
