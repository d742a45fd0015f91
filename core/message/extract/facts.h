/*
 * facts - figures of a message that its readers note, for the checks at its end.
 *
 * Fields are those of the message itself, as the sender wrote them; text is that of the parts that
 * a mail program shows. Texts are in the arena of the message.
 */
#ifndef CORE_MESSAGE_EXTRACT_FACTS_H
#define CORE_MESSAGE_EXTRACT_FACTS_H

#include "core/message/feature/feature.h"

/* Fields that are counted. */
enum noted_field {
    NOTED_OTHER,
    NOTED_FROM,
    NOTED_TO,
    NOTED_CC,
    NOTED_SUBJECT,
    NOTED_DATE,
    NOTED_MESSAGE_ID,
    NOTED_ANSWER, /* of a message that another one is the answer to */
    NOTED_MIME_VERSION,
    NOTED_TYPE,
    NOTED_TRANSFER,
    NOTED_RECEIVED,
    NOTED_PRIORITY,
    NOTED_MIMEOLE,
    NOTED_MAILER,
    NOTED_REPLY_TO,
    NOTED_SENDER,
    NOTED_COUNT
};

enum {
    FACTS_NAMED_MAX = 4,   /* addresses of To and Cc that are kept */
    FACTS_FIELD_MAX = 998, /* bytes of a field that is kept */
    FACTS_TYPES = 128,     /* above every number of a feature type */
    FACTS_SHOWN_FEW =
        100 /* bytes; less text says nothing of its own: a button, a name */
};

struct facts {
    const struct featureset *set;
    struct {
        const struct feature *first; /* NULL: there is none */
        size_t count;
    } of_type[FACTS_TYPES];
    const struct slice
        *recipients; /* of the envelope; without it the addresses in To and Cc */
    size_t nrecipients;

    unsigned nfields;             /* of all names */
    unsigned fields[NOTED_COUNT]; /* how often */
    bool has_8bit;                /* in a field that is counted */
    bool is_urgent;
    bool is_reply;    /* the subject begins with "Re:" */
    bool has_subject; /* that is not empty */
    size_t nnamed;
    struct slice named[FACTS_NAMED_MAX]; /* in lower case */
    struct slice date;                   /* the first of each */
    struct slice received;
    struct slice mailer;
    struct slice message_id;
    struct slice boundary;

    /* bytes, without blanks before runs */
    uint64_t shown;
    uint64_t hidden;
    uint64_t comments;
    uint64_t plain;
    size_t nwords; /* as the fingerprints count them */
    unsigned npictures;
    unsigned nattachments;
    bool has_html;
    bool has_plain;    /* a plain text, empty or not */
    bool texts_differ; /* the alternatives */
    unsigned nsplit;   /* words with a comment in them */
    char
        text_end; /* the last byte, if the last token of HTML but comments is text; or 0 */
    bool is_split; /* a comment stands behind a letter */
    /* a link to a domain of From that a reader sees; of two alternatives he sees HTML */
    bool has_own_link_in_html;
    bool has_own_link_in_plain;
};

/* Looks through set, which has all features now. */
void facts_close(struct facts *facts, const struct featureset *set);
/* The domain is one of From, or that of From under another suffix or in short: fool.com of
 * motleyfool.com. */
bool facts_is_of_sender(const struct featureset *set, struct slice domain);
/* The first feature of a type, or NULL. */
const struct feature *facts_first(const struct facts *facts, enum feature_type type);
/* How many features of a type there are. */
size_t facts_count(const struct facts *facts, enum feature_type type);

#endif
