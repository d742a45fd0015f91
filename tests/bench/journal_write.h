/* journal_write - a journal of made records, for benchmarks. */
#ifndef TESTS_BENCH_JOURNAL_WRITE_H
#define TESTS_BENCH_JOURNAL_WRITE_H

#include "core/base/prng.h"
#include "core/verdict/journal/journal.h"

/* Fills record i. Its texts may lie in static memory: it is added before the next one is filled. */
typedef void journal_fill(struct record *r, struct prng *p, uint64_t i);

/* Writes n records with journal_add into the state folder, and waits where the ring is full. An error
 * ends the program. Returns the processor time of the calls that added, in microseconds. */
uint64_t journal_write(const char *folder, uint64_t n, journal_fill *fill);

#endif
