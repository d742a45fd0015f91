/*
 * extract_stages - what extraction is made of, each stage timed alone on the same message.
 *
 * Stages get what the one before would give them, made beforehand: their times do not add up to
 * that of the whole, which also keeps features, places and checksums.
 */
#ifndef TESTS_BENCH_EXTRACT_STAGES_H
#define TESTS_BENCH_EXTRACT_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/message/extract/extract.h"

enum stage {
    STAGE_MIME,     /* structure, transfer encodings, header fields */
    STAGE_CHARSET,  /* text parts to UTF-8 */
    STAGE_HTML,     /* HTML parts to tokens, and to what is shown */
    STAGE_URL,      /* found in what is shown and in attributes, parsed, unwrapped */
    STAGE_FOLDING,  /* what is shown to folded words */
    STAGE_SHINGLES, /* folded words to sketches and their keys */
    STAGES
};

extern const char *const stage_names[STAGES];

/* The least time of each stage over the rounds, in ns, and the bytes it was given; added to
 * what is there. False: no memory. */
bool stages_run(struct slice message, const struct extract_limits *limits,
                unsigned rounds, uint64_t retns[STAGES], uint64_t retbytes[STAGES]);

uint64_t bench_now_ns(void); /* CPU time of this thread */

/* GMime alone: parse the message, decode every part. The least time over the rounds; 0 where the
 * library was not there when this was built. */
uint64_t gmime_run(struct slice message, unsigned rounds);

#endif
