/*
 * listset - the look-up of a message: a batch for each digest key and list; the index confirms
 * hits.
 */
#include "core/list/listset.h"

#include "core/base/clock.h"
#include "core/base/uninitialized.h"
#include "core/list/line_query.h"
#include "core/list/listset_internal.h"

enum {
    KEYS_BATCH = 256, /* at least FEATURE_KEYS_MAX */
    HITS_FIRST = 16,
    EXPRESSIONS_SCRATCH = 4 * FEATURE_EXPRESSIONS_BYTES,
    GATHER_BYTES = 1 << 20
};

_Static_assert((int)KEYS_BATCH >= (int)FEATURE_KEYS_MAX, "one feature fits a batch");
_Static_assert((SEEN_SLOTS & (SEEN_SLOTS - 1)) == 0, "a power of two");
_Static_assert((SEEN_SLOTS_PEERS & (SEEN_SLOTS_PEERS - 1)) == 0, "a power of two");
_Static_assert((int)SEEN_SLOTS_PEERS > 2 * (HITS_MAX + PEER_HITS_MAX), "some are free");

/* Keys of features, with their digests under the digest key at hand. */
struct batch {
    size_t n;
    uint16_t type[KEYS_BATCH];    /* of the feature that the key comes from */
    uint32_t feature[KEYS_BATCH]; /* its index */
    struct feature_key key[KEYS_BATCH];
    struct digest digest[KEYS_BATCH];
};

/* The keys of a batch that one list is asked for. */
struct asked {
    size_t n;
    uint16_t at[KEYS_BATCH]; /* in the batch */
    struct digest digest[KEYS_BATCH];
    uint8_t hit[KEYS_BATCH];
};

struct lookup {
    const struct listset *set;
    uint64_t deadline_mono_us;
    uint64_t now_s;
    struct arena *arena;
    struct list_hits hits;
    uint16_t *own_hits;              /* that each of our lists has */
    unsigned own_most;               /* hits that one of them may have */
    size_t size;                     /* room in hits.v and digest */
    uint64_t slots;                  /* of `seen`, less one */
    unsigned origin_most;            /* hits that one origin may have */
    uint16_t *origin_hits;           /* that each has; NULL: no peers */
    struct feature_classes *classes; /* that each list holds */
    struct feature_classes wanted;   /* that some list holds */
    unsigned which; /* bits of enum FEATURE_EXPRESSIONS... that some list needs */
    struct arena
        *scratch;   /* of expressions until their look-up; NULL: no list has them */
    uint16_t *seen; /* hash table: index into hits + 1; NULL before the first hit */
    struct lookup_stats_sums sums; /* of the batch and list at hand */
    struct line_query *lines;      /* NULL: no list is remote, or no memory */
    bool is_gathering;             /* lines; nothing is looked up yet */
    enum err failed;
};

/* True if the i-th key is for this list: the list holds entries of the class and its types name the
 * feature, its shown type, or the class. Expensive keys need a list that is known to hold or name
 * them. */
static bool takes_key(const struct lookup *l, size_t list, const struct batch *b,
                      size_t i)
{
    const struct listset_item *item = &l->set->item[list];
    const struct feature_classes *held = &l->classes[list];
    uint16_t class_type = b->key[i].class_type;
    unsigned bit = feature_derived_bit(class_type);
    if (!feature_classes_have(held, class_type) ||
        (bit != 0 && (feature_derived(held, &item->types) & bit) == 0)) {
        return false;
    }
    return item->takes_all || feature_classes_have(&item->types, b->type[i]) ||
           feature_classes_have(&item->types, b->key[i].report_type) ||
           feature_classes_have(&item->types, class_type);
}

/* Adds the keys of one feature; there is room. */
static void add_keys(struct lookup *l, struct batch *b, const struct feature *f,
                     size_t index)
{
    size_t end = b->n + feature_keys(f, &l->wanted, l->arena, b->key + b->n);
    if (l->scratch) {
        end += feature_derived_keys(f, l->which, l->scratch, b->key + end);
    }
    while (b->n < end) {
        b->feature[b->n] = (uint32_t)index;
        b->type[b->n++] = f->type;
    }
}

/* Makes room for one more hit. */
static bool reserve_hit(struct lookup *l)
{
    if (l->hits.n < l->size) {
        return true;
    }
    size_t size = l->size == 0 ? HITS_FIRST : l->size * 2;
    struct list_hit *v = arena_array(l->arena, size, sizeof(*v));
    if (!l->seen) {
        l->seen = arena_array(l->arena, l->slots + 1, sizeof(*l->seen));
    }
    if (!v || !l->seen) {
        l->failed = ERR_NOMEM;
        return false;
    }
    if (l->hits.n > 0) {
        memcpy(v, l->hits.v, l->hits.n * sizeof(*v));
    }
    l->hits.v = v;
    l->size = size;
    return true;
}

/* The slot of this hit, which is free when it is new: two hosts of one domain hit it once. */
static uint16_t *seen_slot(struct lookup *l, size_t list, uint16_t report_type,
                           const struct digest *d)
{
    uint64_t at = 0;
    memcpy(&at, d->b, sizeof(at));
    at += list * 31 + report_type;
    for (;; at++) {
        uint16_t *slot = &l->seen[at & l->slots];
        if (*slot == 0) {
            return slot;
        }
        const struct list_hit *h = &l->hits.v[*slot - 1];
        if (h->list == list && h->report_type == report_type &&
            digest_cmp(&h->digest, d) == 0) {
            return slot;
        }
    }
}

/* ---- counting ---- */

/* A confirmation of an entry that ages by period counts for the period, too. */
static void count_period(const struct lookup *l, size_t list, uint64_t period)
{
    struct slice name = slice_str(list_reader_name(listset_reader(l->set, list)));
    const struct lookup_stats_sums one = {.number = {[LOOKUP_STATS_CONFIRMED] = 1},
                                          .last_hit_s = l->now_s};
    struct lookup_stats_row *row = lookup_stats_row_find(l->set->hits, name, period);
    if (row) {
        lookup_stats_add(row, &one);
    }
}

/* Expired entries are known and do not count as errors of the filter. */
static void count_answer(struct lookup *l, size_t list, const struct reader_answer *a)
{
    uint64_t *number = l->sums.number;
    switch (a->answer) {
    case LIST_CONFIRMED:
        number[LOOKUP_STATS_CONFIRMED]++;
        l->sums.last_hit_s = l->now_s;
        if (a->period != LOOKUP_STATS_WHOLE && l->set->hits) {
            count_period(l, list, a->period);
        }
        break;
    case LIST_REVOKED:
        number[LOOKUP_STATS_REVOKED]++;
        break;
    case LIST_FALSE_POSITIVE:
        number[LOOKUP_STATS_FALSE] += !a->is_known;
        number[LOOKUP_STATS_FALSE_NEW] += !a->is_known && !a->was_cached;
        break;
    case LIST_NO:
    case LIST_POSSIBLE:
    case LIST_UNVERIFIED:
    default:
        break;
    }
}

/* ---- asking ---- */

static struct reader_answer confirm(struct lookup *l, size_t list,
                                    const struct digest *d)
{
    const struct list_reader *reader = listset_reader(l->set, list);
    struct reader_answer a;

    if (l->deadline_mono_us != 0 && clock_mono_us() > l->deadline_mono_us) {
        l->hits.met_deadline = true;
        list_reader_recall(reader, d, l->now_s, &a);
        return a;
    }
    list_reader_ask(reader, d, l->now_s, &a);
    count_answer(l, list, &a);
    return a;
}

static void take_hit(struct lookup *l, size_t list, const struct batch *b, size_t i)
{
    const struct feature_key *k = &b->key[i];
    const struct digest *d = &b->digest[i];
    bool is_own = list < l->set->nown;
    if (!reserve_hit(l)) {
        return;
    }
    uint16_t *slot = seen_slot(l, list, k->report_type, d);
    if (*slot != 0) {
        l->sums.number
            [LOOKUP_STATS_TESTED]--; /* one key, one test: it was counted before */
        l->sums.number[LOOKUP_STATS_FILTER]--;
        return;
    }
    struct reader_answer a = confirm(l, list, d);
    if (a.answer == LIST_NO || (!is_own && a.answer == LIST_FALSE_POSITIVE)) {
        return;
    }
    struct slice value = arena_copy(l->arena, k->text);
    if (!value.p) {
        l->failed = ERR_NOMEM;
        return;
    }
    bool is_filtered = is_own && a.answer == LIST_POSSIBLE && !a.is_member &&
                       list_reader_may_hold(listset_reader(l->set, list), d);
    l->hits.v[l->hits.n] = (struct list_hit){.list = (uint16_t)list,
                                             .report_type = k->report_type,
                                             .answer = a.answer,
                                             .is_explicit = is_own && a.is_explicit,
                                             .is_filtered = is_filtered,
                                             .feature = b->feature[i],
                                             .digest = *d,
                                             .value = value};
    *slot = (uint16_t)++l->hits.n;
    if (is_own) {
        l->own_hits[list]++;
    } else {
        l->origin_hits[l->set->item[list].origin_at]++;
    }
}

/* True if a list or origin has reached its share of the hits of this message. */
static bool is_heard_out(const struct lookup *l, size_t list)
{
    if (list < l->set->nown) {
        return l->own_hits[list] >= l->own_most;
    }
    return l->origin_hits[l->set->item[list].origin_at] >= l->origin_most;
}

static void gather_keys(const struct lookup *l, const struct batch *b, size_t list,
                        struct asked *ret)
{
    ret->n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (takes_key(l, list, b, i)) {
            ret->at[ret->n] = (uint16_t)i;
            ret->digest[ret->n] = b->digest[i];
            ret->hit[ret->n++] = 0;
        }
    }
}

static void test_list(struct lookup *l, const struct list_reader *r,
                      struct asked *asked)
{
    if (!r->has_remote) {
        list_reader_test(r, asked->digest, asked->n, asked->hit);
    } else if (!l->lines ||
               !line_query_test(l->lines, r, asked->digest, asked->n, asked->hit)) {
        l->hits.lacks_lines = true;
    }
}

static void ask_list(struct lookup *l, struct batch *b, size_t list)
{
    const struct listset_item *item = &l->set->item[list];
    const struct list_reader *reader = item->shared->reader;
    struct asked asked UNINITIALIZED;
    if (is_heard_out(l, list) || (l->is_gathering && !reader->has_remote)) {
        return;
    }
    gather_keys(l, b, list, &asked);
    if (asked.n == 0) {
        return;
    }
    if (l->is_gathering) {
        line_query_add(l->lines, reader, asked.digest, asked.n);
        return;
    }
    l->sums = (struct lookup_stats_sums){.last_hit_s = 0};
    test_list(l, reader, &asked);
    for (size_t i = 0; i < asked.n; i++) {
        if (asked.hit[i] && !is_heard_out(l, list)) {
            l->hits.filter_hits++;
            l->sums.number[LOOKUP_STATS_FILTER]++;
            take_hit(l, list, b, asked.at[i]);
        }
    }
    if (item->row) {
        l->sums.number[LOOKUP_STATS_TESTED] += asked.n;
        lookup_stats_add(item->row, &l->sums);
    }
}

/* Looks up the keys of the batch in every list. */
static void ask_all(struct lookup *l, struct batch *b)
{
    for (unsigned key = 0; b->n > 0 && key < l->set->nkeys; key++) {
        for (size_t i = 0; i < b->n; i++) {
            digest_make(&l->set->key[key], b->key[i].class_type, b->key[i].text,
                        &b->digest[i]);
        }
        for (size_t list = 0; list < l->set->n; list++) {
            if (l->set->item[list].key == key) {
                ask_list(l, b, list);
            }
        }
    }
    if (l->is_gathering) {
        arena_reset(l->arena); /* of keys that have their digests now */
    } else {
        l->hits.keys += b->n;
    }
    b->n = 0;
    if (l->scratch) {
        arena_reset(l->scratch);
    }
}

/* Loads the classes that the lists hold. A writer can add a class at any time, so this is done for
 * each message before its keys are made. */
static bool classes_begin(struct lookup *l)
{
    const struct listset *s = l->set;
    l->classes = arena_array(l->arena, s->n + 1, sizeof(*l->classes));
    for (size_t i = 0; l->classes && i < s->n; i++) {
        l->classes[i] = list_reader_classes(listset_reader(s, i));
        feature_classes_join(&l->wanted, &l->classes[i]);
        l->which |= feature_derived(&l->classes[i], &s->item[i].types);
    }
    if (l->classes && l->which != 0) {
        l->scratch = arena_new(EXPRESSIONS_SCRATCH);
    }
    return l->classes && (l->which == 0 || l->scratch);
}

/* The keys of one more feature may not fit. */
static bool is_full(const struct lookup *l, const struct batch *b)
{
    return b->n + FEATURE_KEYS_MAX > KEYS_BATCH ||
           (l->scratch &&
            arena_used(l->scratch) > EXPRESSIONS_SCRATCH - FEATURE_EXPRESSIONS_BYTES);
}

static bool shares_begin(struct lookup *l)
{
    size_t nown = l->set->nown > 0 ? l->set->nown : 1;
    unsigned n = l->set->norigins;
    l->own_most = (unsigned)(HITS_MAX / nown);
    l->own_hits = arena_array(l->arena, nown, sizeof(*l->own_hits));
    if (l->own_hits == NULL) {
        return false;
    }
    l->slots = (n == 0 ? SEEN_SLOTS : SEEN_SLOTS_PEERS) - 1;
    if (n == 0) {
        return true;
    }
    l->origin_most = PEER_HITS_MAX / n < PEER_HITS_ORIGIN ? PEER_HITS_MAX / n
                                                          : (unsigned)PEER_HITS_ORIGIN;
    l->origin_hits = arena_array(l->arena, n, sizeof(*l->origin_hits));
    return l->origin_hits != NULL;
}

static void ask_features(struct lookup *l, const struct featureset *features)
{
    struct batch b UNINITIALIZED;
    b.n = 0;
    size_t n = l->set->n > 0 ? featureset_count(features) : 0;
    for (size_t i = 0; i < n; i++) {
        if (is_full(l, &b)) {
            ask_all(l, &b);
        }
        add_keys(l, &b, featureset_at(features, i), i);
    }
    ask_all(l, &b);
}

static bool has_remote(const struct listset *s)
{
    size_t i = 0;
    while (i < s->nown && !s->item[i].shared->reader->has_remote) {
        i++;
    }
    return s->lines && i < s->nown;
}

/* Asks for the lines of all features at once, before any is looked up. */
static void lines_ask(struct lookup *l, const struct featureset *features)
{
    uint64_t most_us = l->set->config ? l->set->config->store.deadline_us : 0;
    struct arena *arena = l->arena;
    if (!has_remote(l->set) || l->hits.lines_us >= most_us) {
        return;
    }
    l->lines = line_query_new();
    l->arena = arena_new(GATHER_BYTES); /* of keys, which are made again */
    if (l->lines && l->arena) {
        l->is_gathering = true;
        ask_features(l, features);
        l->is_gathering = false;
        uint64_t begin_us = clock_mono_us();
        line_query_ask(l->lines, l->set->lines, most_us - l->hits.lines_us);
        l->hits.lines_us += clock_mono_us() - begin_us;
    }
    arena_free(&l->arena);
    l->arena = arena;
}

enum err listset_lookup(const struct listset *s, const struct featureset *features,
                        uint64_t deadline_mono_us, struct arena *arena,
                        struct list_hits *ret)
{
    struct lookup l = {
        .set = s,
        .deadline_mono_us = deadline_mono_us,
        .now_s = clock_wall_us() / 1000000,
        .arena = arena,
        .hits = {.lines_us = ret->lines_us},
    };
    if (!shares_begin(&l) || !classes_begin(&l)) {
        return ERR_NOMEM;
    }
    lines_ask(&l, features);
    ask_features(&l, features);
    line_query_free(&l.lines);
    arena_free(&l.scratch);
    listset_silence(s, &l.hits);
    *ret = l.hits;
    return l.failed;
}
