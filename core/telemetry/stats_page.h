/*
 * stats_page - the layout of the statistics page; shared by its writer and its reader.
 *
 * Native byte order: the page never leaves the machine, and the magic number read in the other
 * order does not match. The header says how many values there are and where the faults are, so
 * that programs of different builds read each other's pages (stats.def is append-only).
 */
#ifndef CORE_TELEMETRY_STATS_PAGE_H
#define CORE_TELEMETRY_STATS_PAGE_H

#include <stdatomic.h>

#include "core/telemetry/stats.h"

#define STATS_MAGIC UINT64_C(0x315354415453474e) /* "NGSTATS1" */

enum {
    STATS_VERSION = 1,
    STATS_PAGE_UNIT = 4096,
    STATS_HEADER_WORDS = 8,
    STATS_VALUES_MAX = 504, /* header and values fill the first unit */
    STATS_FAULT_WORDS = STATS_FAULT_TEXT / 8,
    STATS_FAULT_AREA_WORDS = 512
};

struct stats_page {
    uint64_t magic;
    uint32_t version;
    uint32_t nvalues;    /* in use; the rest are zero */
    uint32_t faults_max; /* as in the build that wrote the page */
    uint32_t fault_text;
    _Atomic uint32_t fault_seq; /* odd while the faults change */
    _Atomic uint32_t nfaults;
    uint64_t spare[STATS_HEADER_WORDS - 4];
    _Atomic uint64_t value[STATS_VALUES_MAX];
    _Atomic uint64_t fault[STATS_FAULTS_MAX][STATS_FAULT_WORDS]; /* NUL-padded texts */
    uint64_t fault_spare[STATS_FAULT_AREA_WORDS - STATS_FAULTS_MAX * STATS_FAULT_WORDS];
};

#endif
