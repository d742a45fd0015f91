/*
 * negotiate - the choice of actions and protocol steps among those that an MTA offers.
 *
 * Asking for an action that was not offered ends the connection, so every bit is masked. Replies
 * are suppressed wherever that is offered: nothing is decided before end-of-message, and each
 * reply costs a round trip. Over TCP the reply to DATA stays: without any reply before
 * end-of-message Postfix's small writes wait for a delayed acknowledgement, 40 ms a message.
 * Threads: pure.   Source: measured, ADR 0011.
 */
#ifndef MILTER_NEGOTIATE_H
#define MILTER_NEGOTIATE_H

#include "milter/session.h"

struct negotiation {
    unsigned long actions; /* SMFIF_ bits to answer with */
    unsigned long steps;   /* SMFIP_ bits to answer with */
    bool has_symlist;      /* smfi_setsymlist may be called */
    struct session_options options;
};

/* is_inet: the MTA is reached over TCP. With answers_connect gillnetd replies to the connect step
 * (to accept the client unexamined). */
void negotiate(unsigned long offered_actions, unsigned long offered_steps, bool is_inet,
               bool answers_connect, struct negotiation *ret);

#endif
