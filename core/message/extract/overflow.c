#include "core/message/extract/overflow.h"

#include "core/base/digest.h"

static bool make_batch(struct overflow *o)
{
    if (o->arena == NULL) {
        o->arena = arena_new(OVERFLOW_BYTES);
        o->lately = calloc(OVERFLOW_LATELY, sizeof(*o->lately));
    }
    if (o->batch == NULL && o->arena != NULL && o->lately != NULL) {
        o->batch = featureset_new(o->arena, OVERFLOW_BATCH);
    }
    return o->batch != NULL;
}

/* Whether this feature was met lately; from now on it was. */
static bool was_lately(struct overflow *o, enum feature_type type, struct slice text)
{
    uint64_t hash = hash_local(text) + (uint64_t)type;
    uint64_t *place = &o->lately[hash & (OVERFLOW_LATELY - 1)];
    bool was = *place == hash;

    *place = hash;
    return was;
}

static void on_overflow(void *context, enum feature_type type, struct slice text)
{
    struct overflow *o = context;
    const struct feature_info *info = feature_info(type);

    if (info == NULL || info->lookup == FEATURE_LOOKUP_NONE) {
        return; /* no list has it */
    }
    if (!make_batch(o)) {
        featureset_set_limit(o->kept, LIMIT_FLAG(memory));
        return;
    }
    if (was_lately(o, type, text)) {
        return;
    }
    featureset_copy_place(o->batch, o->kept);
    (void)featureset_add(o->batch, type, text);
    if (featureset_count(o->batch) == OVERFLOW_BATCH ||
        arena_used(o->arena) > OVERFLOW_BYTES / 2) {
        overflow_ask(o);
    }
}

void overflow_init(struct overflow *o, struct featureset *kept, listed_fn *listed,
                   void *context)
{
    *o = (struct overflow){.listed = listed, .context = context, .kept = kept};
    if (listed != NULL) {
        featureset_set_overflow(kept, on_overflow, o);
    }
}

void overflow_ask(struct overflow *o)
{
    uint32_t listed[OVERFLOW_BATCH];
    size_t n = 0;

    if (o->batch == NULL) {
        return;
    }
    n = o->listed(o->context, o->batch, listed);
    for (size_t i = 0; i < n; i++) {
        (void)featureset_keep(o->kept, featureset_at(o->batch, listed[i]));
    }
    arena_reset(o->arena);
    o->batch = NULL;
}

void overflow_fini(struct overflow *o)
{
    arena_free(&o->arena);
    free(o->lately);
    o->lately = NULL;
    o->batch = NULL;
}
