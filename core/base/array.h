/*
 * array - room at the end of an array that grows on the heap.
 *
 *     if (!array_room(&l->v, &l->room, l->n + 1, LIST_MAX, sizeof(*l->v))) {
 *         return errinfo_nomem(reterr, path);
 *     }
 *     l->v[l->n++] = entry;
 *
 * Threads: pure.   Allocates: the array, by realloc; the caller frees it.
 */
#ifndef CORE_BASE_ARRAY_H
#define CORE_BASE_ARRAY_H

#include "core/base/std.h"

/* Makes *room at least `need`: it doubles, and never exceeds `most`. parray is the address of the
 * pointer to the first element, which is NULL while *room is 0; each: bytes of an element. New
 * elements are not set. False: need exceeds most, or there is no memory; nothing changed. */
bool array_room(void *parray, size_t *room, size_t need, size_t most, size_t each);

/* For qsort(3): rising order of the uint64_t that an element is or begins with. */
int array_u64_cmp(const void *a, const void *b);

#endif
