/*
 * index_format - records and PATH.sum of the exact index, for its builder and reader.
 *
 * PATH.sum: magic (8), version u32, block size u32, data size u64, block count u64, XXH3-64 of
 * each block, XXH3-64 of all that precedes; little-endian. While an index is replaced, the sums
 * of the new one lie in PATH.sum.new for a moment, so that at each instant (and after a crash
 * at each instant) the file at PATH has its sums in one of the two.
 * Not for other rooms.
 */
#ifndef CORE_STORE_INDEX_FORMAT_H
#define CORE_STORE_INDEX_FORMAT_H

#include <lmdb.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/store/index.h"

#define INDEX_SUM_MAGIC UINT64_C(0x314d5553584e4747) /* "GGNXSUM1" */
enum {
    INDEX_SUM_VERSION = 1,
    INDEX_SUM_HEADER_BYTES = 32,
    INDEX_SUM_BYTES = 8,
    INDEX_FIELDS_BYTES = 20,
    INDEX_VALUE_BYTES = 24, /* fields and their checksum32 */
    INDEX_SUM_BLOCK = 1024 * 1024,
    INDEX_SUM_MAX = 256 * 1024 * 1024, /* sums of 32 TiB */
    INDEX_FILE_MODE = 0640
};
#define INDEX_SUM_SUFFIX     ".sum"
#define INDEX_SUM_NEW_SUFFIX ".sum.new"

struct MDB_env;
struct MDB_env *index_env(const struct index *ix);

void index_value_write(const struct digest *d, const struct index_record *r,
                       uint8_t value[INDEX_VALUE_BYTES]);
/* ERR_CORRUPT when size or checksum is wrong. */
enum err index_value_read(const struct digest *d, const void *value, size_t n,
                          struct index_record *ret);

/* Sets the mode of the file in spite of the umask, because other users read it. A file of another
 * owner keeps its mode. Returns MDB_SUCCESS or an errno. */
int index_lmdb_share(MDB_env *env, mode_t mode);

/* LMDB's return values are chained by THEN, as error codes are. */
_Static_assert(MDB_SUCCESS == 0, "THEN tests for ERR_OK");

/* The code for a return value of LMDB, with a text when reterr is given. */
enum err index_lmdb_err(int rc, const char *path, const char *what,
                        struct errinfo *reterr);

/* Blocks of a file of size bytes, and the bytes of block i. */
uint64_t index_sum_blocks(uint64_t size);
size_t index_sum_block_bytes(uint64_t size, uint64_t i);
/* Appends the contents of a sum file for the open file fd to ret. */
enum err index_sum_make(int fd, const char *path, struct buf *ret,
                        struct errinfo *reterr);
/* Compares the open file fd with the sums in the file sum_path. */
enum err index_sum_verify(int fd, const char *path, const char *sum_path,
                          struct errinfo *reterr);

#endif
