/*
 * feedback - the messages that a mail reports: attached ones, abuse reports (ARF), bounces (DSN).
 *
 * A mail is read once, with embedded messages as leaves: each attached message comes out as its
 * bytes, decoded, with line ends CRLF. Fields of the mail are claims of its sender. Nothing
 * here decides whether the sender may report; the caller does (milter/mail_report.h).
 * Files in reading order: feedback (parts and messages), feedback_fields (fields of abuse reports
 * and bounces).
 * Example of a change: another word of Feedback-Type is a row of `words` in feedback_fields.c.
 * Threads: pure.   Allocates: from the arena.   Depends: base, mail.
 * Source: RFC 5965 (ARF), RFC 6591 (authentication failures), RFC 3462 and 3464 (DSN), RFC 5322
 * 3.6.6 (Resent-From).   ADR 0074.
 */
#ifndef CORE_REPORT_FEEDBACK_H
#define CORE_REPORT_FEEDBACK_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum {
    FEEDBACK_MESSAGES = 20,  /* of one mail; more are counted and left out */
    FEEDBACK_VALUE_MAX = 998 /* bytes of a field that are kept */
};

enum feedback_kind {
    FEEDBACK_NONE,      /* it carries no message */
    FEEDBACK_ABUSE,     /* an abuse report */
    FEEDBACK_BOUNCE,    /* a delivery status notification */
    FEEDBACK_ATTACHED,  /* messages as attachments */
    FEEDBACK_REDIRECTED /* the message itself, which its recipient sent on */
};

enum feedback_opinion { FEEDBACK_SILENT, FEEDBACK_SPAM, FEEDBACK_HAM };

struct feedback_message {
    struct slice bytes;
    struct slice message_id; /* without <>; empty when none */
    bool has_body;           /* false: only its header came */
};

/* The reported message as an abuse report or a bounce describes it; empty: not said. */
struct feedback_original {
    struct slice mail_from; /* without <> */
    struct slice rcpt; /* the first one; of a bounce one that was refused as spam */
    struct slice source_ip; /* as written */
    struct slice status;    /* of a bounce: "5.7.1", of the same recipient */
};

struct feedback {
    enum feedback_kind kind;
    enum feedback_opinion opinion; /* of an abuse report */
    bool is_refused_as_spam; /* a bounce with status 5.7.0, 5.7.1, 5.7.100 or above */
    bool is_cut;             /* a limit was met: messages are missing or short */
    struct feedback_original original;
    size_t nmessages;
    struct feedback_message message[FEEDBACK_MESSAGES];
};

/* Reads a whole mail. Its slices lie in the arena, which needs FEEDBACK_ARENA(bytes.n). */
void feedback_read(struct arena *arena, struct slice bytes, struct feedback *ret);
#define FEEDBACK_ARENA(n) (4 * (size_t)(n) + ((size_t)1 << 22))

/* The value of the first field of that name in the header that text begins with, trimmed; folded
 * lines stay. Empty when there is none. */
struct slice feedback_field(struct slice text, struct slice name);

#endif
