/*
 * countingfile - a counting filter on disk, for counts that sites exchange by hand: 4 KiB header,
 * cells, checksums of 64 KiB blocks.
 *
 * Format 1, little-endian. The header has the magic "GNCOUNT1", version, variant, cell_bits, k, id
 * of the digest key (of the keys and of the positions), cells, keys, total, creation, number of
 * sources, reserved, checksum of the block table; from COUNTINGFILE_SOURCES_AT on the sources, 32
 * bytes each: origin, begin, end; at the end the checksum of the header. The file's size must equal
 * what the header computes to. Flat cells in one chunk. The sources name servers and times of the
 * counts, so that nothing is added twice.
 * Depends: base, counting.   Owns: memory.   Threads: those of counting.   ADR 0036.
 */
#ifndef CORE_LAB_COUNTINGFILE_H
#define CORE_LAB_COUNTINGFILE_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/lab/counting.h"

enum {
    COUNTINGFILE_HEADER_BYTES = 4096,
    COUNTINGFILE_SOURCES_AT = 1024,
    COUNTINGFILE_SOURCES_MAX = 64,
    COUNTINGFILE_ORIGIN_BYTES = 16
};
#define COUNTINGFILE_CELLS_MAX ((uint64_t)1 << 32)

struct countingfile_source {
    uint8_t origin[COUNTINGFILE_ORIGIN_BYTES]; /* the server that counted */
    uint64_t first_s;                          /* unix time, from */
    uint64_t end_s;                            /* to, without */
};

struct countingfile_facts {
    uint32_t ring_key;
    uint64_t keys;  /* added, those of several sources several times */
    uint64_t total; /* of the counts added, at most UINT64_MAX */
    uint64_t created_s;
    unsigned nsources; /* by origin and begin */
    struct countingfile_source sources[COUNTINGFILE_SOURCES_MAX];
};

struct countingfile {
    struct counting c;
    struct countingfile_facts facts;
    size_t bytes; /* of the cells; 0: not open */
};

/* Empty, refined. key: the digest key. ERR_RANGE, ERR_UNSUPPORTED: no filter has this size;
 * ERR_NOMEM. */
enum err countingfile_new(struct countingfile *f, unsigned cell_bits, uint64_t cells,
                          unsigned k, const struct hashkey *key,
                          struct errinfo *reterr);
/* key: of a run's record; only of a filter that countingfile_new made, or that was opened with its
 * digest key. */
void countingfile_add(struct countingfile *f, uint64_t key, uint64_t count);
struct counting_read countingfile_get(const struct countingfile *f, uint64_t key);
/* Verifies all of it. key: NULL where nobody will add or ask; ERR_KEY: the filter is of another
 * one. */
enum err countingfile_open(struct countingfile *f, const char *path,
                           const struct hashkey *key, struct errinfo *reterr);
void countingfile_close(
    struct countingfile *f); /* accepts a closed one and one of zeros */

/* Adds a file's cells, each at most to its cap. Refused, with the field that differs or the source
 * that is in both named, before anything is changed. */
enum err countingfile_merge(struct countingfile *f, const char *path,
                            struct errinfo *reterr);
/* Durably (file_out). */
enum err countingfile_write(struct countingfile *f, const char *path,
                            struct errinfo *reterr);

/* Cells above 0, and those at their cap. */
struct countingfile_use {
    uint64_t used;
    uint64_t saturated;
};
struct countingfile_use countingfile_count_cells(const struct countingfile *f);

#endif
