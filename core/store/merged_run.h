/*
 * merged_run - what several servers counted in one bucket, in one file: asked once instead of run by run.
 *
 * Made of runs of the same bucket and ring key, and of them alone: a copy that may go at any time. It names the runs it
 * was made of, with what identifies their content, so that whoever asks sees which of his runs it stands for.
 * Records (key, source, count) in rising order of key, in blocks of SHEET_BLOCK bytes with a checksum each, which every
 * look-up verifies. Blocks are read, not mapped.
 * Depends: base.   Threads: an open sheet is constant.   Owns: its index, the open file.   Format: sheet_own.h. ADR 0033.
 */
#ifndef CORE_STORE_MERGED_RUN_H
#define CORE_STORE_MERGED_RUN_H

#include "core/base/err.h"
#include "core/store/run.h"

enum {
    MERGED_RUN_BLOCK = 4096,
    MERGED_RUN_SOURCES_MAX =
        1024 /* runs in one sheet; more are left to be asked themselves */
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

/* Replaces path durably by a sheet of runs of one bucket and ring key, at most SHEET_SOURCES_MAX. ERR_CORRUPT: *retbad
 * is the first with a damaged block, no sheet is made. */
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

/* Who counted key, and how often, at most once a source. ERR_CORRUPT: a block that would have it is damaged; *retn
 * is 0 then. */
enum err merged_run_get(const struct merged_run *s, uint64_t key,
                        struct merged_run_pair ret[MERGED_RUN_SOURCES_MAX],
                        size_t *retn);

#endif
