/*
 * mail_capture - the bytes of a message that is a report itself: to a trap, to an address of
 * report_addresses, or a bounce.
 *
 * Other messages are not kept. Header fields and body are kept as they come from the MTA, up to
 * MAIL_CAPTURE_MESSAGE bytes (a bounce: its first MAIL_CAPTURE_BOUNCE), for all messages
 * together up to MAIL_CAPTURE_ALL, of strangers up to MAIL_CAPTURE_STRANGERS; that includes those
 * that wait in mail_report. A message above
 * a limit is filtered as usual and reports nothing.
 * Threads: one message, one thread at a time; the sum has its own lock.   Owns: the bytes.
 */
#ifndef MILTER_MAIL_CAPTURE_H
#define MILTER_MAIL_CAPTURE_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/config/config.h"

enum {
    MAIL_CAPTURE_MESSAGE = 8 << 20,
    MAIL_CAPTURE_BOUNCE = 256 << 10,
    MAIL_CAPTURE_ALL = 64 << 20,
    MAIL_CAPTURE_STRANGERS = MAIL_CAPTURE_ALL / 2 /* of it */
};

/* Bits: the kinds of recipients that a message has, or its empty sender. */
enum mail_capture_target {
    MAIL_CAPTURE_TRAP = 1 << 0,
    MAIL_CAPTURE_SPAM = 1 << 1,
    MAIL_CAPTURE_HAM = 1 << 2,
    MAIL_CAPTURE_EMPTY_SENDER = 1 << 3
};

struct mail_capture {
    unsigned targets; /* 0: nothing is kept */
    struct slice
        trap; /* the first trap among the recipients, in normal form; the message's */
    struct buf bytes;
    bool is_ours; /* of a login or a trusted network */
    bool has_ended_headers;
    bool is_lost; /* a limit was met: the message reports nothing */
};

/* The sender is empty: "<>". */
void mail_capture_empty_sender(struct mail_capture *c);
/* One recipient as the MTA gives it. Parses it in the arena. */
void mail_capture_rcpt(struct mail_capture *c, const struct config *config,
                       struct arena *arena, struct slice rcpt);
void mail_capture_header(struct mail_capture *c, struct slice name, struct slice value);
void mail_capture_end_headers(struct mail_capture *c);
void mail_capture_body(struct mail_capture *c, struct slice chunk);
/* Whether more of the body is of use. */
bool mail_capture_wants(const struct mail_capture *c);
/* Moves the bytes out; give them back with mail_capture_free. */
struct buf mail_capture_take(struct mail_capture *c);
/* Frees bytes; accepts empty ones. */
void mail_capture_free(struct buf *bytes);

/* Whether address, in normal form, is a trap. */
bool mail_capture_is_trap(const struct config *config, struct slice address);

#endif
