/*
 * extract - one message -> its features.
 *
 * Wraps core/message/mail: envelope, header fields and body go in as they come, the feature set
 * comes out at the end. Nothing here can refuse a message: a limit ends one branch and sets its
 * flag.
 *
 * Files in reading order: extract, envelope, header, part, leaf, window (the way of the bytes);
 * link, extract_html, extract_file, code, xml (readers); fingerprint, shingle, closing,
 * boilerplate, structure (near-duplicates); share, skim, overflow (limits); auth, conversation,
 * location; check
 * and check_*.
 * To add a property of the whole message: check.h. To add a feature: a row in feature.def, and
 * featureset_add in the reader that has the value.
 * Threads: one at a time (a session's callbacks may run on different threads).
 * Allocates: from the arena given; features and everything they point at live there. Scratch
 * memory and running checksums are on the heap until extract_finish or extract_drop.
 * Depends: base, text, mail, feature, wire.
 */
#ifndef CORE_MESSAGE_EXTRACT_EXTRACT_H
#define CORE_MESSAGE_EXTRACT_EXTRACT_H

#include "core/base/arena.h"
#include "core/base/slice.h"
#include "core/message/extract/fingerprint.h"
#include "core/message/extract/overflow.h"
#include "core/message/feature/feature.h"
#include "core/message/mail/mail.h"

enum {
    EXTRACT_FEATURES = 8192,
    EXTRACT_ADDRESSES = 100,
    EXTRACT_ATTACHMENT_BYTES = 8 << 20,
    EXTRACT_ARCHIVE_DEPTH = 2
};

/* A piece of the text of a part that a mail program shows: whole lines and blocks, in UTF-8 as far
 * as the message is right. Before the first of a part on_text_part is called. After the last one
 * on_text_end is called, once: by extract_finish or extract_drop. */
typedef void shown_text_fn(void *context, struct slice piece);

/* Another reader of the message, beside the features. Slices are valid during the call only. Words
 * and lines of the text go to imprint.reader. */
struct extract_watch {
    void (*field)(void *context, struct slice name,
                  struct slice value); /* each field of the message itself */
    void (*part)(void *context, const struct mail_part *part); /* begins */
    void (*tag)(void *context, struct slice name);       /* start tag of shown HTML */
    void (*attribute)(void *context, struct slice name); /* of such a tag */
    void *context;
};

struct reader_ask; /* core/reader/wire/ask.h */

struct extract_limits {
    struct mail_limits mail;
    unsigned urls; /* kept; as many first ones of their domain besides */
    unsigned recipients;
    /* 0 of these: the default (enum below). */
    unsigned features;         /* kept */
    unsigned addresses;        /* of one field, kept */
    uint64_t attachment_bytes; /* kept at once to look into */
    unsigned archive_entries;
    uint64_t archive_bytes; /* unpacked */
    unsigned archive_ratio;
    unsigned archive_depth; /* archives in archives that are looked into */
    uint64_t cpu_us; /* 0: no bound; shared out as core/message/extract/share.h says */
    shown_text_fn *on_text;              /* the text as shown; NULL: nobody wants it */
    void (*on_text_part)(void *context); /* all three or none */
    void (*on_text_end)(void *context);
    shown_text_fn *on_document; /* text of attached documents; NULL: nobody wants it */
    void *text_context;
    const struct extract_watch *watch;  /* NULL: nobody watches */
    struct fingerprint_options imprint; /* of zero bytes: no keyed fingerprints */
    const struct reader_ask *reader;    /* NULL: files are read here alone; borrowed */
    uint64_t reader_us;                 /* for all files of the message together */
    bool with_ocr;                      /* text in pictures is read */
    listed_fn *listed;                  /* NULL: features without room are dropped */
    void *listed_context;
};
/* imprint.learner is taught at the end of a message whose From domain DMARC or DKIM proved, as an
 * Authentication-Results field of a trusted server says; by other messages never. */

/* One result of RFC 8601, 2.7; AUTH_ABSENT: no trusted field speaks of the method. */
enum auth_result {
    AUTH_ABSENT,
    AUTH_NONE,
    AUTH_PASS,
    AUTH_FAIL,
    AUTH_SOFTFAIL,
    AUTH_NEUTRAL,
    AUTH_POLICY,
    AUTH_TEMPERROR,
    AUTH_PERMERROR
};
enum { AUTH_SIGNATURES = 8 };

/* Results of the Authentication-Results fields of trusted servers. */
struct extract_auth {
    bool has_results; /* there was such a field */
    bool spf_pass;
    bool dkim_pass; /* of any signature */
    bool dmarc_pass;
    enum auth_result spf;
    enum auth_result dkim; /* pass, else that of the first signature */
    enum auth_result dmarc;
    enum auth_result arc;
    struct slice spf_domain;   /* of smtp.mailfrom; empty unless pass */
    struct slice dkim_domain;  /* of header.d, the last pass */
    struct slice dmarc_domain; /* of header.from */
    unsigned nsigners;         /* good signatures, the first AUTH_SIGNATURES */
    struct slice signer[AUTH_SIGNATURES]; /* their domains, none twice */
};

enum { EXTRACT_REFERENCES = 16 };

/* What the header says of the messages and lists that this one belongs to; as its sender wrote it.
 * Texts are in the arena. */
struct extract_conversation {
    bool
        is_automatic; /* Auto-Submitted, a Precedence that no person's mail has, or a report */
    bool is_list;         /* a field of mailing lists */
    bool has_unsubscribe; /* List-Unsubscribe */
    unsigned nreferences;
    struct slice
        reference[EXTRACT_REFERENCES]; /* Message-IDs without <>: of In-Reply-To, then
                                                   the last ones of References */
    struct slice list_post; /* address of List-Post in normal form, or empty */
};

enum {
    EXTRACT_RECIPIENTS = 1000
}; /* that are kept, to count different ones and for their settings */

struct extract;

/* trusted_authserv: authserv-ids whose Authentication-Results fields are read (n may be 0). Only
 * the fields of the message itself count. NULL when the arena is full. */
struct extract *extract_new(struct arena *arena, const struct extract_limits *limits,
                            char *const *trusted_authserv, size_t ntrusted);

/* Envelope; each may be left out or be empty. addr: IPv4 as ::ffff:a.b.c.d, NULL if unknown. */
void extract_client(struct extract *x, const uint8_t addr[16], struct slice name);
void extract_helo(struct extract *x, struct slice helo);
void extract_mail_from(struct extract *x, struct slice address);
void extract_rcpt_to(struct extract *x, struct slice address);

void extract_header(struct extract *x, struct slice name, struct slice value);
void extract_end_of_headers(struct extract *x);
void extract_body(struct extract *x, struct slice chunk);
/* A raw message instead of the three above. Without an earlier extract_mail_from, the first
 * Return-Path field gives the envelope sender. */
void extract_raw(struct extract *x, struct slice chunk);

/* Ends the message. The set lives in the arena; owned by the caller of extract_new. */
struct featureset *extract_finish(struct extract *x);

/* Frees what is not in the arena: for a message that is given up before extract_finish. Accepts
 * NULL and finished ones; call it before the arena is reset or freed, or always. */
void extract_drop(struct extract *x);

/* After extract_finish. */
const struct extract_auth *extract_auth(const struct extract *x);
const struct extract_conversation *extract_conversation(const struct extract *x);
/* The first EXTRACT_RECIPIENTS recipients in normal form; how many there are in *ret. No feature is
 * made of them. */
size_t extract_recipients(const struct extract *x, const struct slice **ret);
struct slice extract_message_id(const struct extract *x); /* empty when none */
uint64_t extract_message_bytes(const struct extract *x);  /* headers and body as seen */
/* Time so far that was spent on reading, by the clock on the wall. */
uint64_t extract_time_us(const struct extract *x);

#endif
