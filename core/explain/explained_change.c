/* explained_change - the changes that would give a recorded message another verdict. */
#include <math.h>

#include "core/explain/explained.h"
#include "core/verdict/verdict.h"

enum { TEXT = 400 };

bool explained_is_embargoed(const struct record *r)
{
    for (size_t i = 0; i < r->nsymbols; i++) {
        if (slice_eq(r->symbol[i].name, SLICE_LIT("EMBARGO"))) {
            return r->done == ACTION_DEFER;
        }
    }
    return false;
}

static enum action action_without(const struct record *r, const struct record_symbol *s)
{
    struct verdict_scale scale = {.bulk_alone = (enum action)r->bulk_alone};

    memcpy(scale.threshold, r->threshold, sizeof(scale.threshold));
    return verdict_action(&scale, r->score - s->score,
                          r->sure - (s->part == SYMBOL_UNSURE ? 0 : s->score),
                          r->firm - (s->part == SYMBOL_FIRM ? s->score : 0));
}

/* The changes that let an embargoed message through at once. */
static void each_release(const struct record *r, double threshold,
                         explained_change_fn *fn, void *context)
{
    char text[TEXT];

    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        if (s->score != 0 && r->score - s->score < threshold) {
            (void)snprintf(text, sizeof(text), "without %.*s (%.1f): no embargo",
                           SLICE_ARGS(s->name), s->score);
            fn(context, text);
        }
    }
    (void)snprintf(text, sizeof(text), "with thresholds.embargo above %.2f: %s at once",
                   r->score, action_name((enum action)r->wanted));
    fn(context, text);
}

void explained_each_change(const struct config *config, const struct record *r,
                           explained_change_fn *fn, void *context)
{
    char text[TEXT];

    if (r->allow.n > 0 || r->unjudged.n > 0) {
        return;
    }
    if (explained_is_embargoed(r)) {
        each_release(r, config->embargo.threshold, fn, context);
    }
    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        enum action a = action_without(r, s);
        if (s->score != 0 && a != r->wanted) {
            (void)snprintf(text, sizeof(text), "without %.*s (%.1f): %s",
                           SLICE_ARGS(s->name), s->score, action_name(a));
            fn(context, text);
        }
    }
    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        double threshold = r->threshold[a];
        if (isfinite(threshold) && a == r->wanted) {
            (void)snprintf(text, sizeof(text),
                           "with thresholds.%s above %.2f: a milder action",
                           action_name((enum action)a), r->score);
            fn(context, text);
        } else if (isfinite(threshold) && a > r->wanted && threshold > r->score) {
            (void)snprintf(text, sizeof(text), "%.2f more: %s", threshold - r->score,
                           action_name((enum action)a));
            fn(context, text);
        } else if (isfinite(threshold) && a > r->wanted) {
            (void)snprintf(text, sizeof(text),
                           "with bulk_alone = \"%s\", or the same score from lists: %s",
                           action_name((enum action)a), action_name((enum action)a));
            fn(context, text);
        }
    }
}
