/*
 * api_body - the JSON body of a request: one flat object of the members that a route knows.
 *
 * Strict: valid UTF-8 only, each member once, no unknown member, no bytes after the object. Values
 * are strings, arrays of strings, whole numbers, true and false. Nothing nests deeper, so nothing
 * recurses.
 * Depends: base.   Threads: pure.   Allocates: from the arena; strings without escapes point into
 * the body.   Source: RFC 8259.
 */
#ifndef CORE_HUB_API_API_BODY_H
#define CORE_HUB_API_API_BODY_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

struct api_strings {
    struct slice *v;
    size_t n;
    size_t most; /* set by the caller */
};

enum api_member_kind {
    API_MEMBER_STRING,
    API_MEMBER_STRINGS,
    API_MEMBER_NUMBER, /* 0 to API_NUMBER_MAX, in digits alone */
    API_MEMBER_BOOL
};
#define API_NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* that every reader of JSON keeps */
struct api_member {
    const char *name;
    enum api_member_kind kind;
    bool is_needed;
    void *
        value; /* struct slice, struct api_strings, uint64_t or bool; unchanged without the
                  member */
};
enum { API_MEMBERS_MAX = 16 };

/* ERR_SYNTAX: no JSON. ERR_RANGE: JSON, but not what is asked for. ERR_LIMIT: too many strings.
 * ERR_NOMEM. */
enum err api_body_read(struct slice body, const struct api_member *members, size_t n,
                       struct arena *arena, struct errinfo *reterr);

#endif
