/*
 * guard - which entries of a feed are never taken, whatever the feed says.
 *
 * Public suffixes; names of ours (`protected`, allow.domains, allow.addresses, allow lists) and names above them; giants
 * (core/feed/giant.def: names so large that listing them whole is always a mistake); names and networks on which much of
 * this site's good mail of late depends (the journal of gillnetd, core/base/journal.h, or a folder of ham); hosts that many strangers share
 * (private suffixes and a list of hosting names), which may be listed by path or by customer's name only.
 * Depends: base, config, url, feature, list.   Threads: one guard, one thread.
 */
#ifndef CORE_FEED_GUARD_H
#define CORE_FEED_GUARD_H

#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/feature/lookup.h"

struct feed_guard;
/* keys: of the lists, for digests of the journal. The journal need not be there. */
enum err feed_guard_new(const struct config *config, const struct config_feed *feed,
                        const struct keyring *keys, struct feed_guard **ret,
                        struct errinfo *reterr);
void feed_guard_free(struct feed_guard **g);
/* NULL: it may be taken; else why not, a word for metrics ("giant", "protected", "suffix", "shared", "ham", "allowed")
 * and *retwhy a sentence for people. Constant time but for look-ups. */
const char *feed_guard_refuses(const struct feed_guard *g,
                               const struct feature_entry *e, const char **retwhy);
/* Messages of good mail the guard knows of; 0: there is no journal. */
uint64_t feed_guard_ham(const struct feed_guard *g);

#endif
