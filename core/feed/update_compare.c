/*
 * update_compare - three streams in digest order: the new entries, the old version, the list.
 */
#include "core/feed/update_internal.h"

struct streams {
    struct compare *c;
    uint32_t now_s;
    struct intake_entry fresh;
    bool has_fresh;
    uint64_t at; /* in the old set */
    struct feed_set_entry old;
    bool has_old;
    struct mirror_entry listed;
    bool has_listed;
    struct digest at_digest;
};

static enum err next_fresh(struct streams *s)
{
    enum err e = ERR_OK;
    (void)intake_next(s->c->fresh, &s->fresh, &s->has_fresh, &e);
    return e;
}

static void next_old(struct streams *s)
{
    s->has_old = s->c->old && s->at < s->c->old->n;
    if (s->has_old) {
        feed_set_get(s->c->old, s->at++, &s->old);
    }
}

static enum err next_listed(struct streams *s)
{
    enum err e = ERR_OK;
    s->has_listed = s->c->walk && mirror_iter_next(s->c->walk, &s->listed, &e);
    return e;
}

static void lesser(const struct digest **least, bool has, const struct digest *d)
{
    if (has && (!*least || digest_cmp(d, *least) < 0)) {
        *least = d;
    }
}

/* One digest in each stream. */
struct found {
    bool is_fresh;
    bool is_old;
    bool is_listed;
};

static bool next_digest(struct streams *s, struct found *ret)
{
    const struct digest *d = NULL;
    lesser(&d, s->has_fresh, &s->fresh.digest);
    lesser(&d, s->has_old, &s->old.digest);
    lesser(&d, s->has_listed, &s->listed.digest);
    if (!d) {
        return false;
    }
    s->at_digest = *d;
    ret->is_fresh = s->has_fresh && digest_cmp(&s->fresh.digest, &s->at_digest) == 0;
    ret->is_old = s->has_old && digest_cmp(&s->old.digest, &s->at_digest) == 0;
    ret->is_listed = s->has_listed && digest_cmp(&s->listed.digest, &s->at_digest) == 0;
    return true;
}

static void give_change(const struct compare *c, const struct refresh_item *item)
{
    if (c->changes) {
        feed_diff_out_add(c->changes, item);
    }
}

static uint32_t first_seen(const struct streams *s, const struct found *f)
{
    uint32_t first = s->fresh.first_seen_s != 0 && s->fresh.first_seen_s < s->now_s
                         ? s->fresh.first_seen_s
                         : s->now_s;
    bool is_older =
        f->is_old && s->old.first_seen_s != 0 && s->old.first_seen_s < first;
    return is_older ? s->old.first_seen_s : first;
}

/* The list does not hold what it should. */
static bool is_missing(const struct streams *s, const struct found *f)
{
    const struct compare *c = s->c;
    if (c->lists_all || !f->is_old) {
        return true;
    }
    if (c->walk && (!f->is_listed || s->listed.expiry_s != s->fresh.expiry_s)) {
        return true;
    }
    return s->old.expiry_s != s->fresh.expiry_s;
}

static void take_fresh(struct streams *s, const struct found *f)
{
    struct compare *c = s->c;
    struct feed_set_entry e = {.digest = s->fresh.digest,
                               .first_seen_s = first_seen(s, f),
                               .expiry_s = s->fresh.expiry_s};
    c->entries++;
    c->entered += !f->is_old;
    c->changed += f->is_old && s->old.expiry_s != e.expiry_s;
    if (c->set) {
        feed_set_out_add(c->set, &e);
    }
    if (c->guard && !f->is_old) {
        (void)feed_exclude_mark(
            c->guard, &(struct feature_entry){.class_type = s->fresh.class_type,
                                              .text = s->fresh.text});
    }
    if (is_missing(s, f)) {
        give_change(c, &(struct refresh_item){.digest = e.digest,
                                              .class_type = s->fresh.class_type,
                                              .expiry_s = e.expiry_s,
                                              .first_seen_s = e.first_seen_s,
                                              .text = s->fresh.text});
    }
}

static void take_left(const struct streams *s, const struct found *f)
{
    struct compare *c = s->c;
    bool is_only_listed = !f->is_old && s->listed.status == ENTRY_LISTED;
    if (!f->is_old && !(c->walk_leaves && is_only_listed)) {
        return;
    }
    c->left++;
    uint32_t expiry_s = c->keep_s == 0 ? 0 : s->now_s + (uint32_t)c->keep_s;
    give_change(c, &(struct refresh_item){
                       .digest = s->at_digest, .has_left = true, .expiry_s = expiry_s});
}

static enum err compare_step(struct streams *s, const struct found *f)
{
    enum err e = ERR_OK;
    if (f->is_fresh) {
        take_fresh(s, f);
        e = next_fresh(s);
    } else {
        take_left(s, f);
    }
    if (f->is_old) {
        next_old(s);
    }
    return e == ERR_OK && f->is_listed ? next_listed(s) : e;
}

enum err compare_run(struct compare *c, struct errinfo *reterr)
{
    struct streams s = {.c = c, .now_s = (uint32_t)update_now_s()};
    struct found f;
    update_show(c->stage, "comparing", -1.0);
    next_old(&s);
    enum err e = next_fresh(&s);
    THEN(e, next_listed(&s));
    while (e == ERR_OK && next_digest(&s, &f)) {
        e = compare_step(&s, &f);
    }
    if (e == ERR_OK && c->old && filemap_is_damaged(&c->old->map)) {
        e = ERR_CORRUPT; /* what looks new or left need not be */
    }
    return e == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, e, c->stage->dir, 0,
                             "cannot compare with the last version: %s", err_text(e));
}
