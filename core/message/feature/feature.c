#include "core/message/feature/feature.h"

#include <assert.h>

#include "core/base/digest.h"

static const struct feature_info table[] = {
#define FEATURE(number, name, lookup, counted, shown, help) \
    {FEATURE_##name, #name, FEATURE_LOOKUP_##lookup, counted, shown, help},
#include "core/message/feature/feature.def"
#undef FEATURE
};
enum { TABLE_ROWS = LENGTH(table) };

enum limit_kind { USUAL, ODD };

static const struct {
    const char *name;
    const char *key;
    enum limit_kind kind;
} limits[LIMIT_FLAG_COUNT] = {
#define LIMIT(name, kind, key, help) {#name, key, kind},
#include "core/message/feature/limit.def"
#undef LIMIT
};

enum row {
    ROW_NONE,
#define FEATURE(number, name, lookup, counted, shown, help) ROW_##name,
#include "core/message/feature/feature.def"
#undef FEATURE
};

/* The row of each number, counted from 1. */
static const uint8_t row_of[] = {
#define FEATURE(number, name, lookup, counted, shown, help) [number] = ROW_##name,
#include "core/message/feature/feature.def"
#undef FEATURE
};

const struct feature_info *feature_info(enum feature_type type)
{
    unsigned number = (unsigned)type;

    if (number >= sizeof(row_of) || row_of[number] == ROW_NONE) {
        return NULL;
    }
    return &table[row_of[number] - 1];
}

const char *feature_type_name(uint16_t type)
{
    const struct feature_info *info = feature_info((enum feature_type)type);
    return info == NULL ? "unknown" : info->name;
}

const struct feature_info *feature_info_by_name(struct slice name)
{
    /* the first byte rules most rows out: every URL of a feed has a ':' and comes here */
    for (size_t i = 0; name.n > 0 && i < TABLE_ROWS; i++) {
        if (table[i].name[0] == name.p[0] && slice_eq(slice_str(table[i].name), name)) {
            return &table[i];
        }
    }
    return NULL;
}

bool feature_is_sought(struct slice name)
{
    const struct feature_info *info = feature_info_by_name(name);

    return info != NULL && info->lookup != FEATURE_LOOKUP_NONE;
}

bool feature_is_counted(struct slice name)
{
    const struct feature_info *info = feature_info_by_name(name);

    return info != NULL && info->counted;
}

bool feature_is_of_message(struct slice name)
{
    const struct feature_info *info = feature_info_by_name(name);

    return info != NULL && info->shown;
}

const struct feature_info *feature_table(size_t *retcount)
{
    *retcount = TABLE_ROWS;
    return table;
}

const char *limit_name(unsigned bit)
{
    return bit < LIMIT_FLAG_COUNT ? limits[bit].name : NULL;
}

bool limit_is_odd(unsigned bit)
{
    return limits[bit].kind == ODD;
}

const char *limit_key(unsigned bit)
{
    return limits[bit].key;
}

static const struct {
    const char *name;
    const char *help;
} traits[TRAIT_COUNT] = {
#define TRAIT(name, help) {#name, help},
#include "core/message/feature/trait.def"
#undef TRAIT
#define LIMIT(name, kind, key, help) {"limit_" #name, help},
#include "core/message/feature/limit.def"
#undef LIMIT
};

const char *trait_name(enum trait trait)
{
    return traits[trait].name;
}

const char *trait_help(enum trait trait)
{
    return traits[trait].help;
}

bool trait_is_known(struct slice name)
{
    for (size_t i = 0; i < TRAIT_COUNT; i++) {
        if (slice_eq(slice_str(traits[i].name), name)) {
            return true;
        }
    }
    return false;
}

enum { ROWS_AT_START = 64 };

/* Open addressing with at least twice as many slots as rows; a slot holds row number + 1. */
struct featureset {
    struct arena *arena;
    struct feature *rows;
    uint64_t *hashes; /* of each row, so that growing reads no text */
    uint32_t *slots;
    size_t n;
    size_t size; /* rows that fit; nslots is twice that; a power of two */
    size_t max;
    unsigned limits;
    struct feature_place now;          /* borrowed */
    const struct feature_place *place; /* now, once a feature has needed it */
    const struct feature_place *last;  /* whose part may be that of now */
    uint32_t offset;
    featureset_overflow_fn *on_overflow; /* NULL: none */
    void *overflow_context;
};

static bool grow(struct featureset *fs, size_t size)
{
    size_t nslots = size * 2;
    struct feature *rows = arena_array(fs->arena, size, sizeof(*rows));
    uint64_t *hashes = arena_array(fs->arena, size, sizeof(*hashes));
    uint32_t *slots = arena_array(fs->arena, nslots, sizeof(*slots));
    if (rows == NULL || hashes == NULL || slots == NULL) {
        return false;
    }
    if (fs->n > 0) {
        memcpy(rows, fs->rows, fs->n * sizeof(*rows));
        memcpy(hashes, fs->hashes, fs->n * sizeof(*hashes));
    }
    for (size_t i = 0; i < fs->n; i++) {
        size_t at = (size_t)hashes[i] & (nslots - 1);
        while (slots[at] != 0) {
            at = (at + 1) & (nslots - 1);
        }
        slots[at] = (uint32_t)(i + 1);
    }
    fs->rows = rows;
    fs->hashes = hashes;
    fs->slots = slots;
    fs->size = size;
    return true;
}

struct featureset *featureset_new(struct arena *arena, size_t max)
{
    struct featureset *fs = arena_alloc(arena, sizeof(*fs));
    if (fs == NULL) {
        return NULL;
    }
    fs->arena = arena;
    fs->max = max < UINT32_MAX / 4 ? max : UINT32_MAX / 4;
    return grow(fs, ROWS_AT_START) ? fs : NULL;
}

void featureset_raise_max(struct featureset *fs, size_t n)
{
    fs->max += n < UINT32_MAX / 4 ? n : UINT32_MAX / 4;
}

static uint64_t hash_of(enum feature_type type, struct slice text)
{
    /* The text's hash is keyed; the type only has to tell equal texts apart. */
    return hash_local(text) ^ ((uint64_t)type * UINT64_C(0x9e3779b97f4a7c15));
}

/* The slot of {type, text}, or the free one where it belongs. */
static size_t slot_of(const struct featureset *fs, enum feature_type type,
                      struct slice text, uint64_t hash)
{
    size_t mask = fs->size * 2 - 1;
    size_t at = (size_t)hash & mask;
    while (fs->slots[at] != 0) {
        size_t row = fs->slots[at] - 1;
        if (fs->hashes[row] == hash && fs->rows[row].type == type &&
            slice_eq(fs->rows[row].text, text)) {
            return at;
        }
        at = (at + 1) & mask;
    }
    return at;
}

void featureset_set_place(struct featureset *fs, struct slice part, struct slice header)
{
    fs->now = (struct feature_place){.part = part, .header = header};
    fs->place = NULL;
    fs->offset = 0;
}

void featureset_set_within(struct featureset *fs, struct slice within)
{
    fs->now.within = within;
    fs->place = NULL;
    fs->offset = 0;
}

void featureset_set_offset(struct featureset *fs, size_t offset)
{
    fs->offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

/* Keeps what is borrowed: most places have no feature. Without memory the place is not told. */
static const struct feature_place *place_of(struct featureset *fs)
{
    if (fs->place != NULL ||
        fs->now.part.n + fs->now.header.n + fs->now.within.n == 0) {
        return fs->place;
    }
    struct feature_place *place = arena_alloc(fs->arena, sizeof(*place));
    if (place == NULL) {
        return NULL;
    }
    bool is_same = fs->last != NULL && slice_eq(fs->last->part, fs->now.part);
    place->part = is_same ? fs->last->part : arena_copy(fs->arena, fs->now.part);
    place->header = arena_copy(fs->arena, fs->now.header);
    place->within = arena_copy(fs->arena, fs->now.within);
    fs->place = place;
    fs->last = place;
    return place;
}

bool featureset_add(struct featureset *fs, enum feature_type type, struct slice text)
{
    if (text.n == 0) {
        return false;
    }
    uint64_t hash = hash_of(type, text);
    size_t at = slot_of(fs, type, text, hash);
    if (fs->slots[at] != 0) {
        return false;
    }
    if (fs->n >= fs->max) {
        fs->limits |= LIMIT_FLAG(features);
        featureset_overflow(fs, type, text);
        return true;
    }
    if (fs->n == fs->size) {
        if (!grow(fs, fs->size * 2)) {
            fs->limits |= LIMIT_FLAG(memory);
            return false;
        }
        at = slot_of(fs, type, text, hash);
    }
    struct slice copy = arena_copy(fs->arena, text);
    if (copy.p == NULL) {
        fs->limits |= LIMIT_FLAG(memory);
        return false;
    }
    fs->rows[fs->n] = (struct feature){.type = (uint16_t)type,
                                       .offset = fs->offset,
                                       .text = copy,
                                       .place = place_of(fs)};
    fs->hashes[fs->n] = hash;
    fs->n++;
    fs->slots[at] = (uint32_t)fs->n;
    return true;
}

void featureset_set_overflow(struct featureset *fs, featureset_overflow_fn *on_overflow,
                             void *context)
{
    fs->on_overflow = on_overflow;
    fs->overflow_context = context;
}

void featureset_overflow(const struct featureset *fs, enum feature_type type,
                         struct slice text)
{
    if (fs->on_overflow != NULL && text.n > 0) {
        fs->on_overflow(fs->overflow_context, type, text);
    }
}

bool featureset_keep(struct featureset *fs, const struct feature *f)
{
    const struct feature_place now = fs->now;
    const uint32_t offset = fs->offset;
    const struct feature_place nowhere = {.part = SLICE_NONE};
    const struct feature_place *there = f->place != NULL ? f->place : &nowhere;

    featureset_set_place(fs, there->part, there->header);
    featureset_set_within(fs, there->within);
    fs->offset = f->offset;
    featureset_raise_max(fs, 1);
    bool is_new = featureset_add(fs, (enum feature_type)f->type, f->text);
    featureset_set_place(fs, now.part, now.header);
    featureset_set_within(fs, now.within);
    fs->offset = offset;
    return is_new;
}

void featureset_copy_place(struct featureset *fs, const struct featureset *other)
{
    featureset_set_place(fs, other->now.part, other->now.header);
    featureset_set_within(fs, other->now.within);
    fs->offset = other->offset;
}

bool featureset_has(const struct featureset *fs, enum feature_type type,
                    struct slice text)
{
    return fs->slots[slot_of(fs, type, text, hash_of(type, text))] != 0;
}

size_t featureset_count(const struct featureset *fs)
{
    return fs->n;
}

const struct feature *featureset_at(const struct featureset *fs, size_t i)
{
    assert(i < fs->n);
    return &fs->rows[i];
}

size_t featureset_count_type(const struct featureset *fs, enum feature_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < fs->n; i++) {
        count += fs->rows[i].type == type;
    }
    return count;
}

const struct feature *featureset_first(const struct featureset *fs,
                                       enum feature_type type)
{
    for (size_t i = 0; i < fs->n; i++) {
        if (fs->rows[i].type == type) {
            return &fs->rows[i];
        }
    }
    return NULL;
}

void featureset_set_limit(struct featureset *fs, unsigned flags)
{
    fs->limits |= flags;
}

unsigned featureset_limits(const struct featureset *fs)
{
    return fs->limits;
}
