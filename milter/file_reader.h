/*
 * file_reader - gillnetd's way to gillnet-reader: numbers of files, and the fault of a dead reader.
 *
 * Threads: any, after file_reader_open.
 */
#ifndef MILTER_FILE_READER_H
#define MILTER_FILE_READER_H

#include "core/config/config.h"
#include "core/message/extract/extract.h"

/* Before the first message. A failure is a fault: files are read as far as gillnetd does it by
 * itself. */
void file_reader_open(const struct config *config);
/* After the last one. */
void file_reader_close(void);
/* Sets what extraction asks in limits, unless limits.reader is 0. */
void file_reader_offer(struct extract_limits *limits);

#endif
