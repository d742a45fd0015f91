/*
 * find_inside - the inside of core/url/find, shared by its files only.
 *
 *   find.c       looks for dots, colons, @ and brackets; schemes
 *   find_url.c   from the host of a URL to its end
 *   find_name.c  hosts without a scheme, addresses
 *   find_mark.c  one character; find_host.c: known suffixes
 */
#ifndef CORE_URL_FIND_INSIDE_H
#define CORE_URL_FIND_INSIDE_H

#include <stdbool.h>

#include "core/url/find.h"
#include "core/url/find_mark.h"

/* A find that grows: as it stands from start to end, and as it is to be read. */
struct find_draft {
    size_t start;
    size_t end;
    size_t n; /* bytes in scan.mended */
    unsigned flags;
    bool is_mended; /* else the text is as it stands */
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

struct find_scan {
    struct slice text;
    enum find_where where;
    find_fn *on_find;
    void *context;
    size_t from; /* end of the last find: what stands before belongs to no other */
    size_t
        joined_until; /* on the further lines of a joined URL only "www." marks a host */
    struct find_draft draft;
    struct find_run run;
    char mended[FIND_MENDED_MAX];
};

/* find.c */
void find_draft_begin(struct find_scan *s, size_t start);
/* Text that does not stand there so. */
void find_draft_put(struct find_scan *s, struct slice text);
/* The character at draft.end, which moves on. */
void find_draft_add(struct find_scan *s, const struct mark *m);
/* draft as it is to be read. */
struct slice find_draft_text(const struct find_scan *s, const struct find_draft *draft);
/* Reports text, which is find_draft_text() or its beginning; raw begins at from. */
void find_report(struct find_scan *s, const struct find_draft *draft, struct find find,
                 size_t from);

/* find_url.c: reads on at draft.end, where the host begins, and reports; false: no URL, nothing
 * reported. nscheme: bytes of the draft's text before the host. */
bool find_url_rest(struct find_scan *s, struct find find, size_t nscheme);
/* The same for a host that is read already, at its port, path or end. */
bool find_url_path(struct find_scan *s, struct find find);

/* find_name.c: where a host that goes on after i ends, by its look alone. */
size_t find_after_host(struct slice text, size_t i);
/* find_name.c: what a dot or an @ at `at` (n bytes) belongs to; returns where to go on. */
size_t find_at_dot(struct find_scan *s, size_t at, size_t n);
size_t find_at_sign(struct find_scan *s, size_t at, size_t n);

#endif
