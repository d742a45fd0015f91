/*
 * callbacks - the functions that libmilter calls: each takes the session, feeds the message,
 * answers.
 *
 * Every callback accepts a missing session and a message that was not begun; close can be the first
 * and only one. Nothing here waits on disk, network or name service.
 * Threads: libmilter's; one session's callbacks come one at a time, on any thread.
 */
#ifndef MILTER_CALLBACKS_H
#define MILTER_CALLBACKS_H

#include "milter/libmilter.h"

/* Registers them all; false when libmilter refuses. */
bool callbacks_register(void);
/* The description that is registered (tests call the functions in it). */
void callbacks_describe(struct smfiDesc *ret);

#endif
