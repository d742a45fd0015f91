/*
 * report_items - the items of a message or value on which a report votes.
 *
 * An item is a counted feature, by the digest under which it is counted. Own items belong to the
 * message alone: near-duplicate keys of the present epoch, text, body, attachments, and URLs with a
 * path that lie on no major domain and no shared host. The others (names, networks, habits) only
 * count as called spam or good in rules and look-ups. Traits are no items.
 * Depends: config, url, feature, count.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_REPORT_REPORT_ITEMS_H
#define CORE_REPORT_REPORT_ITEMS_H

#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/message/feature/feature.h"
#include "core/report/report.h"

/* How much a common item proves about two messages. Only own items prove something. A band is one
 * of several that make a near replica. */
enum report_proof { REPORT_NO_PROOF, REPORT_BAND, REPORT_LINK, REPORT_EXACT };
enum report_proof report_proof(uint16_t type, struct slice value);

/* Whether a report of ham takes a listed value of this type off its lists: names, networks,
 * programs and habits occur in other mail, too. */
bool report_may_revoke(uint16_t type);

/* Whether a listed value of this type says what the messages are that have it: what
 * report_may_revoke takes off lists, and where links lead. */
bool report_is_proved_by(uint16_t type);

/* The beginning of a digest, as votes keep it. */
uint64_t report_digest(const struct digest *d);

/* The epoch of a near-duplicate key: only those of the newest one are items. */
uint64_t report_epoch(struct slice band);

struct report_naming {
    const struct keyring *keys;
    const struct config *config;
};
/* Adds the items of a message; own ones first. */
void report_add_features(const struct report_naming *how,
                         const struct featureset *features, struct report *ret);
/* Adds one feature. False: there is no room, or it is no item. */
bool report_add_item(const struct report_naming *how, uint16_t type, struct slice value,
                     struct report *ret);

#endif
