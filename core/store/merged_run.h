/*
 * merged_run - counts of several servers in one bucket, in one file that replaces their runs in a
 * look-up.
 *
 * Made only from runs of the same bucket and digest key: a copy that can be deleted at any time. It
 * lists these runs with their record numbers, totals and checksums, so that a reader knows which of
 * its runs the file replaces. Records (key, source, count) stand in rising order of key, in blocks
 * of MERGED_RUN_BLOCK bytes with a checksum each, which every look-up verifies. Blocks are read,
 * not mapped.
 * Depends: base.   Threads: an open file is constant. Owns: its index, the open file. Format:
 * merged_run_internal.h. ADR 0033.
 */
#ifndef CORE_STORE_MERGED_RUN_H
#define CORE_STORE_MERGED_RUN_H

#include "core/base/err.h"
#include "core/store/run.h"

enum {
    MERGED_RUN_BLOCK = 4096,
    MERGED_RUN_SOURCES_MAX =
        1024 /* runs in one file; further runs are read one by one */
};

struct merged_run_source {
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint64_t inc;
    uint64_t records;
    uint64_t total;
    uint64_t sum; /* of what stands behind the run's blocks */
};

struct merged_run_pair {
    uint32_t source;
    uint64_t count;
};

/* Replaces path durably by the merged runs of one bucket and digest key, at most
 * MERGED_RUN_SOURCES_MAX. ERR_CORRUPT: run *retbad has a damaged block, and no file is made. */
enum err merged_run_write(const char *path, const struct run *const *runs, size_t n,
                          size_t *retbad, struct errinfo *reterr);

struct merged_run;
/* Verifies header, sources, sizes and index, not the blocks. */
enum err merged_run_open(const char *path, struct merged_run **ret,
                         struct errinfo *reterr);
void merged_run_close(struct merged_run **s); /* accepts NULL */
struct merged_run_facts {
    uint64_t start_s;
    uint32_t len_s;
    uint32_t key_id;
    uint64_t bytes; /* of the file */
    uint32_t nsources;
    const struct merged_run_source *sources;
};
const struct merged_run_facts *merged_run_facts(const struct merged_run *s);
/* Whether source i is this very run. */
bool merged_run_has(const struct merged_run *s, size_t i, const struct run *r);

/* Gets the counts of key, at most one for each source. ERR_CORRUPT: a block that would have it is
 * damaged; *retn is 0 then. */
enum err merged_run_get(const struct merged_run *s, uint64_t key,
                        struct merged_run_pair ret[MERGED_RUN_SOURCES_MAX],
                        size_t *retn);

#endif
