/*
 * html_ref - character references of HTML, read byte by byte: &amp; &#8364; &#x20AC; &ampx.
 *
 * The reader holds back undecided bytes and then returns the text of the reference. Threads: one at
 * a time.   Allocates: nothing.
 * Source: HTML standard, 13.2.5.72 to 13.2.5.80; the names are its whole table
 * (core/message/html/html_name.def, made by contrib/gen-html-names).
 */
#ifndef CORE_MESSAGE_HTML_HTML_REF_H
#define CORE_MESSAGE_HTML_HTML_REF_H

#include "core/base/slice.h"

enum { HTML_REF_HELD = 40, HTML_REF_OUT = 48 };

enum html_ref_kind { HTML_REF_NAME, HTML_REF_DECIMAL, HTML_REF_HEX };

struct html_ref {
    enum html_ref_kind kind;
    char held
        [HTML_REF_HELD]; /* the reference as it stands; for numbers only its beginning */
    size_t nheld;
    bool digits; /* a number has at least one digit */
    uint32_t value;
};

/* Begins after a '&'. */
void html_ref_init(struct html_ref *r);
/* Takes one byte. False when the reference ended before c, which was then not used up. */
bool html_ref_add(struct html_ref *r, char c, bool *retdone);
/* Returns the UTF-8 text of the reference. in_value: rules of attribute values, where next is the
 * byte that follows (0 at the end). */
struct slice html_ref_text(const struct html_ref *r, bool in_value, char next,
                           char dst[HTML_REF_OUT]);

#endif
