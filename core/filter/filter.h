/*
 * filter - small structures in memory that answer before the exact files are read.
 *
 * Each errs to one side only: a Bloom filter never denies an entry, the doorkeeper never forgets a
 * key before its day, the cells never count too little. Positions depend on a key or a seed, so
 * that nobody outside can aim at a place. Where threads read beside a writer, the writer stores
 * with release. Files in reading order:
 *   bloom, bloom_line, bloom_spread          the filter and its four layouts
 *   bloom_size, bloom_load                   choosing a size; the error that a filter really has
 *   bloom_probe, bloom_line_loop, bloom_vector, bloom_avx2, bloom_avx512, bloom_neon
 *                                            positions, and batches by the instructions of the
 *                                            machine
 *   bloomfile, bloomfile_header, _memory, _scrub, _merge   the filter as a file
 *   line_seal                                a line that others keep
 *   exacttable                               recent entries, changed while others read
 *   doorkeeper, cells                        first occurrences and counts of the sketch
 *   tally                                    counts of keys without an error, as long as there is
 *                                            memory
 * To add a layout: give it a number in enum bloom_layout, a name in bloom_layout_name, its formula
 * in bloom_size, its test and add in bloom.c, and a row in the tests of all layouts.
 * Depends: base.   ADR 0017, 0026.
 */
#ifndef CORE_FILTER_FILTER_H
#define CORE_FILTER_FILTER_H

#endif
