/*
 * mailing_list - the mailing list of a message, as one number for the guard.
 *
 * The number is a hash of the list's name and of the source of the mail. The name is the List-Id,
 * else Mailing-List, X-Mailing-List or X-BeenThere, else the author if Precedence is bulk or list.
 * The source is the client's domain as the MTA verified it, else the client's network. A sender can
 * write any name, but cannot choose the source.
 * Threads: one at a time.   Allocates: nothing.   Depends: base, feature, url.   ADR 0050.
 */
#ifndef CORE_MESSAGE_EXTRACT_MAILING_LIST_H
#define CORE_MESSAGE_EXTRACT_MAILING_LIST_H

#include "core/base/slice.h"
#include "core/message/feature/feature.h"

/* All bytes zero: no list. */
struct mailing_list {
    uint64_t hash; /* of its name; 0: none */
    bool has_id;
    bool is_bulk;
};

/* These add a List-Id in normal form, another of the fields above, and a Precedence field. */
void mailing_list_id(struct mailing_list *l, struct slice id);
void mailing_list_address(struct mailing_list *l, struct slice value);
void mailing_list_precedence(struct mailing_list *l, struct slice value);
/* Returns the number. set has the features of header and envelope. 0: the message has no list. */
uint64_t mailing_list_key(const struct mailing_list *l, const struct featureset *set);

#endif
