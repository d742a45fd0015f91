/*
 * feature_value - a value that somebody looks up, as the keys under which lists may hold it and the
 * counted features that it may be in messages.
 *
 * Its form decides, as for a list entry. A URL is also looked up by its host, a host by its
 * domains, an address by its host, an IP address by its networks. A name may be counted as a URL's
 * host or domain, a sender's domain, a HELO, ... "TYPE:VALUE" with a counted type is that feature
 * alone.
 * Depends: url.   Threads: pure.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_FEATURE_FEATURE_VALUE_H
#define CORE_MESSAGE_FEATURE_FEATURE_VALUE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/message/feature/feature.h"
#include "core/message/feature/list_keys.h"

enum { VALUE_KEYS_MAX = 2 * FEATURE_KEYS_MAX + 1, VALUE_FEATURES_MAX = 32 };

/* How a value is read. */
struct value_reading {
    enum feature_type hint; /* as feature_entry_parse */
    unsigned derived;       /* as feature_derived_keys */
};
/* Keys of a value, none twice: those under which a message with it would be sought. arena_is_full
 * says that some are missing. */
enum err value_keys(struct slice value, const struct value_reading *how,
                    struct arena *arena, struct feature_key ret[VALUE_KEYS_MAX],
                    size_t *retn, struct errinfo *reterr);

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
