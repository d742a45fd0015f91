/*
 * link - inside of core/message/extract: URLs, addresses, phone numbers and wallets in text.
 */
#ifndef CORE_MESSAGE_EXTRACT_LINK_H
#define CORE_MESSAGE_EXTRACT_LINK_H

#include "core/base/slice.h"
#include "core/message/url/host.h"
#include "core/message/url/url.h"

struct extract;

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

#endif
