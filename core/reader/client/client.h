/*
 * client - asks gillnet-reader to read a file.
 *
 * A connection for each file, closed at the deadline: the reader kills the process then. When
 * nobody takes up an ask, no other one is tried for CLIENT_REST_US, so a dead reader seldom delays
 * a message. While a process reads another file, or began one within that time, the reader is busy
 * and not dead. It is asked again then, and a file that waited in vain is READER_SLOW.
 * Threads: any, together.   Depends: base, wire.
 */
#ifndef CORE_READER_CLIENT_CLIENT_H
#define CORE_READER_CLIENT_CLIENT_H

#include "core/base/err.h"
#include "core/reader/wire/ask.h"

enum { CLIENT_REST_US = 10 * 1000 * 1000 };

struct reader_client;

/* A reader that listens on a Unix socket, now or later. */
enum err reader_client_new(const char *path, struct reader_client **ret,
                           struct errinfo *reterr);
/* The reader that this listening Unix socket is given to. */
enum err reader_client_to(int listener, struct reader_client **ret,
                          struct errinfo *reterr);
/* Accepts NULL. No ask may be in progress. */
void reader_client_free(struct reader_client **c);

/* reader_ask.ask; context is a struct reader_client. */
enum reader_outcome reader_client_ask(void *context, const struct reader_job *job,
                                      uint64_t within_us, record_fn *on_record,
                                      void *record_context);

/* Asks that ended so, since the start; any thread. */
uint64_t reader_client_count(const struct reader_client *c,
                             enum reader_outcome outcome);

#endif
