/*
 * unwrap - the URLs that a URL carries: redirectors and link wrappers, read offline.
 *
 * Safe Links, urldefense v1 to v3, Google's /url, /amp and translate.goog, AMP caches, Bing's
 * /ck/a; of any host an absolute http or https URL in the path or as a parameter of query or
 * fragment, with a name or without (escaped up to four times, or in base64), and a bare host name
 * as a parameter that redirectors use. A target may be wrapped itself; each is shorter than the URL
 * that carries it. There are no network requests, so link shorteners are only recognised.
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_UNWRAP_H
#define CORE_MESSAGE_URL_UNWRAP_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum {
    UNWRAP_DEPTH_MAX = 5,              /* wrappers round a target */
    UNWRAP_TARGETS_MAX = 16,           /* of one URL, all depths together */
    UNWRAP_ARENA_MAX = 2 * 1024 * 1024 /* more is never taken from the arena */
};

enum unwrap_kind {
    UNWRAP_PARAMETER, /* an absolute URL, or a redirector's parameter */
    UNWRAP_PATH,      /* an absolute URL within the path */
    UNWRAP_SAFELINKS,
    UNWRAP_URLDEFENSE,
    UNWRAP_GOOGLE,
    UNWRAP_AMP,
    UNWRAP_BING,
    UNWRAP_NATE
};

struct unwrap_target {
    struct slice url; /* as decoded; url_parse takes it */
    unsigned depth;   /* 1: in the URL itself */
    unsigned from; /* the target that carries it, counted from 1; 0: the URL itself */
    enum unwrap_kind kind; /* of the wrapper directly round it */
};

/* Every target of the URL text, outer ones first; 0 when there is none. *retcut: there were more
 * than the limits allow, or the arena was full. */
size_t unwrap_url(struct arena *arena, struct slice text,
                  struct unwrap_target ret[UNWRAP_TARGETS_MAX], bool *retcut);
/* False: unwrap_url finds nothing in text, which is so of most URLs and quickly told. host: its
 * normal form. */
bool unwrap_may_carry(struct slice text, struct slice host);
const char *unwrap_kind_name(enum unwrap_kind kind); /* "safelinks" */

/* Whether the normal-form host belongs to a public link shortener (the table shortener.def), whose
 * links do not contain their targets. */
bool unwrap_is_shortener(struct slice host);

#endif
