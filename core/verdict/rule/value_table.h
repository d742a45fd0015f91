/*
 * value_table - which conditions name a value: all values, suffixes and sets of all types in one
 * hash table.
 *
 * A value is hashed once, from its end to its begin; each suffix and each domain above it is a
 * state of that hash. ASCII case does not count.
 * Threads: constant after value_table_end.   Owns: its texts.
 */
#ifndef CORE_VERDICT_RULE_VALUE_TABLE_H
#define CORE_VERDICT_RULE_VALUE_TABLE_H

#include "core/base/slice.h"

enum {
    VALUE_TABLE_TYPES = 128, /* feature types are below */
    VALUE_TABLE_TEXT_MAX = 1024,
    VALUE_TABLE_ENTRIES_MAX = 4 << 20
};

struct value_entry {
    uint64_t hash;
    char *text; /* lower case */
    uint32_t n;
    uint32_t id;
    uint32_t next; /* with the same slot; UINT32_MAX: none */
};

/* What is looked up for values of a type. */
struct value_plan {
    bool has_values;
    bool is_host;     /* domains above a value count, too */
    uint16_t longest; /* suffix */
    uint64_t suffixes[VALUE_TABLE_TEXT_MAX / 64 + 1]; /* a bit for each length */
};

struct value_table {
    size_t n;
    size_t room;
    struct value_entry *entries;
    size_t nslots; /* a power of two */
    uint32_t *slots;
    struct value_plan plans[VALUE_TABLE_TYPES];
};

/* Every value of that type, or every value with that suffix, belongs to id. False: no memory, or
 * too many. */
bool value_table_add(struct value_table *t, uint16_t type, struct slice value,
                     bool is_suffix, uint32_t id);
bool value_table_end(struct value_table *t);
void value_table_free(struct value_table *t);

/* Called with the id of each entry that the value meets; one may come twice. */
typedef void value_match_fn(void *context, uint32_t id);
void value_table_match(const struct value_table *t, uint16_t type, struct slice value,
                       value_match_fn *on_match, void *context);

#endif
