/*
 * arenapool - a few used arenas kept for the next messages.
 *
 * An idle session holds no arena, so thousands of idle connections cost little; busy ones find
 * a warm one here.
 * Threads: any.   Owns: the arenas that lie in it.
 */
#ifndef MILTER_ARENAPOOL_H
#define MILTER_ARENAPOOL_H

#include "core/base/arena.h"

enum { ARENAPOOL_MAX = 16 };

/* An empty arena with this cap; NULL without memory. The caller owns it. */
struct arena *arenapool_take(size_t cap_bytes);
/* Takes *a back, with the cap_bytes of arenapool_take, and nulls it; accepts NULL. */
void arenapool_give(struct arena **a, size_t cap_bytes);
/* Frees what lies in the pool. */
void arenapool_clear(void);

#endif
