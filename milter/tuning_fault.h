/*
 * tuning_fault - says in the log and on the statistics page if settings of the state folder
 * (core/config/tuning.h) are not in force.
 *
 * Threads: any.   Owns: nothing.   ADR 0088.
 */
#ifndef MILTER_TUNING_FAULT_H
#define MILTER_TUNING_FAULT_H

#include "core/config/config.h"

/* After a start and each reload; ends the fault if all is well. */
void tuning_fault_show(const struct config *config);

#endif
