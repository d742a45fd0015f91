/*
 * queue - held messages of the MTA: listed, shown, released and deleted.
 *
 * Postfix: postqueue -j, postcat -q, postsuper -H and -d in the queue "hold" alone. Sendmail: its
 * queue files hf... and df... are read, `sendmail -qQ -Q -qIID` releases, and deleting removes the
 * two files under Sendmail's locks, because Sendmail has no command for it. Arguments are fixed,
 * except the queue id, which is checked; no shell runs. Time and output are bounded.
 * A request about a message that is not held is ERR_NOT_FOUND and changes nothing.
 *
 * Files in reading order: queue, queue_postfix with postfix_held, queue_sendmail with
 * sendmail_held, queue_serve (requests), run_program, main (the program gillnet-queue).
 * Depends: base, config, feature, quarantine.   Threads: one.   Owns: nothing.   ADR 0072.
 */
#ifndef CORE_QUARANTINE_QUEUE_QUEUE_H
#define CORE_QUARANTINE_QUEUE_QUEUE_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/file.h"
#include "core/config/config.h"
#include "core/quarantine/quarantine.h"

#define QUEUE_SENDMAIL_CF "/etc/mail/sendmail.cf"
enum { QUEUE_LISTED_MAX = 20000 };

struct queue {
    enum quarantine_mta mta; /* not QUARANTINE_AUTO */
    const char *programs;    /* borrowed from the configuration, as the next */
    const char *mta_config;  /* "": the MTA's own */
    /* A released message is also sent at once. In the sandbox of gillnet-queue this is false for
     * Sendmail: its daemon sends the message with the next run of its queue. */
    bool delivers;
};

/* ERR_NOT_FOUND: there is no MTA's program in quarantine.programs. */
enum err queue_find(const struct config *config, struct queue *ret,
                    struct errinfo *reterr);

/* Appends a row of each held message (held.h), a JSON object a line, the oldest first. */
enum err queue_list(const struct queue *q, struct buf *ret, struct errinfo *reterr);
/* Appends header, an empty line and body. */
enum err queue_show(const struct queue *q, struct slice id, struct buf *ret,
                    struct errinfo *reterr);
enum err queue_release(const struct queue *q, struct slice id, struct errinfo *reterr);
enum err queue_delete(const struct queue *q, struct slice id, struct errinfo *reterr);

/* Handles a request line (quarantine.h) and appends the whole answer. The result is that of the
 * work. */
enum err queue_serve(const struct queue *q, struct slice line, struct buf *ret);

/* ---- for the files of this room ---- */

enum { QUEUE_WORDS_MAX = 8 };
/* The path of a program of the MTA. */
enum err queue_program(const struct queue *q, const char *name, char ret[FILE_PATH_MAX],
                       struct errinfo *reterr);
/* ERR_NOT_FOUND, with the text for it. */
enum err queue_not_held(struct slice id, struct errinfo *reterr);

enum err queue_postfix_list(const struct queue *q, struct buf *ret,
                            struct errinfo *reterr);
enum err queue_postfix_show(const struct queue *q, const char *id, struct buf *ret,
                            struct errinfo *reterr);
enum err queue_postfix_release(const struct queue *q, const char *id,
                               struct errinfo *reterr);
enum err queue_postfix_delete(const struct queue *q, const char *id,
                              struct errinfo *reterr);

enum err queue_sendmail_list(const struct queue *q, struct buf *ret,
                             struct errinfo *reterr);
enum err queue_sendmail_show(const struct queue *q, const char *id, struct buf *ret,
                             struct errinfo *reterr);
enum err queue_sendmail_release(const struct queue *q, const char *id,
                                struct errinfo *reterr);
enum err queue_sendmail_delete(const struct queue *q, const char *id,
                               struct errinfo *reterr);

#endif
