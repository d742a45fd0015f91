/*
 * retention - periods of a list that ages: beginning a new one, dropping one that is over.
 *
 * A drop is a generation without the levels of that period; what a person said of entries in it
 * is written into the log again first, and its segments are emptied last. So at each instant,
 * and after a crash at each instant, the log makes what serves.
 * Depends: base, compact, writer.   Threads: the writer's.
 * Source: signature ageing by temporally ordered filters (Yan, Cho 2006, section 3); ADR 0023.
 */
#ifndef CORE_LIST_RETENTION_H
#define CORE_LIST_RETENTION_H

#include "core/list/writer.h"

/* Begins the present period when the tail is of a former one: what stands in the tail becomes a
 * level of that. Nothing is staged. */
enum err retention_roll(struct list_writer *w, struct errinfo *reterr);

#endif
