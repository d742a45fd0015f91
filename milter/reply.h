/*
 * reply - the answers to the MTA: header changes, quarantine, SMTP reply, return code.
 *
 * The only place that maps our actions to libmilter's. An action that was not negotiated, or
 * that the MTA refuses, falls back to the next milder one, and the outcome says so.
 * Threads: the callback's.   Allocates: nothing.
 */
#ifndef MILTER_REPLY_H
#define MILTER_REPLY_H

#include "core/verdict/verdict.h"

#include "milter/libmilter.h"
#include "milter/session.h"

struct outcome {
    enum action done;   /* the answer that the MTA got */
    enum action wanted; /* differs when the MTA could not */
    size_t nstripped;   /* forged fields removed */
    bool left_forged;   /* some could not be removed, or not be counted */
    sfsistat code;      /* for libmilter */
};

/* The answer to a step before end-of-message that we have nothing against; noreply_bit is the
 * step's SMFIP_NR_ bit (0: the step has none). */
sfsistat reply_continue(const struct session *s, unsigned long noreply_bit);
/* The answer to the connect step: go on, or accept the client unexamined. */
sfsistat reply_connect(const struct session *s);
/* The answer to a piece of the body; wants_more: the rest of the body is of use. */
sfsistat reply_body(const struct session *s, bool wants_more);
/* The answer to negotiation. */
sfsistat reply_negotiated(void);

/* What happens to a message that is not judged: accepted, unless its login sends too much. */
enum outgoing_answer { OUTGOING_PASS, OUTGOING_HOLD, OUTGOING_DEFER };

/* The final answers, at end-of-message only. Acceptance is "continue", which is the same to the
 * MTA. After "accept" libmilter would miss that an MTA goes on with another client (QUIT_NC), and
 * would take its messages for those of the first. reply_verdict is for an examined message,
 * reply_outgoing for one that the configuration skips, reply_trouble for one that could not be
 * examined (on_error applies), reply_nothing for no message. */
void reply_verdict(SMFICTX *ctx, struct session *s, const struct verdict *v,
                   struct outcome *ret);
void reply_outgoing(SMFICTX *ctx, struct session *s, enum outgoing_answer answer,
                    struct outcome *ret);
void reply_trouble(SMFICTX *ctx, struct session *s, const char *reason,
                   struct outcome *ret);
sfsistat reply_nothing(void);
/* The test message of `gillnet setup` (probe.h) goes no further. */
sfsistat reply_probe(void);

/* Why an examined message is to be treated as one that could not be examined, or NULL: the
 * deadline ended the look-ups, nothing was found until then, and on_error asks to defer. */
const char *reply_shortfall(const struct config *config, const struct verdict *v);

#endif
