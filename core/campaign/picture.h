/*
 * picture - how many messages of a campaign came when, in 16 bytes.
 *
 * PICTURE_BARS counters of equal times, from the first message on. When a message is too late for
 * the last one, neighbours are added up and each time is twice as long; when a counter is full,
 * all are halved and count each second message from then on. So a picture shows the whole life of
 * a campaign, of an hour or of a year, and a bar is never more than one step of its scale wrong for
 * each halving.
 * Private to this room.   Threads: pure.   Allocates: nothing.   ADR 0092.
 */
#ifndef CORE_CAMPAIGN_PICTURE_H
#define CORE_CAMPAIGN_PICTURE_H

#include "core/base/std.h"

enum { PICTURE_BARS = 14, PICTURE_STEP_S = 600 };

struct picture {
    uint8_t bar[PICTURE_BARS];
    uint8_t scale; /* a step of a bar is 1 << scale messages */
    uint8_t width; /* a bar is PICTURE_STEP_S << width seconds */
};

/* The nth message of the campaign, from 1 on, came age_s after the first. */
void picture_add(struct picture *p, uint64_t age_s, uint64_t nth);
/* Any bytes make a picture of a file: these are their bounds. */
uint64_t picture_messages(const struct picture *p, unsigned bar);
uint64_t picture_step_s(const struct picture *p);

#endif
