/*
 * spill - byte strings that are wanted again later, in unlinked temporary files.
 *
 * There is one file for each day, so that its space is freed when the day expires. If the disk
 * fails, the strings stay in memory, up to SPILL_MEMORY_MAX.
 * Depends: base.   Threads: any (a lock inside).   Owns: the files and the memory.   ADR 0026.
 */
#ifndef CORE_COUNT_SPILL_H
#define CORE_COUNT_SPILL_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum { SPILL_FILES = 24, SPILL_MEMORY_MAX = 64 << 20 };

struct spill;

/* Where a string is; the caller keeps it until spill_drop. */
struct spill_ref {
    union {
        uint64_t at; /* offset in the file */
        void *bytes; /* in memory */
    };
    uint32_t n; /* bytes */
    uint32_t file;
};

/* dir: where the files go; NULL: memory only. Nothing is made before the first string. */
enum err spill_new(const char *dir, struct spill **ret);
void spill_free(
    struct spill **s); /* frees what was not dropped in files, not in memory */
/* ERR_NOSPACE: the disk refuses and the memory is used up; ERR_NOMEM: there is none. */
enum err spill_put(struct spill *s, uint64_t day, struct slice bytes,
                   struct spill_ref *ret);
/* Copies the string to dst, which has room for ref->n bytes. */
enum err spill_get(struct spill *s, const struct spill_ref *ref, void *dst);
void spill_drop(struct spill *s, struct spill_ref *ref);
/* It will be asked for soon: the system may read it ahead. */
void spill_advise(struct spill *s, const struct spill_ref *ref);
bool spill_in_memory(const struct spill_ref *ref);
uint64_t spill_bytes(const struct spill *s);  /* held in files and in memory */
uint64_t spill_memory(const struct spill *s); /* of them in memory */

#endif
