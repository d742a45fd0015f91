/*
 * feature - a piece of a message: {type, text, flags}, in a set without duplicates.
 *
 * The types are one table, feature.def. The functions of core/message/text and url bring texts into
 * the normal form of the table. A set belongs to one message and lives in its arena. Files in
 * reading order: feature.def, trait.def, limit.def (the tables), feature (the set), normalize,
 * network, list_keys (keys of a feature in lists), list_entry, feature_value (values of people),
 * ham_keys, feature_json.
 * To add a type: a row in feature.def with a new number; its lookup column selects the keys.
 * Threads: one at a time.   Allocates: from the arena given.
 */
#ifndef CORE_MESSAGE_FEATURE_FEATURE_H
#define CORE_MESSAGE_FEATURE_FEATURE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum feature_type {
    FEATURE_NONE = 0,
#define FEATURE(number, name, lookup, counted, shown, help) FEATURE_##name = (number),
#include "core/message/feature/feature.def"
#undef FEATURE
};

enum feature_lookup {
    FEATURE_LOOKUP_NONE,    /* not sought in lists */
    FEATURE_LOOKUP_VALUE,   /* the value itself, under its own type */
    FEATURE_LOOKUP_ADDRESS, /* as address, and its host as FEATURE_LOOKUP_HOST */
    FEATURE_LOOKUP_HOST, /* as host, and each suffix down to the registrable domain as domain */
    FEATURE_LOOKUP_URL, /* as url; as the classes derived from it where lists hold them */
    FEATURE_LOOKUP_IP,   /* as network, at every prefix length that entries may have */
    FEATURE_LOOKUP_CLASS /* a class of list entries, never a message's feature */
};

struct feature_info {
    enum feature_type type;
    const char *name;
    enum feature_lookup lookup;
    bool counted;
    bool shown;
    const char *help;
};
/* The row of a type, or NULL. */
const struct feature_info *feature_info(enum feature_type type);
const struct feature_info *feature_info_by_name(struct slice name);
/* The name of a type; "unknown" for another number. */
const char *feature_type_name(uint16_t type);
/* Whether the table has a type of this name that is looked up in lists, or a class of entries. */
bool feature_is_sought(struct slice name);
/* Whether the table has a type of this name that is counted. */
bool feature_is_counted(struct slice name);
/* Whether the table has a type of this name that messages have as features. */
bool feature_is_of_message(struct slice name);
/* All rows in the order of the table. */
const struct feature_info *feature_table(size_t *retcount);

/* Where a feature stood. Neither: in the envelope, or of the message as a whole. */
struct feature_place {
    struct slice
        part; /* "1.2": ordinals from the outermost part on; empty: the message */
    struct slice
        header; /* name of the field; empty: the text or the data of the part */
    struct slice
        within; /* "page 2 of invoice.pdf in offer.zip"; empty: not within a file */
};

struct feature {
    uint16_t type;   /* enum feature_type */
    uint16_t flags;  /* reserved; 0 */
    uint32_t offset; /* in the decoded text there; of HTML: of its tag or run of text */
    struct slice text;
    const struct feature_place *place; /* where it was found first; NULL: neither */
};

/* Limits that were met while a message was read: one bit and one name each. */
enum limit_flag {
#define LIMIT(name, kind, key, help) LIMIT_BIT_##name,
#include "core/message/feature/limit.def"
#undef LIMIT
    LIMIT_FLAG_COUNT
};
_Static_assert((int)LIMIT_FLAG_COUNT <= 32, "limits are bits of 32");
#define LIMIT_FLAG(name) (1u << LIMIT_BIT_##name)
const char *limit_name(unsigned bit); /* "mime_depth"; NULL past the last */
/* Honest mail never meets it. bit < LIMIT_FLAG_COUNT. */
bool limit_is_odd(unsigned bit);
/* The key of the configuration that raises it, or "". bit < LIMIT_FLAG_COUNT. */
const char *limit_key(unsigned bit);

/* The words of FEATURE_trait; the limits are the last of them, in the order of their bits. */
enum trait {
#define TRAIT(name, help) TRAIT_##name,
#include "core/message/feature/trait.def"
#undef TRAIT
#define LIMIT(name, kind, key, help) TRAIT_limit_##name,
#include "core/message/feature/limit.def"
#undef LIMIT
    TRAIT_COUNT
};
const char *trait_name(enum trait trait);
const char *trait_help(enum trait trait);
bool trait_is_known(struct slice name);

struct featureset;

/* An empty set in arena; NULL when the arena is full. At most max features are kept. */
struct featureset *featureset_new(struct arena *arena, size_t max);
/* Lets n more features in than before. */
void featureset_raise_max(struct featureset *fs, size_t n);
/* Where the features added from now on stand, at offset 0. Borrowed until the next call. */
void featureset_set_place(struct featureset *fs, struct slice part,
                          struct slice header);
void featureset_set_offset(struct featureset *fs, size_t offset);
/* Later features stand within a file of the part, at offset 0; empty: in the part itself.
 * Borrowed until the next call. */
void featureset_set_within(struct featureset *fs, struct slice within);
/* Adds a copy of text unless {type, text} is there; empty text is ignored. Over the arena: not
 * added, LIMIT_FLAG(memory) is set. Over the cap: not added, LIMIT_FLAG(features) is set, and it
 * goes to featureset_overflow. Returns true when the feature is new, or may be new for want of
 * room. */
bool featureset_add(struct featureset *fs, enum feature_type type, struct slice text);

/* Takes a feature for which a set has no room. text is borrowed for the call. */
typedef void featureset_overflow_fn(void *context, enum feature_type type,
                                    struct slice text);
/* Without it what has no room is dropped. */
void featureset_set_overflow(struct featureset *fs, featureset_overflow_fn *on_overflow,
                             void *context);
/* Hands a feature that the set shall not keep to its overflow function. */
void featureset_overflow(const struct featureset *fs, enum feature_type type,
                         struct slice text);
/* Adds a copy of f, with its place, to a set of another arena; there is always room for it. */
bool featureset_keep(struct featureset *fs, const struct feature *f);
/* Later additions to fs get the place that additions to other would get. */
void featureset_copy_place(struct featureset *fs, const struct featureset *other);
bool featureset_has(const struct featureset *fs, enum feature_type type,
                    struct slice text);
size_t featureset_count(const struct featureset *fs);
/* i < featureset_count; in order of adding. */
const struct feature *featureset_at(const struct featureset *fs, size_t i);
/* How many of this type. */
size_t featureset_count_type(const struct featureset *fs, enum feature_type type);
/* The first of this type, or NULL. */
const struct feature *featureset_first(const struct featureset *fs,
                                       enum feature_type type);

void featureset_set_limit(struct featureset *fs,
                          unsigned flags); /* ORs LIMIT_FLAG(...) */
unsigned featureset_limits(const struct featureset *fs);

#endif
