/*
 * mbox - the messages of one open file, one after the other: a mailbox in mbox form, or one
 * message.
 *
 * It is a mailbox if its first line is a From_ line ("From ADDRESS Thu Aug 22 12:36:23 2002"). A
 * message ends before the next such line that follows an empty one. That line and the empty one are
 * no part of a message. Lines of the body such as ">From " or ">>From " lose one ">" (mboxrd,
 * mboxo). Content-Length is ignored. Any other file is one message, byte for byte. A mailbox with
 * one message is that message without From_ line and quotes. Read in pieces, in time linear in the
 * length, in constant memory.
 * Threads: one.   Owns: the buffer, not the descriptor.
 */
#ifndef CORE_CLI_MBOX_H
#define CORE_CLI_MBOX_H

#include "core/base/slice.h"

enum { MAILBOX_BYTES = 65536, MAILBOX_FROM_MAX = 512 };

struct mailbox {
    int fd;
    bool is_mbox;
    bool is_begun;
    bool is_over; /* nothing more can be read */
    bool is_in_body;
    bool is_line_begun; /* the line at hand continues behind the bytes that were read */
    bool follows_empty; /* the line before was empty */
    size_t messages;    /* begun */
    size_t at;
    size_t n;
    char held[2]; /* an empty line that may belong to the separator */
    size_t nheld;
    char bytes[MAILBOX_BYTES];
};

void mailbox_init(struct mailbox *m, int fd, bool may_be_mbox);
typedef void mailbox_sink(void *context, struct slice bytes);
/* Hands the bytes of the next message to sink; *retmore: another one follows. The caller must not
 * call it after the last message. Returns 0 or an errno: the message is not complete. */
int mailbox_next(struct mailbox *m, mailbox_sink *sink, void *context, bool *retmore);

#endif
