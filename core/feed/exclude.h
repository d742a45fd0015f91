/*
 * exclude - entries that a list never takes from a feed:
 *   our own names (`protected`, allow.domains, allow.addresses, allow lists), names above them, our
 *   networks; public suffixes;
 *   major domains (core/message/url/known_name.h), because a feed that lists one whole is mistaken;
 *   hosts that many strangers share, unless the entry has a path or a customer's name;
 *   private, local and very wide networks;
 *   keys of much recent good mail of this site (core/telemetry/ham_log.h).
 * A key of good mail counts only if it was seen for longer than a day. Mail of a fresh campaign is
 * in that log too as long as no list has it, and such names are the ones that feeds are for.
 * Depends: base, config, url, feature, list.   Threads: one guard, one thread.   Owns: a copy of
 * the log's keys.
 */
#ifndef CORE_FEED_EXCLUDE_H
#define CORE_FEED_EXCLUDE_H

#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/message/feature/list_keys.h"

enum {
    FEED_HAM_LEAST =
        3, /* messages that an entry must be in for any ham_share; `feed test --ham`: 1 */
    FEED_HAM_SPAN_S = 86400, /* between the first and the last of them, at least */
    FEED_POPULAR_MESSAGES =
        20, /* messages, of FEED_POPULAR_NETWORKS networks: a name that people use here */
    FEED_POPULAR_NETWORKS = 5,
    FEED_REPLAY_TIMES =
        10, /* new entries that hit `ham_share` times this of all good mail are refused */
    FEED_NETWORK_V4 = 16, /* wider networks are left out */
    FEED_NETWORK_V6 = 32
};

/* Good mail that an administrator gave (`gillnet feed ham`), as a ham log in the state folder. */
#define STATE_HAM_FILE "feeds/ham.log"

struct feed_exclude;
/* config and keys are borrowed and outlive it. keys: of the lists, for digests of the ham log. The
 * ham log need not be there. */
enum err feed_exclude_new(const struct config *config, const struct config_feed *feed,
                          const struct keyring *keys, struct feed_exclude **ret,
                          struct errinfo *reterr);
void feed_exclude_free(struct feed_exclude **g); /* accepts NULL */
/* NULL: it may be taken; else why not, a word for metrics ("major_domain", "shared", "suffix",
 * "protected", "allowed", "network", "empty", "ham") and *retwhy a sentence for people. */
const char *feed_exclude_refuses(const struct feed_exclude *g,
                                 const struct feature_entry *e, const char **retwhy);
/* Good messages of the ham log; 0: there is none. */
uint64_t feed_exclude_ham(const struct feed_exclude *g);
/* Marks the good messages that have the entry in them; returns how many are marked by now. */
uint64_t feed_exclude_mark(struct feed_exclude *g, const struct feature_entry *e);
/* The marked entries hit too much good mail for one update (FEED_REPLAY_TIMES). */
bool feed_exclude_is_too_much(const struct feed_exclude *g);

#endif
