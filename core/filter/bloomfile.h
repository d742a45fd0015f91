/*
 * bloomfile - a bloom filter on disk: 4 KiB header, lines, checksums of 64 KiB blocks.
 *
 * Header: magic "GNBLOOM1", version, k, nlines, entries, key id, generation, created, layout,
 * checksum of the block table, checksum of the header. File size must equal what the header
 * computes to. Every truncation, flipped bit, foreign key or version is refused with a reason.
 * Depends: base, bloom.   Owns: a copy of an opened file, which may be cut short meanwhile.
 */
#ifndef CORE_FILTER_BLOOMFILE_H
#define CORE_FILTER_BLOOMFILE_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/filter/bloom.h"

struct bloomfile {
    struct bloom bloom;
    uint64_t entries;
    uint64_t generation;
    uint64_t created_s;
    struct filemap map; /* of an opened file */
    void *built;        /* memory of bloomfile_new */
    size_t built_bytes;
};

/* Opens read-only and verifies all checksums (a sequential read of the file). */
enum err bloomfile_open(struct bloomfile *f, const char *path,
                        const struct hashkey *key, struct errinfo *reterr);
void bloomfile_close(struct bloomfile *f);

/* Building: memory for the lines (huge pages asked for), to be filled with bloom_add. */
enum err bloomfile_new(struct bloomfile *f, uint64_t nlines, unsigned k,
                       const struct hashkey *key, struct errinfo *reterr);
/* Writes it durably under path (file_out) with these numbers in the header. */
enum err bloomfile_write(struct bloomfile *f, const char *path,
                         const struct hashkey *key, uint64_t entries,
                         uint64_t generation, struct errinfo *reterr);

#endif
