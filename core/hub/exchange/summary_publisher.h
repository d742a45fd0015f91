/*
 * summary_publisher - publishes this server's summary, as the list LIST_SUMMARY.
 *
 * In a ring of kind own it publishes the summary (core/summary/summary.h) every SUMMARY_EVERY_S,
 * and at once when the server's state changes. In a federation it publishes nothing, and removes
 * the records that it published before.
 * Depends: base, telemetry, summary, ring.   Threads: one.   Owns: 200 KB.   ADR 0087.
 */
#ifndef CORE_HUB_EXCHANGE_SUMMARY_PUBLISHER_H
#define CORE_HUB_EXCHANGE_SUMMARY_PUBLISHER_H

#include "core/hub/exchange/node.h"
#include "core/summary/summary.h"

struct summary_publisher;
/* For an open node, which is borrowed. NULL: no memory. All functions accept NULL. */
struct summary_publisher *summary_publisher_new(struct node *node);
void summary_publisher_free(struct summary_publisher **x);
/* Call it each second, after the peers were asked for this server's streams. */
enum err summary_publisher_tick(struct summary_publisher *x, const struct headline *h,
                                struct errinfo *reterr);

#endif
