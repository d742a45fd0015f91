/*
 * extract_stages - the stages of extraction, each timed alone on the same message.
 *
 * Each stage gets the output of the one before, made beforehand. The times do not add up to the
 * time of the whole extraction, which also keeps features, places and checksums.
 */
#ifndef TESTS_BENCH_EXTRACT_STAGES_H
#define TESTS_BENCH_EXTRACT_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/message/extract/extract.h"

enum stage {
    STAGE_MIME,     /* structure, transfer encodings, header fields */
    STAGE_CHARSET,  /* text parts to UTF-8 */
    STAGE_HTML,     /* HTML parts to tokens, and to the text shown */
    STAGE_URL,      /* found in shown text and in attributes, parsed, unwrapped */
    STAGE_FOLDING,  /* shown text to folded words */
    STAGE_SHINGLES, /* folded words to sketches and their keys */
    STAGES
};

extern const char *const stage_names[STAGES];

/* Adds to *ret the least time of each stage over the rounds, in ns, and the bytes of its input.
 * False: no memory. */
bool stages_run(struct slice message, const struct extract_limits *limits,
                unsigned rounds, uint64_t retns[STAGES], uint64_t retbytes[STAGES]);

uint64_t bench_now_ns(void); /* CPU time of this thread */

/* GMime alone: parse the message, decode every part. The least time over the rounds; 0 where the
 * library was not there when this was built. */
uint64_t gmime_run(struct slice message, unsigned rounds);

#endif
