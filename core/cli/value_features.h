/*
 * value_features - what a value would be in messages: the counted features that it may stand for.
 *
 * "TYPE:VALUE" with a counted type is that feature alone. Otherwise by its look, as a list entry
 * is read: a name may be a URL's host or domain, a sender's domain, a HELO, ...
 * Threads: pure.   Allocates: from the arena.
 */
#ifndef CORE_CLI_VALUE_FEATURES_H
#define CORE_CLI_VALUE_FEATURES_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/feature/feature.h"

enum { VALUE_FEATURES_MAX = 32 };

struct value_features {
    bool is_typed; /* the value named its type, which is counted */
    size_t n;
    struct {
        enum feature_type type;
        struct slice text;
    } v[VALUE_FEATURES_MAX];
};

/* Whether the value names a type that is counted and that no list knows. */
bool value_is_only_counted(struct slice value);
enum err value_features_of(struct slice value, struct arena *arena,
                           struct value_features *ret, struct errinfo *reterr);

#endif
