/*
 * print_counts - how often the features of a message were seen, for people; as JSON: core/count/count_json.h.
 * Threads: one.
 */
#ifndef CORE_CLI_PRINT_COUNTS_H
#define CORE_CLI_PRINT_COUNTS_H

#include "core/count/message.h"

/* "  count url_domain evil.example 3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d" lines; where peers counted it with " (in 14d
 * own 16, alpha 1)". */
void counted_print(const struct message_counts *counts);

/* "3 in 10m, 5 in 1h, 5 in 1d, 17 in 14d", with thousands apart. */
void counted_print_windows(const uint64_t w[COUNT_WINDOWS]);

#endif
