/*
 * bloomfile - a bloom filter on disk: 4 KiB header, lines, checksums of 64 KiB blocks.
 *
 * Format 2, little-endian. Header: magic "GNBLOOM1", version, layout, lines, k, hash, the ids of
 * the keys that made the digests and the positions, entries, planned entries, generation, period,
 * origin, creation, role, checksum of the block table, checksum of the header. The file's size
 * must equal what the header computes to. Every truncation, flipped bit, impossible size, foreign
 * key, version, layout or role is refused with a reason and a next step.
 * Opened as a copy in own memory (huge pages asked for) or as a map of the file; both are verified
 * in full first. A mapped file that is cut short in place, or becomes unreadable, answers "perhaps"
 * from there on (sigbus.h, ADR 19). Opened as remote, the lines stay in the file (ADR 82).
 * Depends: base, bloom.   Owns: memory or mapping.   Threads: constant once opened.
 */
#ifndef CORE_FILTER_BLOOMFILE_H
#define CORE_FILTER_BLOOMFILE_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/filter/bloom.h"

enum { BLOOMFILE_BLOCK_BYTES = 64 * 1024, BLOOMFILE_ORIGIN_BYTES = 16 };

enum bloomfile_hold {
    BLOOMFILE_COPY,  /* survives whatever happens to the file */
    BLOOMFILE_MAP,   /* shares the page cache with other processes */
    BLOOMFILE_REMOTE /* header and checksums alone; others have the lines, by its id */
};
enum { BLOOMFILE_ID_BYTES = 16 };

/* The meaning of a hit. Numbers on disk. */
enum bloomfile_role {
    BLOOMFILE_BASE = 1,   /* stands before an exact index */
    BLOOMFILE_SPAM = 2,   /* all that is known of a peer's entries */
    BLOOMFILE_REVOKED = 3 /* entries that the peer revoked */
};

/* How digests become positions. Numbers on disk; one only is in use. */
enum bloomfile_hash { BLOOMFILE_HASH_MIX = 1 /* core/filter/bloom.h */ };

/* Fields of the header except the sizes. */
struct bloomfile_facts {
    enum bloomfile_role role;
    uint32_t digest_key; /* id of the digest key of the digests inside */
    uint32_t
        position_key; /* id of the key of the positions: filter key, or the digest key in
                              filters that are meant to be merged */
    uint64_t entries;
    uint64_t capacity; /* planned entries, at least 1 */
    uint64_t generation;
    uint64_t period; /* which period the entries are of; 0: none */
    uint64_t created_s;
    uint8_t origin[BLOOMFILE_ORIGIN_BYTES]; /* who made it; zeros: this installation */
};

struct bloomfile {
    struct bloom bloom;
    struct bloomfile_facts facts;
    enum bloomfile_hold hold;
    void *
        memory; /* lines first in a copy; the whole file in a map; sums of a remote one */
    size_t bytes;     /* of memory */
    const void *sums; /* of the blocks, not in a map; NULL while it is being built */
    int fd;           /* of a map or a remote one; not valid otherwise */
    /* of a remote one: names its lines, bit for bit, and the keys they are made with */
    uint8_t id[BLOOMFILE_ID_BYTES];
};

/* Requirements of a caller. */
struct bloomfile_want {
    const struct hashkey *key;       /* of the positions */
    const struct hashkey *other_key; /* they may have this one instead; NULL: no */
    uint32_t digest_key;             /* 0: any */
    enum bloomfile_role role;        /* 0: any */
    enum bloomfile_hold hold;
    const char *next; /* what a person does about a bad file; NULL: "rebuild it" */
};

/* Opens read-only and verifies all checksums (one sequential read of the file). A map is refused
 * (ERR_DENIED) of a file that others than its owner may write. ERR_NOMEM: a copy does not fit. */
enum err bloomfile_open(struct bloomfile *f, const char *path,
                        const struct bloomfile_want *want, struct errinfo *reterr);
/* True if it is a map whose file was cut short, or cannot be read: it says "perhaps" there. */
bool bloomfile_is_damaged(const struct bloomfile *f);
/* Accepts a closed one and one of zeros. */
void bloomfile_close(struct bloomfile *f);

/* Of a remote one, from the file: the lines of one block, verified. ERR_CORRUPT: damaged, or past
 * the end. ERR_TIMEOUT: they are not in the page cache, and may_wait is false. */
enum err bloomfile_block_read(const struct bloomfile *f, uint64_t block, bool may_wait,
                              char ret[BLOOMFILE_BLOCK_BYTES], size_t *retn);

/* The header alone, verified by its own checksum; keys and role are not judged. */
struct bloomfile_shape {
    enum bloom_layout layout;
    uint64_t nlines;
    unsigned k;
    enum bloomfile_hash hash;
    struct bloomfile_facts facts;
};
enum err bloomfile_peek(const char *path, const char *next, struct bloomfile_shape *ret,
                        struct errinfo *reterr);

/* Building: zeroed memory for the lines (huge pages asked for), to be filled with bloom_add. */
enum err bloomfile_new(struct bloomfile *f, enum bloom_layout layout, uint64_t nlines,
                       unsigned k, const struct hashkey *key, struct errinfo *reterr);
/* Writes it durably under path (file_out). The caller has set f->facts except position_key and
 * created_s; a capacity of 0 becomes the number of entries. */
enum err bloomfile_write(struct bloomfile *f, const char *path, struct errinfo *reterr);

/* Blocks of an opened filter. */
uint64_t bloomfile_blocks(const struct bloomfile *f);
/* Verifies up to nblocks blocks from block `from` on: of a copy the memory, of a map the file that
 * is mapped. Constant memory; any thread, beside look-ups. ERR_OK also past the end; ERR_CORRUPT:
 * *retbad is the first bad block; ERR_IO: the file cannot be read. Then close it and open the file
 * again, which shows if the disk or the memory is bad. */
enum err bloomfile_scrub(const struct bloomfile *f, uint64_t from, uint64_t nblocks,
                         uint64_t *retbad);

#endif
