/*
 * count_publisher - what gillnetd counts here, published each second.
 *
 * Depends: count, peer.   Threads: one.   Owns: what it follows.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_COUNT_PUBLISHER_H
#define CORE_HUB_EXCHANGE_COUNT_PUBLISHER_H

#include "core/hub/exchange/node.h"

struct counts;
/* Follows the counts of an open node. NULL-able: counts_tick accepts NULL. */
enum err counts_new(struct node *node, struct counts **ret, struct errinfo *reterr);
void counts_free(struct counts **c);
/* Looks once. ERR_OK also where gillnetd has not counted yet. */
enum err counts_tick(struct counts *c, struct errinfo *reterr);
uint64_t counts_published(const struct counts *c); /* records, since the start */

#endif
