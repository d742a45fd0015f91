/*
 * count_publisher - publishes the counts of the local gillnetd each second.
 *
 * Depends: count, ring.   Threads: one.   Owns: its place in the counts.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_COUNT_PUBLISHER_H
#define CORE_HUB_EXCHANGE_COUNT_PUBLISHER_H

#include "core/hub/exchange/node.h"

struct count_publisher;
/* Follows the counts of an open node. All functions accept NULL instead of a publisher. */
enum err count_publisher_new(struct node *node, struct count_publisher **ret,
                             struct errinfo *reterr);
void count_publisher_free(struct count_publisher **c);
/* Looks once. ERR_OK also where gillnetd has not counted yet. */
enum err count_publisher_tick(struct count_publisher *c, struct errinfo *reterr);
uint64_t count_publisher_published(
    const struct count_publisher *c); /* records, since the start */

#endif
