/*
 * pattern_cache - compiled patterns in the file STATE/rules.cache, so that the next start need not
 * compile them.
 *
 * The file: 32 bytes of sum, then entries of a name (32 bytes), a length (4, LE) and bytes. The
 * sum is keyed with the first digest key, because vectorscan trusts what it reads. It does not
 * protect root from the service's user, who has the key: a file is used only if it belongs to
 * root or to the caller, and root's file stays root's. Whatever is wrong with the file, there is
 * no cache then, and the next writer replaces it.
 * Threads: a cache is constant.   Owns: the bytes of the file.   ADR 0059.
 */
#ifndef CORE_VERDICT_RULE_PATTERN_CACHE_H
#define CORE_VERDICT_RULE_PATTERN_CACHE_H

#include "core/base/buf.h"
#include "core/base/hash256.h"

#define PATTERN_CACHE_FILE "rules.cache"
enum { PATTERN_CACHE_MAX = 256 << 20 }; /* bytes of the file */

struct pattern_cache;
/* NULL: there is none, or it cannot be trusted. */
struct pattern_cache *pattern_cache_read(const char *state_dir);
void pattern_cache_free(struct pattern_cache **c);
/* The bytes of an entry, any alignment; p is NULL if there is none. c may be NULL. */
struct slice pattern_cache_find(const struct pattern_cache *c,
                                const struct hash256 *name);

/* Adds an entry to what pattern_cache_write gets. */
void pattern_cache_add(struct buf *entries, const struct hash256 *name,
                       struct slice bytes);
/* False: no keys, no right to write there, or no room; nothing is changed. */
bool pattern_cache_write(const char *state_dir, struct slice entries);

#endif
