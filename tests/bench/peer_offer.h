/*
 * peer_offer - processor time of sync_offer for the objects of a peer.
 */
#ifndef TESTS_BENCH_PEER_OFFER_H
#define TESTS_BENCH_PEER_OFFER_H

#include <stdbool.h>
#include <stdint.h>

/* Prints the cases offer-count and offer-list. False: an object was not taken. */
bool offer_all(uint64_t counts, uint64_t entries);

#endif
