/*
 * celltable - the few counts that are too large for their cells: number of the cell -> count.
 *
 * Open addressing, grows up to a bound, gives its memory back when empty.
 * Depends: nothing.   Threads: one at a time; celltable_used from any.   Owns: its slots.   ADR 0026.
 */
#ifndef CORE_FILTER_CELLTABLE_H
#define CORE_FILTER_CELLTABLE_H

#include "core/base/std.h"

struct cell_slot {
    uint64_t cell; /* its number + 1; 0: free */
    uint64_t count;
};

struct celltable {
    struct cell_slot *slots; /* NULL when empty */
    uint64_t nslots;         /* a power of two, or 0 */
    uint64_t nslots_max;     /* likewise */
    uint64_t nused;
};

/* nslots_max: rounded up to a power of two, at least 1,024. */
void celltable_init(struct celltable *t, uint64_t nslots_max);
void celltable_fini(struct celltable *t);
/* The count of the cell, or NULL; good until the table is changed. */
uint64_t *celltable_get(const struct celltable *t, uint64_t cell);
/* A cell that is not in it. False: there is no room, or no memory. */
bool celltable_put(struct celltable *t, uint64_t cell, uint64_t count);
/* A cell that is in it. */
void celltable_remove(struct celltable *t, uint64_t cell);
uint64_t celltable_used(const struct celltable *t);
uint64_t celltable_memory(const struct celltable *t); /* bytes */

#endif
