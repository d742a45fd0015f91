/*
 * urlkey - looser keys of a URL, for links that differ from mail to mail.
 *
 *   clean     without the tracking parameters of tracking.def: "a.example/x?utm_id=7&p=1" ->
 *             "a.example/x?p=1"
 *   folded    clean, the letters of its path in lower case (those of escapes stay): what leads to
 *             one page on many servers, and to different ones on others
 *   template  what one program makes: labels above the registrable domain, the path and the names
 *             of parameters in lower case; digits become 0, what looks like an identifier *, values
 *             go: "a7.shop.example/Item-47/u5f3a9c?uid=3" -> "a0.shop.example/item-0/" "*?uid"
 * Threads: any.   Allocates: from the arena.   Depends: text (url).
 */
#ifndef CORE_URL_URLKEY_H
#define CORE_URL_URLKEY_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/slice.h"
#include "core/url/url.h"

enum {
    URLKEY_ID_MIN = 4,   /* letters and digits mixed that are an identifier */
    URLKEY_WORD_MAX = 19 /* letters alone that are none */
};

/* Each is url->canonical itself (the same pointer) where nothing differs, and {NULL, 0} when the
 * arena is full. registrable: the end of url->host.text, or empty. */
struct slice urlkey_clean(struct arena *arena, const struct url *url);
/* clean: what urlkey_clean gave. May be clean itself. */
struct slice urlkey_folded(struct arena *arena, const struct url *url,
                           struct slice clean);
struct slice urlkey_template(struct arena *arena, const struct url *url,
                             struct slice registrable);

bool urlkey_is_tracking(struct slice parameter_name);

#endif
