/*
 * merged_run_internal - the format of merged runs, for the files that write and read them.
 *
 * Header: magic, version, key id, start, len, number of sources, records, blocks, XXH3-64 of all behind the blocks;
 * zeros; XXH3-64 of what precedes in the last 8 bytes of SHEET_HEADER. Then the blocks; then the first key of each
 * block (8 bytes each); then the sources: origin (16 bytes), inc, records, total, sum (8 bytes each). All little-endian.
 * A block: XXH3-64 of the rest, records u16, bytes used u16, number of the block u32, first key; then for each record its
 * distance to the key before it (0: the same key), source, count - 1 as numbers of 7 bits a byte, least first; zeros.
 * Not for other rooms.
 */
#ifndef CORE_STORE_MERGED_RUN_INTERNAL_H
#define CORE_STORE_MERGED_RUN_INTERNAL_H

#include "core/store/merged_run.h"

#define MERGED_RUN_MAGIC UINT64_C(0x315445485347474e) /* "NGGSHET1" */
enum {
    MERGED_RUN_VERSION = 1,
    MERGED_RUN_HEADER = 4096,
    MERGED_RUN_SUM_BYTES = 8,
    MERGED_RUN_BLOCK_HEAD = 24,
    MERGED_RUN_KEY_BYTES = 8,
    MERGED_RUN_SOURCE_BYTES = RUN_ORIGIN_BYTES + 4 * 8,
    MERGED_RUN_RECORD_BYTES_MAX = 10 + 2 + 10,
    MERGED_RUN_FILE_MODE = 0640
};

#endif
