/*
 * find_internal - the inside of core/message/url/find, shared by its files only.
 *
 *   find.c          looks for dots, colons, @ and brackets
 *   find_scheme.c   schemes, their colons and slashes
 *   find_url.c      from the host of a URL to its end
 *   find_run.c      words joined by dots
 *   find_name.c     hosts without a scheme
 *   find_address.c  addresses
 *   find_mark.c     one character
 *   find_host.c     known suffixes
 */
#ifndef CORE_MESSAGE_URL_FIND_INTERNAL_H
#define CORE_MESSAGE_URL_FIND_INTERNAL_H

#include "core/message/url/find.h"
#include "core/message/url/find_host.h"
#include "core/message/url/find_mark.h"

/* A find that grows: as it stands from start to end, and as it is to be read. */
struct find_draft {
    size_t start;
    size_t end;
    size_t n; /* bytes in scan.mended; fewer than before when they were shortened */
    unsigned flags;
    bool is_mended; /* else the text is as it stands */
    bool is_other;  /* of another scheme than text has: it ends before '#' */
    unsigned
        decode; /* times that the rest is percent-encoded, after the text in mended */
};

/* Words joined by dots, as they are to be read. */
struct find_run {
    char text[FIND_HOST_MAX];
    size_t raw[FIND_HOST_MAX + 1]; /* where each byte stands; raw[n]: the end */
    size_t n;
    size_t begin;
    size_t end;  /* where it ends as it stands */
    size_t hops; /* where the last label of a script without spaces begins */
    bool is_too_long;
};

/* A part of a run: text[from] to text[to - 1]. */
struct find_part {
    size_t from;
    size_t to;
};

struct find_scan {
    struct slice text;
    struct slice turned; /* what text shows; p == NULL: itself */
    enum find_where where;
    find_fn *on_find;
    void *context;
    size_t from; /* end of the last find; later finds begin behind it */
    size_t
        joined_until; /* on the further lines of a joined URL only "www." marks a host */
    size_t id_end;    /* behind the bracket of the last Message-ID */
    struct find_draft draft;
    struct find_run run;
    char mended[FIND_MENDED_MAX];
};

/* find.c */
void find_draft_begin(struct find_scan *s, size_t start);
/* Text that does not stand there so. */
void find_draft_put(struct find_scan *s, struct slice text);
/* Text as it stands, a part of the draft. */
void find_draft_copy(struct find_scan *s, struct slice text);
/* The character at draft.end, which moves on. */
void find_draft_add(struct find_scan *s, const struct mark *m);
/* Draws up what stands from draft.end on up to end. */
void find_draft_raw(struct find_scan *s, size_t end);
/* draft as it is to be read. */
struct slice find_draft_text(const struct find_scan *s, const struct find_draft *draft);
/* Reports text, which is find_draft_text() or its beginning; raw begins at from. */
void find_report(struct find_scan *s, const struct find_draft *draft, struct find find,
                 size_t from);

/* find_scheme.c: reads a colon or an opening bracket at i, in any spelling. Returns the place to
 * continue at. */
size_t find_at_colon(struct find_scan *s, size_t i);

/* find_url.c: reads from draft.end, where the host begins, and reports. False: it is no URL and is
 * not reported. nscheme is the length of the draft's text before the host. */
bool find_url_rest(struct find_scan *s, struct find find, size_t nscheme);
/* The same for a host that is read already, at its port, path or end. */
bool find_url_path(struct find_scan *s, struct find find);

/* find_run.c: the beginning of the word that ends before i. A script without spaces belongs to the
 * word only if the word ends in it. */
size_t find_word_begin(const struct find_scan *s, size_t i);
/* Reads the run that begins at start. */
void find_run_read(const struct find_scan *s, size_t start, struct find_run *run);
/* The part up to the next empty label, without bytes that cannot begin or end a host; empty at the
 * end. *at moves on. */
struct find_part find_next_part(const struct find_run *run, size_t *at);
struct slice find_part_text(const struct find_run *run, struct find_part part);
/* The host in a part of a run, which may become shorter, and what it is. */
enum find_host find_host_in(const struct find_run *run, struct find_part *part);

/* find_name.c: where a host that goes on after i ends, by its look alone. */
size_t find_after_host(struct slice text, size_t i);
/* "www.", "www2." */
bool find_has_www(struct slice name);
/* A path or a query begins at i; "Core.pm:12" is a line of a file. */
bool find_has_path(struct slice text, size_t i);
/* The end of a port at i, with its colon, before a path or the end of the word; else i. */
size_t find_port_end(struct slice text, size_t i);
/* Reports the host as a URL, with its port, path and query. */
bool find_report_host(struct find_scan *s, const struct find_run *run,
                      struct find_part part);
/* Reads the find that a dot or an @ at `at` (n bytes) belongs to. Returns the place to continue
 * at. */
size_t find_at_dot(struct find_scan *s, size_t at, size_t n);
/* find_address.c */
size_t find_at_sign(struct find_scan *s, size_t at, size_t n);

#endif
