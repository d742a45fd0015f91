/*
 * urlkey - keys of a URL beside its normal form (url_normal.h).
 *
 *   folded    the letters of the path in lower case, except in escapes. On many servers, but not on
 *             all, the URLs with the same key lead to one page.
 *   clean     without the tracking parameters of tracking.def, else unchanged, for lists from
 *             before the normal form. "a.example/x/?utm_id=7&p=1" -> "a.example/x/?p=1"
 *   template  the same for all URLs that one program makes. Labels above the registrable domain,
 *             the path and the names of parameters are in lower case, digits become 0, identifiers
 *             '*', and values go. "a7.shop.example/Item-47/u5f3a9c?uid=3" ->
 *             "a0.shop.example/item-0/" "*?uid"
 * Threads: any.   Allocates: from the arena.   Depends: text (url).
 */
#ifndef CORE_MESSAGE_URL_URLKEY_H
#define CORE_MESSAGE_URL_URLKEY_H

#include "core/base/arena.h"
#include "core/base/slice.h"
#include "core/message/url/url.h"

enum {
    URLKEY_ID_MIN = 4,   /* letters and digits mixed that are an identifier */
    URLKEY_WORD_MAX = 19 /* longest run of letters alone that is no identifier */
};

/* url is the text of a URL without its scheme: url.canonical, or its normal form. Each returns url
 * itself (the same pointer) if nothing differs, {NULL, 0} if the arena is full. */
struct slice urlkey_clean(struct arena *arena, struct slice url);
struct slice urlkey_folded(struct arena *arena, struct slice url);
/* registrable: the end of url->host.text, or empty. Returns url->canonical itself if nothing
 * differs. */
struct slice urlkey_template(struct arena *arena, const struct url *url,
                             struct slice registrable);

bool urlkey_is_tracking(struct slice parameter_name);
/* Whether a parameter of the query (without '?') is one of tracking.def. */
bool urlkey_has_tracking(struct slice query);

#endif
