/*
 * own_reader - a gillnet-reader for this command alone, started for the first file that needs it.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_OWN_READER_H
#define CORE_CLI_OWN_READER_H

#include "core/message/extract/extract.h"

/* Sets what extraction asks in limits, unless limits.reader is 0. A program that is missing is said
 * once; files are then read as far as this process can. The program ends with this process. */
void own_reader_offer(struct extract_limits *limits);

#endif
