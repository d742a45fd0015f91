/*
 * extract_internal - declarations that only the files of this folder share.
 *
 *   extract.c  the public functions, body digest, budget
 *   envelope.c the SMTP session
 *   header.c, field_note.c  header fields; notes of them for the checks
 *   part.c     the parts of a message: leaves and attachments
 *   leaf.c     a leaf's bytes: checksum, type by the first bytes, choice of reader
 *   window.c   its text: charset, folding, windows
 *   extract_file.c  files with files, links or a message, kept and then read one by one
 *   link.c     URLs, addresses, phone numbers and wallets in text
 *   extract_html.c  HTML parts
 *   code.c, xml.c  scripts; office documents
 *   external.c address of a message/external-body
 *   auth.c     Authentication-Results
 *   location.c place of features in the message
 *   share.c, skim.c  processor time, shared out; links of text for which there was none
 *   overflow.c features for which there is no room
 *   shown_part.c, facts.c  the text of fingerprints; notes of the whole message
 */
#ifndef CORE_MESSAGE_EXTRACT_EXTRACT_INTERNAL_H
#define CORE_MESSAGE_EXTRACT_EXTRACT_INTERNAL_H

#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/message/archive/magic.h"
#include "core/message/archive/office.h"
#include "core/message/archive/uuencode.h"
#include "core/message/extract/code.h"
#include "core/message/extract/extract.h"
#include "core/message/extract/extract_file.h"
#include "core/message/extract/facts.h"
#include "core/message/extract/fingerprint.h"
#include "core/message/extract/html_base.h"
#include "core/message/extract/leaf.h"
#include "core/message/extract/location.h"
#include "core/message/extract/mailing_list.h"
#include "core/message/extract/overflow.h"
#include "core/message/extract/share.h"
#include "core/message/html/html.h"
#include "core/message/html/shown.h"
#include "core/message/text/charset.h"
#include "core/message/text/enriched.h"
#include "core/message/text/unfold.h"
#include "core/message/trait/trait.h"
#include "core/message/url/url.h"

enum {
    EXTRACT_FEATURES_LAST =
        64 + TRAIT_COUNT,        /* of the message as a whole: nothing crowds
                                               * them out */
    EXTRACT_ADDRESSES_STEP = 64, /* of one header field, read at once */
    EXTRACT_WINDOW = 64 * 1024,  /* text is converted and scanned in such pieces */
    EXTRACT_TAIL = 4096, /* a window ends at white space within its last bytes */
    EXTRACT_SCRATCH = 4 * 1024 * 1024, /* per URL, field or window */
    EXTRACT_CPU_FIND = 256,            /* bytes that cost as much as one find in text */
    EXTRACT_SPLIT_MIN =
        3, /* words that comments split; an editor leaves one at times */
    EXTRACT_HIDDEN_MIN =
        8 /* bytes of hidden text that set the trait; less is spacing */
};

struct extract {
    struct arena *arena;
    struct arena *scratch; /* reset after each URL and each header field */
    struct arena *text;    /* reset after each window */
    struct extract_limits limits;
    char *const *trusted;
    size_t ntrusted;
    struct featureset *set;
    struct mail *mail;
    bool finished;

    bool has_mail_from; /* by the envelope, or by Return-Path */
    bool is_raw;
    bool stopped;     /* the open leaf has used its time: its text is skimmed */
    bool is_over;     /* and the time for that: it is ignored */
    bool was_stopped; /* some leaf was */
    unsigned nrecipients;
    struct slice *recipients; /* the first EXTRACT_RECIPIENTS, in normal form */
    unsigned nkept;
    unsigned nurls;    /* kept, of domains that the message had already */
    unsigned ndomains; /* kept, the first of their domain */
    struct overflow overflow;
    uint64_t bytes;
    struct slice message_id;
    struct mailing_list list;
    struct extract_auth auth;
    struct extract_conversation conversation;
    struct traits traits; /* that the set has */
    struct facts facts;
    unsigned auth_seen; /* methods that an earlier field spoke about */

    struct shares shares;

    struct extract_place place;
    struct extract_base base; /* of the HTML part that is open */
    struct extract_code code; /* of the script that is open */
    struct extract_xml *xml;

    /* body digest */
    struct sha256 body_sum;
    bool body_has_text;
    uint64_t body_line_ends; /* not yet added: they may be the blank lines at the end */

    /* the leaf that is open */
    struct leaf leaf;
    struct sha256 part_sum;
    struct buf held;
    size_t nhead;
    enum text_kind kind;
    enum file_kind holds; /* what held is of */
    char head[MAGIC_BYTES];
    bool is_attachment;
    bool has_data;
    bool is_decided; /* head told what it is */
    bool finds_files;
    struct leaf_watch watch;

    /* its text */
    bool unfolds;
    bool is_enriched;
    bool drops_nul;
    bool is_shown;              /* a reader sees it */
    bool is_seen;               /* the text at hand, which has links */
    enum office_kind office;    /* of the zip file that is read */
    unsigned alternative_depth; /* of the multipart/alternative we are in, plus one */
    struct slice charset;
    struct charset_stream *stream;
    char *window; /* EXTRACT_WINDOW bytes, kept for the next part */
    size_t nwindow;
    size_t text_at;    /* bytes of its text, as UTF-8, before the window */
    struct html *html; /* with shown: kept for the next HTML part */
    struct shown *shown;
    struct fingerprint *imprint; /* fingerprints; NULL until there is text */
    struct unfold unfold;
    struct enriched enriched;
    struct uuencode uuencode;

    /* files to look into, in order */
    struct extract_file *files;
    struct extract_file *last_file;
    struct extract_file *uu_file; /* being found in text */
    struct sha256 uu_sum;
    size_t held_bytes; /* of all */
    struct archive_budget archive;
};

/* extract.c */
/* bytes more were worked on; sets x->stopped when the open leaf has used its time. */
void extract_cpu_step(struct extract *x, size_t bytes);
/* From now on time is spent on this share, by a leaf of its own. */
void extract_spend_on(struct extract *x, enum share share);
/* The address and its registrable domain. */
void extract_add_address(struct extract *x, enum feature_type type,
                         enum feature_type domain_type, struct slice address,
                         struct slice domain);
/* Bits of enum mail_limit_bit. */
void extract_add_mail_limits(struct extract *x, unsigned met);
void extract_trait(struct extract *x, enum trait trait);
void extract_traits(struct extract *x, const struct traits *found);
void extract_add_mail_from(struct extract *x, struct slice address);

/* header.c: mail_events.header */
void extract_on_header(void *context, const struct mail_part *part, struct slice name,
                       struct slice value);

/* field_note.c */
void extract_note_field(struct extract *x, enum noted_field field, struct slice value);
void extract_note_fields_end(struct extract *x);

/* part.c: mail_events */
void extract_on_part_begin(void *context, const struct mail_part *part);
void extract_on_part_data(void *context, const struct mail_part *part,
                          struct slice bytes);
void extract_on_part_end(void *context, const struct mail_part *part);
bool extract_is_text(void *context, const struct mail_part *part);

/* Links in a field of any part. */
void extract_links_of_field(struct extract *x, struct slice name, struct slice value);

/* external.c: the addresses that a Content-Type of message/external-body gives. */
void extract_external_body(struct extract *x, struct slice content_type);

/* part.c */
struct leaf extract_leaf_of(const struct mail_part *part);
void extract_add_part_names(struct extract *x, const struct mail_part *part);

/* leaf.c */
void extract_leaf_begin(struct extract *x, const struct leaf *leaf);
void extract_leaf_data(struct extract *x, struct slice bytes);
/* whole: no byte of it is missing, as far as anybody knows. */
void extract_leaf_end(struct extract *x, bool whole);
/* By type and name. A browser goes by the name when it is given a file: page.html is HTML
 * whatever its type. */
enum text_kind extract_text_kind(struct slice type, struct slice name);
void extract_add_name(struct extract *x, enum feature_type type, struct slice name,
                      struct slice charset);

/* window.c */
/* False: there is no memory for the text. head: its first bytes; gives how many of them are a
 * mark, not text. */
bool extract_text_begin(struct extract *x, struct slice head, size_t *retmark);
void extract_text_data(struct extract *x, struct slice bytes);
void extract_text_end(struct extract *x);

/* link.c */
void extract_link(struct extract *x, struct slice url);
/* False: no URL, or of a scheme that is not looked up. */
bool extract_try_link(struct extract *x, struct slice text);
/* Every URL, address, phone number and wallet in running UTF-8 text that begins at `at`. */
void extract_links_in(struct extract *x, struct slice text, size_t at);
/* URLs with a scheme or "www." in a header field: its other names and addresses say where mail
 * went, not what a reader sees. */
void extract_header_links(struct extract *x, struct slice value);
/* The same URLs as features that are looked up but not counted. */
void extract_field_urls(struct extract *x, struct slice value);
/* HTML: later finds belong to the tag or run of text that begins at `at`. */
void extract_tag_at(struct extract *x, size_t at);
/* As extract_links_in, in such a run. */
void extract_links_of_tag(struct extract *x, struct slice text);
/* Of attributes, style sheets and comments: "p.link" is no host there. */
void extract_links_in_code(struct extract *x, struct slice text);
void extract_numbers_in(struct extract *x, struct slice text);

/* The registrable domain, or the host where it has none. */
struct slice extract_domain_of(const struct host *host);
/* Notes a link that a reader sees, if it leads to a domain of From, by a redirector or not. */
void extract_note_own_link(struct extract *x, const struct url *url);

/* extract_html.c */
/* Makes x->html and x->shown for a part. False: there is no memory for them. */
bool extract_html_begin(struct extract *x);

/* shown_part.c: after x->kind of the part is known. */
void extract_shown_begin(struct extract *x, const struct mail_part *part);
void extract_shown_end(struct extract *x, const struct mail_part *part);
/* Text of the open part; ignored where no reader shows the part. */
void extract_shown_text(struct extract *x, struct slice text);
void extract_shown_tag(struct extract *x, struct slice name);
/* The message is over: no more text. */
void extract_shown_finish(struct extract *x);

/* skim.c: links of a window of text by their form: text behind "//", "www." and href. */
void extract_skim(struct extract *x, struct slice text);

/* auth.c: one Authentication-Results value; fields of servers not trusted are ignored. */
void extract_auth_field(struct extract *x, struct slice value);

#endif
