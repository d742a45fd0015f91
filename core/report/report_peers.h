/*
 * report_peers - the votes of the other servers of the ring, from the lists that the hub fetched.
 *
 * STATE/peers/lists/ORIGIN/lists/gillnet-votes holds what a server says (vote_stream.h). Each look
 * compares it with what was noted: new reports vote, those that are gone do not. So a report counts
 * once, however often it comes.
 * A server of the same owner speaks fully: its reporters, traps and administrator are ours, and a
 * value that its lists name confirms reports here. Trust is not sent; each server learns it from
 * the same votes and evidence, and one report teaches once.
 * Any other server is one reporter who is always a newcomer (BALLOT_PEER): its votes for spam count
 * as one of TRUST_NEW, and its votes for ham count nothing. Others are: members of a federation, a
 * member with a cap, all members if peers.cap or peers.quorum is set, and one with a weight below 1
 * in peers.weights. Weight 0: it has no votes.
 * At the start the votes are noted in the order of time with those of the log, so that trust is as
 * it was.
 * Depends: base, config, list, store, votes, vote_stream.   Threads: one at a time.   Owns: open
 * lists, 16 bytes a report.   ADR 0077.
 */
#ifndef CORE_REPORT_REPORT_PEERS_H
#define CORE_REPORT_REPORT_PEERS_H

#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/report/votes.h"

struct report_peers;
/* votes and keys are borrowed. NULL: no memory. */
struct report_peers *report_peers_new(const char *state_dir, const struct keyring *keys,
                                      struct votes *votes);
/* Accepts NULL. */
void report_peers_free(struct report_peers **p);

/* Finds what is new, and takes what is gone. New records wait for report_peers_until. Cheap when
 * nothing changed. A list that cannot be read keeps its votes. */
void report_peers_look(struct report_peers *p, const struct config *config,
                       uint64_t now_s);
/* Notes what waits and is not later than time_s. */
void report_peers_until(struct report_peers *p, uint64_t time_s);
/* Reports of others that hold. */
size_t report_peers_count(const struct report_peers *p);

#endif
