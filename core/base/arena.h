/*
 * arena - all memory of one message: many small allocations, one free, a hard cap.
 *
 * Depends: -   Threads: one thread at a time.   Owns: its chunks.
 * Over the cap arena_alloc gives NULL and the arena remembers it (arena_is_full), so that a
 * parser can stop a branch, keep what it has and say limit=memory.
 */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include "core/base/slice.h"

struct arena;

/* A new arena that gives out at most cap_bytes in all; NULL without memory. */
struct arena *arena_new(size_t cap_bytes);
/* Frees everything allocated from it and the arena; *a becomes NULL; accepts NULL. */
void arena_free(struct arena **a);
/* Forgets every allocation and arena_is_full, and keeps one chunk for the next message. */
void arena_reset(struct arena *a);

/* A place to come back to: arena_rewind frees all later allocations at once. */
struct arena_mark {
    void *head;
    void *behind; /* chunk after it */
    size_t filled;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, const struct arena_mark *to);

/* size zeroed bytes aligned for any type, or NULL over the cap. size 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t size);
/* An array of count elements of size bytes, zeroed; NULL over the cap or on overflow. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* size bytes for text: unaligned, not zeroed. */
char *arena_bytes(struct arena *a, size_t size);
/* A copy of s with a NUL after it (not counted); {NULL, 0} over the cap. */
struct slice arena_copy(struct arena *a, struct slice s);

/* An allocation has been refused since arena_new or arena_reset. */
bool arena_is_full(const struct arena *a);
/* Bytes given out since arena_new or arena_reset. */
size_t arena_used(const struct arena *a);

#endif
