/*
 * api_html - pages without script for people: links of digests, and a user's own page.
 *
 * Every text of mail, of a client or of a setting goes through markup_add. The policy of the
 * pages allows forms to this server and nothing else.
 * Depends: base.   Threads: a worker's.   Owns: nothing.
 */
#ifndef CORE_HUB_API_API_HTML_H
#define CORE_HUB_API_API_HTML_H

#include "core/hub/api/api_internal.h"

/* Drops what the answer has, and writes the page up to its text. language: of its texts, "en". */
struct buf *api_html_begin(struct api_call *call, unsigned status, const char *language,
                           const char *title);
void api_html_end(struct buf *b);
/* A header value of a stranger: decoded, with codes for invisible characters, escaped. */
void api_html_add_decoded(struct buf *b, const char *value);

/* Path of the pages in front of "q/..." and "own": that of quarantine.url, which ends in "/". */
struct slice api_html_prefix(const struct config *config);

#endif
