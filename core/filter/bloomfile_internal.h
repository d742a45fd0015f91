/*
 * bloomfile_internal - the header of a filter file, for the files of bloomfile; not for other
 * rooms.
 *
 * Threads: pure.   Allocates: nothing but what buf grows.
 */
#ifndef CORE_FILTER_BLOOMFILE_INTERNAL_H
#define CORE_FILTER_BLOOMFILE_INTERNAL_H

#include "core/base/buf.h"
#include "core/filter/bloomfile.h"

enum {
    BLOOMFILE_HEADER_BYTES = 4096,
    BLOOMFILE_SUM_BYTES = 8,
    BLOOMFILE_READ_BYTES = 16 * BLOOMFILE_BLOCK_BYTES /* one read; stays in the cache */
};

struct bloomfile_header {
    uint32_t version;
    struct bloomfile_shape shape;
    uint64_t table_sum;
};

uint64_t bloomfile_lines_bytes(uint64_t nlines);
uint64_t bloomfile_block_count(uint64_t nlines);
uint64_t bloomfile_file_size(uint64_t nlines);

/* bytes: BLOOMFILE_HEADER_BYTES of them, or fewer of a file cut short. */
enum err bloomfile_header_read(struct slice bytes, const char *path, const char *next,
                               struct bloomfile_header *ret, struct errinfo *reterr);
enum err bloomfile_header_write(const struct bloomfile_header *h, struct buf *ret);

/* "what; next", with the code. */
enum err bloomfile_refuse(struct errinfo *reterr, enum err code, const char *path,
                          const char *what, const char *next);

/* Zeroed memory of our own, in huge pages where there are. ERR_NOMEM with a text that ends in
 * next when the machine has no room for it. */
enum err bloomfile_memory_new(size_t bytes, const char *path, const char *next,
                              void **ret, struct errinfo *reterr);

/* Reads exactly n bytes at offset; ERR_CORRUPT when the file ends before. */
enum err bloomfile_read(int fd, void *dst, size_t n, uint64_t offset);

#endif
