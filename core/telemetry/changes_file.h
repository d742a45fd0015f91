/*
 * changes_file - the names of the files of changes, for their writer and their reader.
 */
#ifndef CORE_TELEMETRY_CHANGES_FILE_H
#define CORE_TELEMETRY_CHANGES_FILE_H

#include "core/base/err.h"

#define CHANGES_FILE "log."

/* The least and the greatest number of a file in dir; *retmost 0: there is none. */
enum err changes_file_names(const char *dir, uint32_t *retleast, uint32_t *retmost,
                            struct errinfo *reterr);

/* The open folder, locked, which the caller closes. ERR_LOCKED, ERR_NOT_FOUND, ERR_DENIED. */
enum err changes_lock(const char *dir, int *ret, struct errinfo *reterr);

#endif
