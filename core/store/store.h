/*
 * store - the file formats below lists and counts, which know neither.
 *
 * A file is written under a temporary name and published by rename, or changed in one durable
 * transaction (table). Every part carries a checksum that its reader verifies: damage is
 * ERR_CORRUPT with a text that names the file and the next step, and never a crash.
 * Files in reading order:
 *   run, run_write, run_merge                counts of one bucket or day, sorted by key
 *   merged_run, merged_run_write             counts of several servers in one bucket
 *   block_file                               headers, blocks and keys that both have
 *   index, index_build, index_format,        the exact index of a list (LMDB) and the file of its
 *   index_scrub                              checksums
 *   sorter, sorter_sort, sorter_run          sorts more records than memory should hold
 *   background_job                           one job at a time on its own thread
 *   table                                    small transactional state (LMDB)
 *   origins                                  the servers that peers' lists and counts come from
 * To add a sorted format: write its records with block_writer_begin and block_put_number, its
 * header fields with block_writer_finish, and read both with block_header_read, block_tail_read and
 * block_read, as merged_run does.
 * Depends: base, LMDB.   ADR 0025.
 */
#ifndef CORE_STORE_STORE_H
#define CORE_STORE_STORE_H

#endif
