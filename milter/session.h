/*
 * session - the state of one connection from the MTA and of its present message.
 *
 * The first callback of a connection makes the session, and xxfi_close frees it; an idle one holds
 * less than 2 KiB, without configuration and arena. A message begins at MAIL and ends at a verdict,
 * an abort, the next MAIL or the end of the session, always through session_end_message. Its
 * callbacks may come from different threads, one at a time.
 * Owns: its strings; per message the arena and one reference of the configuration.
 */
#ifndef MILTER_SESSION_H
#define MILTER_SESSION_H

#include <pthread.h>

#include "core/base/arena.h"
#include "core/base/case_id.h"
#include "core/base/slice.h"
#include "core/config/config.h"
#include "core/learn/vector.h"
#include "core/list/listed.h"
#include "core/message/extract/extract.h"

#include "milter/mail_capture.h"

struct record;

enum {
    SESSION_TEXT_MAX = 512, /* bytes of a client's name or HELO that are kept */
    SESSION_QUEUE_ID_MAX = 64,
    SESSION_RCPTS = 3,      /* recipients that the log names */
    SESSION_RCPT_MAX = 256, /* bytes of one that are kept */
    SESSION_FORGED_NAMES =
        64, /* different forged X-Gillnet names beside our own three */
    SESSION_FORGED_NAME = 256 /* bytes of such a name */
};

/* The result of the negotiation with the MTA; constant after it. */
struct session_options {
    unsigned long actions; /* SMFIF_ bits that we may use */
    unsigned long noreply; /* SMFIP_NR_ bits: stages that we do not answer */
    bool may_skip;         /* the MTA understands SMFIS_SKIP */
};

/* How many fields of one name came in. */
struct forged {
    struct slice name; /* in the arena; for our own three names a constant */
    unsigned count;
};

enum skip_reason {
    SKIP_NONE,
    SKIP_NETWORK, /* client in trusted_networks */
    SKIP_LOGIN,   /* client has logged in */
    SKIP_SESSIONS /* limits.sessions was met when the connection came */
};
const char *skip_reason_name(enum skip_reason reason);

struct message {
    struct config *config; /* pinned for the whole message */
    uint64_t generation;   /* of that configuration */
    struct arena *arena;
    struct extract *extract;      /* NULL: not examined, see skip and trouble */
    struct listed listed;         /* asked by extract */
    const struct rule_text *text; /* what rules found in its text */
    struct vector_reader *reader; /* its terms, for the model; NULL: the model is off */
    struct vector vector;         /* set at the end of the message */
    enum skip_reason skip;
    const char *trouble; /* error in gillnet, such as "memory"; NULL: none */
    bool is_authenticated;
    bool is_outgoing; /* of a login or a trusted network: examined, and never judged */
    bool has_ended_headers;
    unsigned epoch; /* of service_begin_message */
    unsigned nrcpt;
    uint64_t parse_us; /* mail and features; known at the end of the message */
    uint64_t count_us;
    uint64_t bytes; /* body bytes seen, for messages that are not examined */
    struct slice mail_from;
    struct slice user;                /* the login; empty: none */
    struct slice rcpt[SESSION_RCPTS]; /* the first ones, for the log */
    struct mail_capture capture;      /* of a message that is a report itself */
    struct forged own[3];             /* X-Gillnet-Status, -Score, -Symbols */
    struct forged *others;
    size_t nothers;
    bool has_more_forged; /* more than SESSION_FORGED_NAMES names */
    char queue_id[SESSION_QUEUE_ID_MAX];
    uint64_t case_id; /* set at the end of the message, as is its text */
    char case_text[CASE_ID_SIZE];
    struct record *record; /* for the journal, in the arena; NULL: none */
};

struct session {
    struct session *next; /* list of the service */
    struct session *prev;
    void *ctx; /* libmilter's context */
    pthread_mutex_t lock;
    bool is_inside; /* a callback is running; guarded by lock */
    bool is_closed; /* no callback may start; guarded by lock */

    struct session_options options;
    bool is_over_limit; /* limits.sessions was met */
    bool has_addr;
    uint8_t addr[16];  /* IPv4 as ::ffff:a.b.c.d */
    char *client_name; /* NULL: unknown or unverified */
    char *helo;
    bool is_probe; /* the client brings the test message of `gillnet setup` */

    bool has_message;
    struct message message;
};

/* A session entered at the service; NULL without memory. */
struct session *session_new(void *ctx, const struct session_options *options);
/* Ends its message, takes it out of the service, frees it; accepts NULL. */
void session_free(struct session **s);

/* Keep at most SESSION_TEXT_MAX bytes; without memory the value is simply unknown. */
void session_set_client_name(struct session *s, const char *name);
void session_set_helo(struct session *s, const char *helo);

/* Begins a message: pins the configuration, decides whether it is examined, and makes the
 * extractor. An earlier message that was left open ends as aborted. Never fails: without
 * memory the message has trouble set. user: the login's name, or NULL. */
void session_begin_message(struct session *s, const char *mail_from,
                           bool is_authenticated, const char *user);
/* Counts a header field whose name begins with X-Gillnet-. */
void message_note_header(struct message *m, struct slice name);
/* Releases all that the message holds; fine when there is none. */
void session_end_message(struct session *s);

#endif
