/*
 * probe - the test message of `gillnet setup`: announced on the control socket, recognised by the
 * name that its client greets with, and dropped at its end: never examined, counted or delivered.
 *
 * The name holds a secret for one use, which only a user of the control socket can announce. One
 * probe at
 * a time; a new one takes the place of an earlier one.
 * Threads: any.   Owns: the secret.
 */
#ifndef MILTER_PROBE_H
#define MILTER_PROBE_H

#include "core/base/slice.h"

enum { PROBE_TOKEN = 32, PROBE_VALID_S = 120 };

/* Announces token (PROBE_TOKEN letters a-f and digits), or, when it is the announced one, gives
 * how far it came: "waiting", "greeted", "dropped". NULL: no such token. */
const char *probe_ask(struct slice token);
/* A probe is announced and did not come yet: the greetings of new clients are awaited. */
bool probe_is_waiting(void);
/* Whether a client that greets with that name, TOKEN.gillnet-probe.invalid, brings the probe. */
bool probe_greets(const char *helo);
/* The message of the probe was dropped. */
void probe_end(void);

#endif
