/*
 * replytext - the safe text that gillnet writes into mail and SMTP replies.
 *
 * Header values hold printable ASCII only, at most REPLYTEXT_VALUE_MAX bytes, folded with LF and
 * TAB. libmilter and the MTAs check nothing, so only this module writes headers. Bytes from mail
 * are escaped as \xNN.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef MILTER_REPLYTEXT_H
#define MILTER_REPLYTEXT_H

#include "core/base/slice.h"
#include "core/verdict/verdict.h"

enum {
    REPLYTEXT_VALUE_MAX = 900,    /* bytes of a header value, folds not counted */
    REPLYTEXT_FOLD = 76,          /* a line is folded at the last space before this */
    REPLYTEXT_HEADER_SIZE = 1024, /* buffer for a folded value */
    REPLYTEXT_NUMBER = 32,
    REPLYTEXT_REPLY_MAX = 400, /* bytes of an SMTP reply text as the client sees it */
    REPLYTEXT_REPLY_SIZE = 2 * REPLYTEXT_REPLY_MAX + 1 /* every '%' is doubled */
};

/* How people and programs name a message. */
struct replytext_names {
    const char *queue_id;
    const char *case_id; /* "": none */
};

/* "Yes, action=header score=6.0 required=5.0 case=d3k7p0vq9x2m limit=urls"; required:
 * verdict_required. Each ret is REPLYTEXT_HEADER_SIZE bytes, folded. */
void replytext_status(const struct verdict *v, enum action done, double required,
                      const char *case_id, char *ret);
/* "unchecked, reason=memory case=d3k7p0vq9x2m" */
void replytext_unchecked(const char *reason, const char *case_id, char *ret);
void replytext_score(const struct verdict *v, char *ret);
/* The symbols of verdict_shown: "LIST_PHISH(6.0)[url_domain=evil.example], ..."; the number of
 * those that do not fit stands at the end. */
void replytext_symbols(const struct verdict *v, char *ret);

/* The same symbols in short, for SMTP replies, quarantine reasons and log lines:
 * "LIST_PHISH(6.0),X(1.0)", or "-". Cut at a symbol. */
void replytext_symbol_names(const struct verdict *v, char *ret, size_t size);

/* "5.0", or "off" of a threshold that there is not. */
const char *replytext_required(double required, char ret[REPLYTEXT_NUMBER]);

/* An SMTP reply text: {id}, {case} and {symbols} replaced in template, made printable, cut to
 * REPLYTEXT_REPLY_MAX bytes, '%' doubled (Sendmail drops a text with a single one). ret is
 * REPLYTEXT_REPLY_SIZE bytes. */
void replytext_reply(const char *template, const struct replytext_names *names,
                     const struct verdict *v, char *ret);

/* The names of the limits in flags, comma-separated, or "-". */
void replytext_limits(unsigned flags, char *ret, size_t size);

/* Folds value, which is printable ASCII, into ret: LF TAB in place of spaces. */
void replytext_fold(const char *value, char *ret);

#endif
