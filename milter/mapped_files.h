/*
 * mapped_files - makes the files of numbers again that somebody cut while gillnetd used them.
 *
 * Threads: one, at each tick.   ADR 0102.
 */
#ifndef MILTER_MAPPED_FILES_H
#define MILTER_MAPPED_FILES_H

#include "core/list/lookup_stats.h"
#include "core/telemetry/ham_log.h"

/* Statistics, history, periods, and these two, which may be NULL. */
void mapped_files_keep(struct lookup_stats *hits, struct ham_log *ham_log);

#endif
