/* doorkeeper - which keys were seen in the last 15 days. */
#include "core/filter/doorkeeper.h"

#include "core/base/prng.h"
#include "core/base/std.h"
#include "core/filter/mix.h"

enum {
    PRINTS =
        UINT16_MAX /
        DOORKEEPER_DAYS, /* different ones: an entry is 0, or one of them and a day */
    OTHERS = 2,          /* lines beside the home line */
    HASH_MASK = 0xffff,
    /* In a home's mask, beside the days: a key went on to the last of the other lines. */
    FAR_BIT = 1 << DOORKEEPER_DAYS
};

#define ENTRY_BITS ((UINT32_C(1) << DOORKEEPER_ENTRIES) - 1)

static uint64_t home_of(const struct doorkeeper *d, uint64_t hash)
{
    return mix_scale(hash, d->nlines);
}

static uint64_t other_of(const struct doorkeeper *d, uint64_t hash, unsigned which)
{
    uint64_t other = prng_mix(hash);

    return mix_scale(which == 0 ? other : other << 32, d->nlines);
}

/* The least entry of the key; its day makes it greater by up to 14. By the low bits: the line comes
 * from the high ones. */
static uint16_t print_of(uint64_t hash)
{
    return (uint16_t)(1 + ((hash & HASH_MASK) * PRINTS >> 16) * DOORKEEPER_DAYS);
}

/* Bit i: entry i is one of `many` values from `least` on. Two vectors make 16 bits: each lane
 * keeps its own, and all lanes are folded into one. */
static uint32_t matches(const union doorkeeper_line *l, uint16_t least, uint16_t many)
{
    static const struct doorkeeper_vector low = {{1, 2, 4, 8, 16, 32, 64, 128}};
    static const struct doorkeeper_vector high = {
        {1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15}};
    uint32_t ret = 0;

    for (unsigned i = 0; i < DOORKEEPER_VECTORS; i += 2) {
        const struct doorkeeper_vector *v = &l->vector[i];
        struct doorkeeper_vector a = {(__typeof__(low.lane))(v[0].lane - least < many) &
                                      low.lane};
        struct doorkeeper_vector b = {(__typeof__(low.lane))(v[1].lane - least < many) &
                                      high.lane};
        uint64_t word[2];
        a.lane |= b.lane;
        memcpy(word, &a, sizeof(word));
        word[0] |= word[1];
        word[0] |= word[0] >> 32;
        word[0] |= word[0] >> 16;
        ret |= (uint32_t)(word[0] & HASH_MASK) << (i * DOORKEEPER_LANES);
    }
    return ret & ENTRY_BITS;
}

static uint32_t free_of(const union doorkeeper_line *l)
{
    return matches(l, 0, 1);
}

static unsigned day_of(uint16_t entry)
{
    return (entry - 1U) % DOORKEEPER_DAYS;
}

static unsigned age_of(const struct doorkeeper *d, uint16_t entry)
{
    return (unsigned)(d->today % DOORKEEPER_DAYS + DOORKEEPER_DAYS - day_of(entry)) %
           DOORKEEPER_DAYS;
}

static uint16_t day_bit(uint64_t day)
{
    return (uint16_t)(1U << (day % DOORKEEPER_DAYS));
}

/* The day of the last sight only goes forward. */
static void stamp(const struct doorkeeper *d, uint16_t *entry, uint64_t day)
{
    if (d->today - day < age_of(d, *entry)) {
        *entry = (uint16_t)(*entry - day_of(*entry) + day % DOORKEEPER_DAYS);
    }
}

static uint16_t *entry_of(union doorkeeper_line *l, uint16_t print)
{
    uint32_t hit = matches(l, print, DOORKEEPER_DAYS);

    return hit ? &l->entry[__builtin_ctz(hit)] : NULL;
}

static bool put_entry(struct doorkeeper *d, union doorkeeper_line *l, uint16_t print,
                      uint64_t day)
{
    uint32_t room = free_of(l);

    if (!room) {
        return false;
    }
    l->entry[__builtin_ctz(room)] = (uint16_t)(print + day % DOORKEEPER_DAYS);
    figure_set(&d->figures->nentries, d->figures->nentries + 1);
    return true;
}

void doorkeeper_prefetch(const struct doorkeeper *d, uint64_t hash)
{
    __builtin_prefetch(&d->lines[home_of(d, hash)], 1);
}

/* Home is full or was once: the other lines, of which the last is looked at only if a key of this
 * home went there. An equal entry is used, even if another key made it: so a line never holds two
 * equal entries, and an entry is never older than the last occurrence of its key. */
static enum doorkeeper_answer see_elsewhere(struct doorkeeper *d, uint64_t hash,
                                            uint64_t day, uint16_t *mask, bool may_put)
{
    uint16_t print = print_of(hash);

    for (unsigned i = 0; i < OTHERS && (i == 0 || *mask & FAR_BIT || may_put); i++) {
        union doorkeeper_line *l = &d->lines[other_of(d, hash, i)];
        uint16_t *entry = entry_of(l, print);
        bool is_here = entry || (may_put && put_entry(d, l, print, day));
        if (is_here) {
            *mask |= day_bit(day) | (i > 0 ? FAR_BIT : 0);
        }
        if (entry) {
            stamp(d, entry, day);
        }
        if (is_here) {
            return entry ? DOORKEEPER_SEEN : DOORKEEPER_NEW;
        }
    }
    return DOORKEEPER_AWAY;
}

enum doorkeeper_answer doorkeeper_see(struct doorkeeper *d, uint64_t hash, uint64_t day)
{
    uint64_t home = home_of(d, hash);
    union doorkeeper_line *l = &d->lines[home];
    uint16_t *mask = &l->entry[DOORKEEPER_ENTRIES];
    uint16_t print = print_of(hash);
    uint16_t *entry = entry_of(l, print);

    if (entry) {
        stamp(d, entry, day);
        return DOORKEEPER_SEEN;
    }
    bool has_room = free_of(l) != 0;
    if (*mask || !has_room) {
        enum doorkeeper_answer there = see_elsewhere(d, hash, day, mask, !has_room);
        if (there == DOORKEEPER_SEEN) {
            return DOORKEEPER_SEEN;
        }
        if (there == DOORKEEPER_AWAY && !has_room) {
            *mask |= day_bit(day);
            d->away[home] |= day_bit(day);
            figure_set(&d->figures->nturned_away, d->figures->nturned_away + 1);
            return DOORKEEPER_AWAY;
        }
    }
    if (has_room) {
        (void)put_entry(d, l, print, day);
    }
    return *mask && d->away[home] ? DOORKEEPER_PLACED : DOORKEEPER_NEW;
}

enum doorkeeper_answer doorkeeper_find(const struct doorkeeper *d, uint64_t hash,
                                       unsigned *retage)
{
    uint64_t home = home_of(d, hash);
    const union doorkeeper_line *l = &d->lines[home];
    uint16_t mask = l->entry[DOORKEEPER_ENTRIES];
    unsigned others = mask == 0 ? 0 : (mask & FAR_BIT ? OTHERS : 1);
    uint16_t print = print_of(hash);
    uint32_t hit = matches(l, print, DOORKEEPER_DAYS);

    for (unsigned i = 0; !hit && i < others; i++) {
        l = &d->lines[other_of(d, hash, i)];
        hit = matches(l, print, DOORKEEPER_DAYS);
    }
    if (hit) {
        *retage = age_of(d, l->entry[__builtin_ctz(hit)]);
        return DOORKEEPER_SEEN;
    }
    return mask && d->away[home] ? DOORKEEPER_AWAY : DOORKEEPER_NEW;
}

void doorkeeper_clear(struct doorkeeper *d, uint64_t today)
{
    memset(d->lines, 0, d->nlines * sizeof(*d->lines));
    if (d->figures->nturned_away) {
        memset(d->away, 0, d->nlines * sizeof(*d->away));
    }
    d->today = today;
    figure_set(&d->figures->nentries, 0);
    figure_set(&d->figures->nturned_away, 0);
}

/* The days that are still counted when today is `ahead` days later, a bit each. */
static uint16_t days_kept(uint64_t today, uint64_t ahead)
{
    uint16_t keep = 0;

    for (uint64_t age = 0; age + ahead < DOORKEEPER_DAYS; age++) {
        keep |= day_bit(today - age);
    }
    return keep;
}

/* Frees the entries of the line whose day is not kept; returns how many it holds then. */
static unsigned sweep_line(union doorkeeper_line *l, uint16_t keep)
{
    uint16_t *mask = &l->entry[DOORKEEPER_ENTRIES];
    unsigned n = 0;

    for (unsigned i = 0; i < DOORKEEPER_ENTRIES; i++) {
        uint16_t e = l->entry[i];
        bool stays = e && keep >> day_of(e) & 1;
        l->entry[i] = stays ? e : 0;
        n += stays ? 1 : 0;
    }
    *mask &= *mask & keep ? keep | FAR_BIT : 0;
    return n;
}

void doorkeeper_begin_day(struct doorkeeper *d, uint64_t today)
{
    if (today <= d->today) {
        return;
    }
    uint64_t ahead = today - d->today;
    if (ahead >= DOORKEEPER_DAYS) {
        doorkeeper_clear(d, today);
        return;
    }
    uint16_t keep = days_kept(d->today, ahead);
    uint64_t n = 0;
    for (uint64_t i = 0; i < d->nlines; i++) {
        n += sweep_line(&d->lines[i], keep);
    }
    for (uint64_t i = 0; d->figures->nturned_away && i < d->nlines; i++) {
        d->away[i] &= keep;
    }
    d->today = today;
    figure_set(&d->figures->nentries, n);
}

uint64_t doorkeeper_entries(const struct doorkeeper *d)
{
    return figure_get(&d->figures->nentries);
}

uint64_t doorkeeper_turned_away(const struct doorkeeper *d)
{
    return figure_get(&d->figures->nturned_away);
}
