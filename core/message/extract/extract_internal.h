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
 *   extract_html.c, drawn_code.c  HTML parts; codes that text and HTML draw
 *   code.c, xml.c  scripts; office documents
 *   external.c, auth.c  address of a message/external-body; Authentication-Results
 *   share.c, skim.c  processor time, shared out; links of text for which there was none
 *   location.c, overflow.c  place of features in the message; those without room
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
#include "core/message/extract/document.h"
#include "core/message/extract/drawn_code.h"
#include "core/message/extract/extract.h"
#include "core/message/extract/extract_file.h"
#include "core/message/extract/facts.h"
#include "core/message/extract/fingerprint.h"
#include "core/message/extract/html_base.h"
#include "core/message/extract/late.h"
#include "core/message/extract/leaf.h"
#include "core/message/extract/link.h"
#include "core/message/extract/location.h"
#include "core/message/extract/mailing_list.h"
#include "core/message/extract/overflow.h"
#include "core/message/extract/password.h"
#include "core/message/extract/share.h"
#include "core/message/html/html.h"
#include "core/message/html/shown.h"
#include "core/message/text/charset.h"
#include "core/message/text/enriched.h"
#include "core/message/text/transfer.h"
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
    unsigned nurls;     /* kept, of domains that the message had already */
    unsigned ndomains;  /* kept, the first of their domain */
    unsigned auth_seen; /* methods that an earlier field spoke about */
    struct overflow overflow;
    uint64_t bytes;
    struct slice message_id;
    struct mailing_list list;
    struct extract_auth auth;
    struct extract_conversation conversation;
    struct traits traits; /* that the set has */
    struct facts facts;

    struct shares shares;

    struct extract_place place;
    struct slice within; /* of the leaf or file at hand: "invoice.pdf in offer.zip" */
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
    struct drawn *drawn;         /* with the window: codes of its lines and boxes */
    struct fingerprint *imprint; /* fingerprints; NULL until there is text */
    struct unfold unfold;
    struct enriched enriched;
    struct uuencode uuencode;

    /* files to look into, in order */
    struct extract_file *files;
    struct extract_file *last_file;
    struct extract_file *uu_file; /* being found in text */
    struct sha256 uu_sum;
    struct extract_file *image; /* that an attribute of HTML holds, while it comes */
    struct transfer image_code;
    size_t held_bytes; /* of all */
    struct extract_document document;
    struct extract_late late;
    bool may_have_files; /* it is more than a text and its alternative */
    struct password_finder passwords;
    uint64_t reader_us; /* left for the reader */
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
