/*
 * count_protocol - counts asked for over gillnetd's control socket: requests and answers as lines
 * of text.
 *
 *   count-batch KEYS DIGEST[+DIGEST]=AMOUNT...     one line "10m 1h 1d 14d" for each
 *   count-exact KEYS DIGEST[+DIGEST]               "now N", "first N", "last N", "damaged N",
 *                                                  "buckets N...", "days N..."
 *   count-shares KEYS DIGEST[+DIGEST]              the same, then "quorum N", and for each peer
 *                                                  with a say "peer ORIGIN NAME CAP FIRST LAST
 *                                                  DAMAGED AGE 10m 1h 1d 14d" (AGE: seconds; of
 *                                                  the shared store alone, else 0)
 *
 *   count-called KEYS FROM TO DIGEST[+DIGEST]      one line "SPAM GOOD CLEARED": people who called
 *                                                  the value so between these seconds since 1970
 *
 * KEYS are the numbers of the digest keys that the digests were made with ("1f00aa02+22b1c0de"),
 * which must equal the keys of gillnetd: nothing ever reads counts under another key.
 * Numbers are decimal, digests 32 hexadecimal digits. Answers begin with "ok" or "error WHY".
 * Depends: base, count.h.   Threads: pure except for the calls of the port.
 */
#ifndef CORE_COUNT_COUNT_PROTOCOL_H
#define CORE_COUNT_COUNT_PROTOCOL_H

#include "core/base/buf.h"
#include "core/base/keyring.h"
#include "core/base/slice.h"
#include "core/count/count.h"

enum {
    COUNT_WIRE_ITEMS = 256, /* of one request */
    COUNT_WIRE_REQUEST_MAX =
        32768, /* bytes that as many items fit, with the line's end */
    COUNT_WIRE_ANSWER_MAX = 96 * 1024,
    COUNT_WIRE_AMOUNT_MAX = 1000000 /* more is no message's */
};

/* ---- who asks ---- */

/* Appends the line, without its end. n: at most COUNT_WIRE_ITEMS. */
void count_wire_batch(const struct keyring *keys, const struct count_item *items,
                      size_t n, struct buf *ret);
void count_wire_exact(const struct keyring *keys,
                      const struct digest digest[KEYRING_MAX], struct buf *ret);
void count_wire_shares(const struct keyring *keys,
                       const struct digest digest[KEYRING_MAX], struct buf *ret);
void count_wire_called(const struct keyring *keys,
                       const struct digest digest[KEYRING_MAX], uint64_t from_s,
                       uint64_t to_s, struct buf *ret);
/* Reads the answer. False: it is malformed or an error, and must not be used. */
bool count_wire_values(struct slice answer, struct count_item *items, size_t n);
bool count_wire_history(struct slice answer, struct count_history *ret);
bool count_wire_read_called(struct slice answer, struct count_called *ret);
/* Of a peer's history only first, last and damaged are known. On failure *ret is empty. */
bool count_wire_read_shares(struct slice answer, struct count_breakdown *ret);

/* ---- who answers ---- */

/* Answers a request that begins with "count-", from anybody, into ret. port NULL: nothing is
 * counted. */
void count_wire_answer(struct slice request, const struct count_port *port,
                       const struct keyring *keys, struct buf *ret);

#endif
