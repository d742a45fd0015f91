/*
 * vote_publisher - publishes the reports that hold here, as the list LIST_VOTES.
 *
 * It follows the log of reports, keeps the newest ones as the stream has them (vote_stream.h), and
 * publishes the difference to what is published. So nothing else is stored, and a crash or a
 * restored disk is only another difference. Of one reporter the reports of a day travel up to
 * TRUST_REPORTS_DAY, as they count. In a federation only calls of spam travel, without reporters
 * and without what lists confirmed.
 * Depends: base, list, report, ring.   Threads: one.   Owns: about 2 MB.   ADR 0077.
 */
#ifndef CORE_HUB_EXCHANGE_VOTE_PUBLISHER_H
#define CORE_HUB_EXCHANGE_VOTE_PUBLISHER_H

#include "core/hub/exchange/node.h"

enum {
    VOTE_PUBLISHER_COMPARE_S = 600 /* also when the log is as it was: votes expire */
};

struct vote_publisher;
/* For an open node, which is borrowed. NULL: no memory. All functions accept NULL. */
struct vote_publisher *vote_publisher_new(struct node *node);
void vote_publisher_free(struct vote_publisher **x);
/* Looks once; to be called each second, after the peers were asked for this server's streams. */
enum err vote_publisher_tick(struct vote_publisher *x, struct errinfo *reterr);

#endif
