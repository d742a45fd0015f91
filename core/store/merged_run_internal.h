/*
 * merged_run_internal - the format of merged runs, for the files that write and read them.
 *
 * A block_file: magic, version, key id, start, len, number of sources, records, blocks, XXH3-64 of
 * the tail. Behind the keys the tail has the sources: origin (16 bytes), inc, records, total, sum
 * (8 bytes each). A record of a block: the distance of its key to the key before it (0: the same
 * key), source, count - 1, as block_put_number writes them.
 * Not for other rooms.
 */
#ifndef CORE_STORE_MERGED_RUN_INTERNAL_H
#define CORE_STORE_MERGED_RUN_INTERNAL_H

#include "core/store/block_file.h"
#include "core/store/merged_run.h"

#define MERGED_RUN_MAGIC UINT64_C(0x315445485347474e) /* "NGGSHET1" */
enum {
    MERGED_RUN_VERSION = 1,
    MERGED_RUN_SOURCE_BYTES = RUN_ORIGIN_BYTES + 4 * 8,
    MERGED_RUN_RECORD_BYTES_MAX = 2 * BLOCK_NUMBER_BYTES_MAX + 2
};

#endif
