/*
 * count_report - the state of the counts as numbers of the statistics page, and what is wrong as a fault.
 * Depends: base, count.h.   Threads: any.   Allocates: nothing.
 */
#ifndef CORE_COUNT_COUNT_REPORT_H
#define CORE_COUNT_COUNT_REPORT_H

#include "core/count/count.h"

/* Sets the gauges count_* from s and the faults "counts" (the disk) and "counts-clock". */
void count_publish(const struct count_stat *s);

#endif
