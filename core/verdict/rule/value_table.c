#include "core/verdict/rule/value_table.h"

#include "core/base/array.h"

enum { SLOTS_MIN = 16, SUFFIX_MARK = 0x100 };
static const uint64_t prime = UINT64_C(0x100000001b3);
static const uint64_t basis = UINT64_C(0xcbf29ce484222325);

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static uint64_t begin(uint16_t type)
{
    return (basis ^ type) * prime;
}

static uint64_t step(uint64_t h, char c)
{
    return (h ^ lower(c)) * prime;
}

/* Of a state of the hash: spread, and not that of a value where it is a suffix. */
static uint64_t end_of(uint64_t h, bool is_suffix)
{
    h ^= is_suffix ? SUFFIX_MARK : 0;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static void plan_suffix(struct value_plan *plan, size_t n)
{
    plan->suffixes[n / 64] |= UINT64_C(1) << n % 64;
    plan->longest = plan->longest > n ? plan->longest : (uint16_t)n;
}

bool value_table_add(struct value_table *t, uint16_t type, struct slice value,
                     bool is_suffix, uint32_t id)
{
    uint64_t h = begin(type);
    char *text = NULL;

    if (value.n == 0 || value.n > VALUE_TABLE_TEXT_MAX || type >= VALUE_TABLE_TYPES ||
        !array_room(&t->entries, &t->room, t->n + 1, VALUE_TABLE_ENTRIES_MAX,
                    sizeof(t->entries[0]))) {
        return false;
    }
    text = malloc(value.n);
    if (text == NULL) {
        return false;
    }
    for (size_t i = value.n; i > 0; i--) {
        text[i - 1] = (char)lower(value.p[i - 1]);
        h = step(h, value.p[i - 1]);
    }
    if (is_suffix) {
        plan_suffix(&t->plans[type], value.n);
    } else {
        t->plans[type].has_values = true;
    }
    t->entries[t->n++] = (struct value_entry){.hash = end_of(h, is_suffix),
                                              .text = text,
                                              .n = (uint32_t)value.n,
                                              .id = id,
                                              .next = UINT32_MAX};
    return true;
}

bool value_table_end(struct value_table *t)
{
    t->nslots = SLOTS_MIN;
    while (t->nslots < 2 * t->n) {
        t->nslots *= 2;
    }
    t->slots = malloc(t->nslots * sizeof(t->slots[0]));
    if (t->slots == NULL) {
        return false;
    }
    memset(t->slots, 0xff, t->nslots * sizeof(t->slots[0]));
    for (size_t i = 0; i < t->n; i++) {
        uint32_t *slot = &t->slots[t->entries[i].hash & (t->nslots - 1)];

        t->entries[i].next = *slot;
        *slot = (uint32_t)i;
    }
    return true;
}

void value_table_free(struct value_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->entries[i].text);
    }
    free(t->entries);
    free(t->slots);
    *t = (struct value_table){.n = 0};
}

/* The length keeps apart a value and a suffix of the same hash, which end_of does for one hash. */
static bool is_entry(const struct value_entry *e, uint64_t hash, struct slice tail)
{
    if (e->hash != hash || e->n != tail.n) {
        return false;
    }
    for (size_t i = 0; i < tail.n; i++) {
        if ((unsigned char)e->text[i] != lower(tail.p[i])) {
            return false;
        }
    }
    return true;
}

static void probe(const struct value_table *t, uint64_t hash, struct slice tail,
                  value_match_fn *on_match, void *context)
{
    uint32_t i = t->slots[hash & (t->nslots - 1)];

    for (; i != UINT32_MAX; i = t->entries[i].next) {
        if (is_entry(&t->entries[i], hash, tail)) {
            on_match(context, t->entries[i].id);
        }
    }
}

void value_table_match(const struct value_table *t, uint16_t type, struct slice value,
                       value_match_fn *on_match, void *context)
{
    const struct value_plan *plan = &t->plans[type];
    size_t most = plan->has_values ? VALUE_TABLE_TEXT_MAX : plan->longest;
    size_t least = value.n > most ? value.n - most : 0;
    uint64_t h = begin(type);

    for (size_t i = value.n; i > least; i--) {
        struct slice tail = slice_from(value, i - 1);
        bool is_whole =
            i == 1 || (plan->is_host && (value.p[i - 2] == '.' || value.p[i - 2] == '@'));

        h = step(h, value.p[i - 1]);
        if (plan->has_values && is_whole) {
            probe(t, end_of(h, false), tail, on_match, context);
        }
        if ((plan->suffixes[tail.n / 64] >> tail.n % 64 & 1) != 0) {
            probe(t, end_of(h, true), tail, on_match, context);
        }
    }
}
