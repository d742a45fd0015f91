/* peers - for each list name the value with the most origins and weight. */
#include "core/verdict/peers.h"

#include "core/base/uninitialized.h"

struct named {
    const char *name;
    bool is_ours; /* our own list of that name has a hit that counts */
    const struct list_hit *best;
    double weight;  /* of the best, with its list's */
    size_t origins; /* that list the best's value */
};

struct weighing {
    const struct peers_case *c;
    size_t n;
    struct named name[PEERS_NAMES_MAX];
    size_t nhits;
    const struct list_hit *hit[PEERS_HITS_MAX]; /* confirmed ones, of peers */
    double weight[PEERS_HITS_MAX];              /* of each, as weight_of */
};

static const char *list_name_of(const struct peers_case *c, const struct list_hit *h)
{
    return list_reader_name(listset_reader(c->lists, h->list));
}

static bool counts(const struct peers_case *c, const struct list_hit *h)
{
    return h->silence == LIST_NOT_SUPPRESSED && !c->is_exempt(c->context, h->value);
}

static double weight_of(const struct peers_case *c, const struct list_hit *h)
{
    const struct config_list *list = listset_config(c->lists, h->list);
    double weight = list->weight * listset_weight(c->lists, h->list);
    return weight > 0 && !list->shadow && counts(c, h) ? weight : 0;
}

static struct named *named_find(struct weighing *w, const char *name)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->name[i].name, name) == 0) {
            return &w->name[i];
        }
    }
    if (w->n == PEERS_NAMES_MAX) {
        return NULL;
    }
    w->name[w->n] = (struct named){.name = name};
    return &w->name[w->n++];
}

/* Servers that list the value of hit i under its name; a list may answer for several types of the
 * value, and a server may speak as a member and as a publisher. Servers without weight here do not
 * count beside servers that have some. */
static size_t origins_of(const struct weighing *w, size_t of_hit)
{
    const struct list_hit *of = w->hit[of_hit];
    uint64_t seen[PEERS_OWNERS_MAX / 64] = {0};
    const char *name = list_name_of(w->c, of);
    size_t n = 0;
    for (size_t i = 0; i < w->nhits; i++) {
        const struct list_hit *h = w->hit[i];
        unsigned owner = listset_owner(w->c->lists, h->list) % PEERS_OWNERS_MAX;
        uint64_t bit = (uint64_t)1 << owner % 64;
        bool is_of_them = w->weight[i] > 0 || w->weight[of_hit] <= 0;
        if (is_of_them && (seen[owner / 64] & bit) == 0 &&
            slice_eq(h->value, of->value) && strcmp(list_name_of(w->c, h), name) == 0) {
            seen[owner / 64] |= bit;
            n++;
        }
    }
    return n;
}

/* A value with a quorum is better than any weight. */
static void weigh(struct weighing *w, size_t i)
{
    const struct list_hit *h = w->hit[i];
    struct named *name = named_find(w, list_name_of(w->c, h));
    if (!name) {
        return;
    }
    double weight = w->weight[i];
    size_t origins = origins_of(w, i);
    size_t quorum = w->c->config->peers.quorum_lists;
    bool has = origins >= quorum && weight > 0;
    bool had = name->origins >= quorum && name->weight > 0;
    if (!name->best || (has && !had) || (has == had && weight > name->weight)) {
        name->best = h;
        name->weight = weight;
        name->origins = origins;
    }
}

static void note_ours(struct weighing *w)
{
    for (size_t i = 0; i < w->c->hits->n; i++) {
        const struct list_hit *h = &w->c->hits->v[i];
        if (h->list < listset_count(w->c->lists) && h->answer == LIST_CONFIRMED &&
            !w->c->is_exempt(w->c->context, h->value)) {
            for (size_t k = 0; k < w->n; k++) {
                w->name[k].is_ours =
                    w->name[k].is_ours ||
                    strcmp(w->name[k].name, list_name_of(w->c, h)) == 0;
            }
        }
    }
}

static const char *why_nothing(const struct peers_case *c, const struct list_hit *h)
{
    const struct config_list *list = listset_config(c->lists, h->list);
    if (h->silence != LIST_NOT_SUPPRESSED) {
        return list_suppression_name((enum list_suppression)h->silence);
    }
    if (c->is_exempt(c->context, h->value)) {
        return "exempt";
    }
    if (!list->name) {
        return "not configured here";
    }
    return list->shadow ? "shadow" : "weighs nothing here";
}

static void say_symbol(const struct weighing *w, const struct named *n)
{
    const struct peers_case *c = w->c;
    struct peers_symbol s = {
        .name = n->name,
        .score = n->weight,
        .has_quorum = n->origins >= c->config->peers.quorum_lists,
        .hit = n->best,
        .more = n->origins > 0 ? n->origins - 1 : 0,
    };
    char more[32] = "";
    if (s.more > 0) {
        (void)snprintf(more, sizeof(more), " and %zu more", s.more);
    }
    (void)snprintf(s.note, sizeof(s.note),
                   "%s%sby %s%s: ", s.score > 0 ? "" : why_nothing(c, n->best),
                   s.score > 0 ? "" : ", ", listset_origin(c->lists, n->best->list),
                   more);
    c->on_symbol(c->context, &s);
}

void peers_judge(const struct peers_case *c)
{
    struct weighing w UNINITIALIZED;
    w.c = c;
    w.n = 0;
    w.nhits = 0;
    size_t nown = listset_count(c->lists);
    for (size_t i = 0; i < c->hits->n && w.nhits < PEERS_HITS_MAX; i++) {
        const struct list_hit *h = &c->hits->v[i];
        if (h->list >= nown && h->answer == LIST_CONFIRMED) {
            w.weight[w.nhits] = weight_of(c, h);
            w.hit[w.nhits++] = h;
        }
    }
    for (size_t i = 0; i < w.nhits; i++) {
        weigh(&w, i);
    }
    if (w.n > 0) {
        note_ours(&w);
    }
    for (size_t i = 0; i < w.n; i++) {
        if (!w.name[i].is_ours) {
            say_symbol(&w, &w.name[i]);
        }
    }
}
