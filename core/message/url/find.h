/*
 * find - URLs and e-mail addresses in running text, as a reader would click or copy them.
 *
 * With a scheme (http, https, ftp, anywhere in a word), or without one when the host ends in a
 * suffix of the public suffix list: "file.txt", "e.g" and "1.2.3" are none. A name whose top level
 * is a word or a suffix of files ("sign.in", "main.cf") is a link only with "www.", a path or a
 * query; else it is FIND_BARE. Another scheme opens a host too ("ftps://host", "intent://host",
 * "\\\\host\\share"), and so does "name@host" before a port. Message-IDs are no addresses. The
 * colon and the slashes may be percent-encoded, character references or wide; more slashes than
 * two, a single one or no slash are read as browsers do. Read as if they were not there: zero-width
 * and bidi characters, soft hyphens; text under an override is read as it is shown, too. Defanged
 * forms are put right ("hxxp", "[.]", "(dot)", "[at]", "[:]//"), ideographic full stops in hosts
 * are dots. Scripts written without spaces may touch a URL. A URL that a line end cuts inside
 * <...>, or in a long line that goes on as a URL does, is reported twice: up to the line end, and
 * joined; so is what the next line itself marks as a URL. So is one whose path goes on in an
 * invisible character, in such a script or behind a backslash. Trailing punctuation and brackets
 * that nothing opened do not belong. Input is UTF-8, broken sequences allowed.
 * Linear: limits bound the text that is read twice. Threads: any.   Allocates: nothing, except in
 * ICU for text under an override (find_turned.h).
 */
#ifndef CORE_MESSAGE_URL_FIND_H
#define CORE_MESSAGE_URL_FIND_H

#include "core/base/slice.h"

enum {
    FIND_MENDED_MAX =
        16384,            /* bytes of a text that is not as it stands; then FIND_CUT */
    FIND_LOCAL_MAX = 256, /* bytes before the @ of an address that are looked at */
    FIND_HOST_MAX = 512,  /* bytes of a host without a scheme, in any script */
    FIND_JOIN_LINES = 8,  /* lines that one URL may run over */
    FIND_SCHEME_MAX = 16  /* letters of a scheme */
};

enum find_kind {
    FIND_URL,
    FIND_ADDRESS,
    FIND_BARE, /* a name that no client makes a link of ("sign.in"): the host alone */
    FIND_OTHER /* a URL of another scheme: "irc://...", "<tel:...>" */
};

enum find_flag {
    FIND_NO_SCHEME = 0x01, /* text has no scheme */
    FIND_DEFANGED = 0x02,  /* hxxp, [.], (dot), [at] */
    FIND_HIDDEN = 0x04,    /* invisible characters were taken out */
    FIND_JOINED = 0x08,    /* it stood on more than one line */
    FIND_SHORT = 0x10,     /* the shorter of two readings; the longer one follows */
    FIND_CUT =
        0x20 /* a mended text longer than FIND_MENDED_MAX, shortened by longurl.h */
};

struct find {
    enum find_kind kind;
    unsigned flags;
    struct slice
        text; /* as it is to be read; raw itself, or lives during the call back */
    struct slice raw; /* where it stands */
    struct slice
        scheme; /* "http", "https", "ftp", "mailto"; another: as it stands, and the text of a
                   FIND_URL has http in its place */
};

typedef void find_fn(void *context, const struct find *find);

enum find_where {
    FIND_IN_PROSE,
    FIND_IN_CODE, /* style sheets, attributes: hosts without a scheme only after "www." */
    FIND_IN_HEADER /* as in code, and no addresses: a field is full of them */
};

/* Calls back for every find in text, in order of their beginning; then for those of text as an
 * override shows it, whose raw is that stretch of text. */
void find_in_text(struct slice text, enum find_where where, find_fn *on_find,
                  void *context);

#endif
