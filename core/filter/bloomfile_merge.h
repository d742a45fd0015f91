/*
 * bloomfile_merge - merges filters of several makers: checks that they are equal in shape and not
 * too full.
 *
 * The union is, bit for bit, the filter of all entries of both. It only makes sense for
 * filters of one shape under one key, made for it (roles spam and revoked).
 * Depends: bloomfile.   Threads: pure on its arguments.
 */
#ifndef CORE_FILTER_BLOOMFILE_MERGE_H
#define CORE_FILTER_BLOOMFILE_MERGE_H

#include "core/filter/bloomfile.h"

/* Filters from outside that are planned for more than this are refused. */
#define BLOOMFILE_ERROR_MAX 0.1
enum { BLOOMFILE_PROBES = 65536 };

/* "spam", "revoked", ... */
const char *bloomfile_role_name(enum bloomfile_role role);
struct bloomfile_shape bloomfile_shape_of(const struct bloomfile *f);

/* ERR_OK when the two can be merged; else ERR_RANGE (ERR_KEY for keys) and a text that names the
 * first field in which path's differs, with both values. Origin, generation, entries and creation
 * may differ. */
enum err bloomfile_alike(const struct bloomfile_shape *there, const char *path,
                         const struct bloomfile_shape *its, struct errinfo *reterr);

/* Adds src, read from path, to dst (an opened copy, or one being built), and sets the entries
 * dst then holds. Nothing is changed on failure: bloomfile_alike, or ERR_LIMIT when both together
 * hold more than was planned. */
enum err bloomfile_merge(struct bloomfile *dst, const struct bloomfile *src,
                         const char *path, struct errinfo *reterr);

/* Opens a copy of a filter from outside and judges it. Its role is spam or revoked; its digests
 * and positions are those of key. key NULL: of any ring, for merging files without looking
 * anything up. */
enum err bloomfile_take(struct bloomfile *f, const char *path,
                        const struct hashkey *key, struct errinfo *reterr);
/* Takes the filter at path and adds it to dst; as bloomfile_take (with the key that dst was taken
 * with) and bloomfile_merge. */
enum err bloomfile_merge_file(struct bloomfile *dst, const char *path,
                              const struct hashkey *key, struct errinfo *reterr);

/* How many entries explain the share of set bits; UINT64_MAX when all are set. */
uint64_t bloomfile_estimate(const struct bloomfile *f);

/* Refuses (ERR_CORRUPT) a filter that says yes to more random digests than three times what its
 * entries explain (all ones, say), one with more entries than planned, and one planned for an
 * error above BLOOMFILE_ERROR_MAX. next: what to do about it. */
enum err bloomfile_judge(const struct bloomfile *f, const char *path, const char *next,
                         struct errinfo *reterr);

#endif
