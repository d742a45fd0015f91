/*
 * inside - the inside of core/extract, shared by its files only.
 *
 *   extract.c  the public functions, envelope, body digest, budget
 *   header.c   header fields
 *   part.c     leaf parts: text in windows, attachment checksums
 *   link.c     URLs and what else is found in text
 *   html.c     HTML parts
 *   auth.c     Authentication-Results
 *   place.c    where features stand
 *   shown_part.c  what fingerprints are made of
 */
#ifndef CORE_EXTRACT_INSIDE_H
#define CORE_EXTRACT_INSIDE_H

#include "core/base/checksum.h"
#include "core/extract/extract.h"
#include "core/extract/imprint.h"
#include "core/text/html.h"
#include "core/text/shown.h"

enum {
    EXTRACT_FEATURES_MAX = 4096, /* of one message, all types together */
    EXTRACT_ADDRESSES_MAX = 100, /* of one header field */
    EXTRACT_WINDOW = 64 * 1024,  /* text is converted and scanned in such pieces */
    EXTRACT_TAIL = 4096, /* a window ends at white space within its last bytes */
    EXTRACT_SCRATCH = 4 * 1024 * 1024, /* per URL, field or window */
    EXTRACT_CPU_STEP = 64 * 1024,      /* bytes between two looks at the clock */
    EXTRACT_CPU_KEPT =
        5, /* a fifth of the budget is for what goes on past it: the digest */
    EXTRACT_CPU_HEADER = 1024, /* fields shorter than this are not timed */
    EXTRACT_PATH_DEPTH =
        32, /* ordinals in the name of a part; a deeper one has no more */
    EXTRACT_PATH_MAX = 256
};

enum text_kind { TEXT_NOT, TEXT_PLAIN, TEXT_HTML };

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
    unsigned nrecipients;
    unsigned nurls;
    uint64_t bytes;
    struct slice message_id;
    struct extract_auth auth;
    unsigned auth_seen; /* methods that an earlier field spoke about */

    /* CPU budget */
    bool stopped;
    uint64_t cpu_used_us;
    uint64_t cpu_since_us;
    size_t cpu_bytes;

    /* where features stand */
    struct {
        unsigned number; /* of the last part at this depth */
        unsigned ordinal;
    } level[EXTRACT_PATH_DEPTH + 2];
    char path[EXTRACT_PATH_MAX];
    size_t npath;
    const char *found_in; /* the text that finds lie in, */
    size_t found_at;      /* and its own offset */

    /* body digest */
    struct sha256 body_sum;
    bool body_has_text;
    uint64_t body_line_ends; /* not yet added: they may be the blank lines at the end */

    /* the leaf part that is open */
    enum text_kind kind;
    struct slice charset;
    bool is_attachment;
    bool has_data;
    struct sha256 part_sum;
    char *window; /* EXTRACT_WINDOW bytes, kept for the next part */
    size_t nwindow;
    size_t text_at;    /* bytes of its text, as UTF-8, before the window */
    struct html *html; /* with shown: kept for the next HTML part */
    struct shown *shown;

    /* fingerprints */
    struct imprint *imprint;    /* NULL until there is text */
    bool is_shown;              /* the open part is text that a reader sees */
    unsigned alternative_depth; /* of the multipart/alternative we are in, plus one */
};

/* extract.c */
void extract_cpu_begin(struct extract *x);
void extract_cpu_end(struct extract *x);
/* bytes more were worked on; sets x->stopped when the budget is used up. */
void extract_cpu_step(struct extract *x, size_t bytes);
/* The address and its registrable domain. */
void extract_add_address(struct extract *x, enum feature_type type,
                         enum feature_type domain_type, struct slice address,
                         struct slice domain);
void extract_add_mail_from(struct extract *x, struct slice address);

/* header.c: mail_events.header */
void extract_on_header(void *context, const struct mail_part *part, struct slice name,
                       struct slice value);

/* part.c: mail_events */
void extract_on_part_begin(void *context, const struct mail_part *part);
void extract_on_part_data(void *context, const struct mail_part *part,
                          struct slice bytes);
void extract_on_part_end(void *context, const struct mail_part *part);

/* link.c */
void extract_link(struct extract *x, struct slice url);
/* False: no URL, or of a scheme that is not looked up. */
bool extract_try_link(struct extract *x, struct slice text);
/* Every URL, address, phone number and wallet in running UTF-8 text that begins at `at`. */
void extract_links_in(struct extract *x, struct slice text, size_t at);
/* URLs with a scheme or "www." in a header field: its other names and addresses say where mail
 * went, not what a reader sees. */
void extract_header_links(struct extract *x, struct slice value);
/* Of HTML: what is found from now on is of the tag or run of text that begins at `at`. */
void extract_tag_at(struct extract *x, size_t at);
/* As extract_links_in, in such a run. */
void extract_links_of_tag(struct extract *x, struct slice text);
/* Of attributes, style sheets and comments: "p.link" is no host there. */
void extract_links_in_code(struct extract *x, struct slice text);
void extract_numbers_in(struct extract *x, struct slice text);

/* html.c */
/* Makes x->html and x->shown. False: there is no memory for them. */
bool extract_html_begin(struct extract *x);

/* shown_part.c: after x->kind of the part is known. */
void extract_shown_begin(struct extract *x, const struct mail_part *part);
void extract_shown_end(struct extract *x, const struct mail_part *part);
/* Text of the open part; ignored where no reader shows the part. */
void extract_shown_text(struct extract *x, struct slice text);
void extract_shown_tag(struct extract *x, struct slice name);

/* place.c: features from now on are of this part (of the message itself when NULL), in the field
 * header, or where that is empty in its text. Parts are told in order of their numbers. */
void extract_place(struct extract *x, const struct mail_part *part,
                   struct slice header);

/* auth.c: one Authentication-Results value; fields of servers not trusted are ignored. */
void extract_auth_field(struct extract *x, struct slice value);

#endif
