/*
 * milterload_wire - one connection to the milter: the protocol as an MTA speaks it.
 *
 * Strictly synchronous, as Postfix and Sendmail are.
 * Threads: a connection belongs to one thread.
 */
#ifndef TESTS_BENCH_MILTERLOAD_WIRE_H
#define TESTS_BENCH_MILTERLOAD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/bench/milterload_corpus.h"

enum verdict {
    V_ACCEPT,
    V_CONTINUE,
    V_REJECT,
    V_TEMPFAIL,
    V_DISCARD,
    V_REPLYCODE,
    V_ERROR,
    V_COUNT
};
extern const char *const verdict_name[V_COUNT];

struct conn {
    int fd;         /* -1: closed */
    uint32_t proto; /* protocol bits the milter asked for */
    char *out;      /* packets not yet written */
    size_t out_len, out_cap;
    unsigned char in[8192];
    size_t in_pos, in_len;
    unsigned long sessions, trips, hdr_mods, quars, mods;
    bool at_eom; /* the last reply was to end-of-message */
    char qid[24];
};

/* Finds the address behind inet:HOST:PORT or unix:PATH, or ends the program. */
void wire_resolve(const char *target);

/* Connects, negotiates, sends connect and helo. Returns 'c', or the milter's verdict on the client,
 * or 0 when the connection failed. */
int wire_open(struct conn *c);

/* One message. Returns the milter's last reply, 0 when the connection failed. */
int wire_send(struct conn *c, const struct message *m);

/* Ends the message that got its verdict before end-of-message, as an MTA does. */
void wire_abort_message(struct conn *c);

/* Sends quit and closes; wire_drop closes at once. Both functions accept a closed connection. */
void wire_close(struct conn *c);
void wire_drop(struct conn *c);

enum verdict verdict_of(int reply);

#endif
