/*
 * counted - how often the features of a message were seen, as JSON and for people.
 * Threads: one.
 */
#ifndef CORE_CLI_COUNTED_H
#define CORE_CLI_COUNTED_H

#include "core/cli/json.h"
#include "core/count/message.h"

/* [{type, value, w10m, w1h, w1d, w14d, exact, distinct, own, peers}]; distinct (recipients, networks, senders)
 * where it is counted; own and peers (exact, see counted_peers_json) where peers counted it. Features never seen are
 * left out. NULL without memory. */
json_t *counted_json(const struct message_counts *counts, bool is_exact);
/* "  count url_domain evil.example 3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d" lines; where peers counted it with " (in 14d
 * own 16, alpha 1)". */
void counted_print(const struct message_counts *counts);

/* [{"origin": "1f...", "name": "alpha", "cap": 10, "w10m": 1, ...}] of the peers that counted it. */
json_t *counted_peers_json(const struct count_shares *s);

/* {"w10m": 1, ...}; NULL without memory. */
json_t *counted_windows_json(const uint64_t w[COUNT_WINDOWS]);
/* "3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d", with thousands apart. */
void counted_print_windows(const uint64_t w[COUNT_WINDOWS]);

#endif
