/*
 * html_base - inside of core/message/extract: the base of relative links in HTML.
 *
 * The first <base href> with a scheme, also for the links before it, of which a bounded number is
 * kept. Content-Base and Content-Location are not followed: mail programs do not.
 */
#ifndef CORE_MESSAGE_EXTRACT_HTML_BASE_H
#define CORE_MESSAGE_EXTRACT_HTML_BASE_H

#include "core/message/url/weburl.h"

enum {
    EXTRACT_BASES_MAX = 64,    /* <base> of one message that are followed */
    EXTRACT_BASE_BYTES = 2048, /* of a longer one no relative link is read */
    EXTRACT_EARLY_MAX = 64,    /* relative links before a <base> that are kept for it */
    EXTRACT_EARLY_BYTES = 4096 /* together */
};

struct extract_base {
    struct weburl url;
    char *early_text; /* EXTRACT_EARLY_BYTES: relative links before the base */
    size_t nearly_text;
    size_t nearly;
    struct {
        uint32_t at;
        uint32_t n;
    } early[EXTRACT_EARLY_MAX];
    unsigned count; /* of the message */
    bool is_known;
    bool is_read; /* the value at hand is one */
    bool is_early_cut;
};

#endif
