/*
 * sigbus - a mapped file that is cut short, or cannot be read, does not end the process.
 *
 * Touching a page behind the end of a mapped file, one that the disk cannot read, or one for which
 * it has no room raises SIGBUS, which kills. In a guarded range, and in a guarded section of a
 * thread, such a page is replaced and a flag is set. The owner of the mapping looks at the flag
 * before it relies on its pages, and mends the file (filemap_is_damaged, filemap_mend). A SIGBUS
 * from elsewhere goes where it went before.
 * Threads: any. The handler makes only system calls.   Allocates: nothing; up to 2 MiB in a memory
 * file, once.   ADR 0102.
 */
#ifndef CORE_BASE_SIGBUS_H
#define CORE_BASE_SIGBUS_H

#include <stdatomic.h>

#include "core/base/err.h"

enum { SIGBUS_RANGES = 4096 };

/* The page that replaces a lost one. */
enum sigbus_page {
    SIGBUS_ONES, /* only read: a filter says "perhaps" to every key, and a checksum is wrong */
    SIGBUS_ZEROS /* private memory: what is written there reaches no file */
};

/* Guards n bytes at p, a mapping. After a few pages all of a range is replaced at once, so that the
 * number of mappings stays small. ERR_LIMIT: SIGBUS_RANGES are guarded; ERR_IO: the system does not
 * allow it. */
enum err sigbus_add(const void *p, size_t n, enum sigbus_page kind);
/* Call this before the range is unmapped. Fine when p is not guarded. */
void sigbus_remove(const void *p);
/* Whether a page of the range that begins at p was replaced. */
bool sigbus_is_damaged(const void *p);
/* The range has a sound mapping again. */
void sigbus_clear(const void *p);

/* Sets the handler; call this before the first section. ERR_IO as above. */
enum err sigbus_prepare(void);
/* For a library whose mappings have no known place (LMDB). Until sigbus_leave a page that this
 * thread touches in vain becomes zeros, and *damaged becomes true. Sections may lie in each
 * other: sigbus_leave takes what sigbus_enter returned. */
atomic_bool *sigbus_enter(atomic_bool *damaged);
void sigbus_leave(atomic_bool *before);

#endif
