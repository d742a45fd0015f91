#include "core/list/query.h"

#include "core/base/array.h"
#include "core/list/listset_internal.h"

/* For a batch of the longest values with all their keys. */
enum { BATCH_ARENA = 64 << 20, ANSWER_ARENA = 1 << 20 };
enum { BATCH_KEYS = QUERY_VALUES * 16, ROW = BATCH_KEYS + VALUE_KEYS_MAX };

struct value {
    struct slice text;
    size_t first; /* of its keys */
    size_t n;
};

struct query {
    struct query_lists lists;
    struct arena *batch;
    struct arena *answer;
    size_t nvalues;
    size_t nkeys;
    struct value values[QUERY_VALUES];
    struct feature_key keys[ROW];
    struct digest digests[ROW];
    uint8_t *hits; /* a row of keys for each list */
    size_t rows;
    struct query_match *match; /* room for every list and key of a value */
    size_t nmatches;
    size_t room;
};

unsigned ask_derived(const struct list_reader *r, const struct config_list *list)
{
    struct feature_classes held = list_reader_classes(r);
    struct feature_classes named = list_named_types(list);
    return feature_derived(&held, &named);
}

double ask_share(const struct config *config, struct slice list, const char *origin)
{
    if (origin == NULL) {
        return 1;
    }
    return config_list_find(config, list)->name == NULL
               ? 0
               : config_peer_weight(config, slice_str(origin));
}

struct query *query_new(void)
{
    struct query *a = calloc(1, sizeof(*a));

    if (a == NULL) {
        return NULL;
    }
    a->batch = arena_new(BATCH_ARENA);
    a->answer = arena_new(ANSWER_ARENA);
    if (a->batch == NULL || a->answer == NULL) {
        query_free(&a);
    }
    return a;
}

void query_free(struct query **a)
{
    if (*a != NULL) {
        arena_free(&(*a)->batch);
        arena_free(&(*a)->answer);
        free((*a)->hits);
        free((*a)->match);
        free(*a);
        *a = NULL;
    }
}

void query_begin(struct query *a, const struct query_lists *lists)
{
    a->lists = *lists;
    a->nvalues = 0;
    a->nkeys = 0;
    arena_reset(a->batch);
}

size_t query_count(const struct query *a)
{
    return a->nvalues;
}

bool query_is_full(const struct query *a)
{
    /* half of the batch's memory is kept for the next, longest, value */
    return a->nvalues == QUERY_VALUES || a->nkeys >= BATCH_KEYS ||
           arena_used(a->batch) > BATCH_ARENA / 2;
}

/* Room for the answers of each list. */
static bool has_rows(struct query *a)
{
    if (a->lists.n > a->rows) {
        uint8_t *more = realloc(a->hits, a->lists.n * ROW);

        if (more == NULL) {
            return false;
        }
        a->hits = more;
        a->rows = a->lists.n;
    }
    return true;
}

enum err query_add(struct query *a, struct slice value, enum feature_type hint,
                   struct errinfo *reterr)
{
    struct value *v = &a->values[a->nvalues];
    enum err result = has_rows(a) ? ERR_OK : errinfo_nomem(reterr, "");

    if (result == ERR_OK) {
        const struct value_reading how = {hint, a->lists.derived};

        result = value_keys(value, &how, a->batch, a->keys + a->nkeys, &v->n, reterr);
    }
    if (result != ERR_OK) {
        return result;
    }
    v->text = arena_copy(a->batch, value);
    v->first = a->nkeys;
    if (arena_is_full(a->batch)) {
        return errinfo_nomem(reterr, "");
    }
    a->nkeys += v->n;
    a->nvalues++;
    return ERR_OK;
}

void query_test(struct query *a)
{
    const struct hashkey *key = NULL;

    for (size_t i = 0; i < a->lists.n; i++) {
        const struct list_reader *r = a->lists.v[i].reader;

        if (key == NULL || key->id != list_reader_key(r)->id) {
            key = list_reader_key(r);
            for (size_t k = 0; k < a->nkeys; k++) {
                digest_make(key, a->keys[k].class_type, a->keys[k].text,
                            &a->digests[k]);
            }
        }
        list_reader_test_known(r, a->digests, a->nkeys, a->hits + i * ROW);
    }
}

static bool keep_match(struct query *a, const struct query_match *m)
{
    if (!array_room(&a->match, &a->room, a->nmatches + 1, SIZE_MAX, sizeof(*m))) {
        return false;
    }
    a->match[a->nmatches++] = *m;
    return true;
}

/* Asks every list for the keys that its filters let through. */
static bool gather_matches(struct query *a, const struct value *v, uint64_t now_s)
{
    for (size_t i = 0; i < a->lists.n; i++) {
        const struct list_reader *r = a->lists.v[i].reader;
        const struct feature_classes held = list_reader_classes(r);

        for (size_t k = v->first; k < v->first + v->n; k++) {
            struct query_match m = {.list = i, .at = k, .key = &a->keys[k]};

            if (a->hits[i * ROW + k] == 0 ||
                !feature_classes_have(&held, a->keys[k].class_type)) {
                continue;
            }
            digest_make(list_reader_key(r), a->keys[k].class_type, a->keys[k].text,
                        &a->digests[k]);
            m.answer =
                list_reader_explain(r, &a->digests[k], now_s, a->answer, &m.from);
            if (m.answer != LIST_NO && !keep_match(a, &m)) {
                return false;
            }
        }
    }
    return true;
}

/* Another server of this owner revoked the value in the list of this name. */
static bool is_revoked_elsewhere(const struct query *a, const struct query_match *m)
{
    const struct query_list *v = a->lists.v;

    for (size_t i = 0; i < a->nmatches; i++) {
        const struct query_match *other = &a->match[i];

        if (v[other->list].may_revoke && v[other->list].share > 0 &&
            other->answer == LIST_REVOKED && other->at == m->at &&
            m->answer != LIST_REVOKED &&
            strcmp(list_reader_name(v[other->list].reader),
                   list_reader_name(v[m->list].reader)) == 0) {
            return true;
        }
    }
    return false;
}

/* Why an answer is ignored; see core/list/listset.h. */
static enum list_suppression silence_of(const struct query *a,
                                        const struct query_match *m)
{
    const struct query_lists *lists = &a->lists;
    const char *name = list_reader_name(lists->v[m->list].reader);

    if (is_revoked_elsewhere(a, m)) {
        return LIST_SUPPRESSED_ELSEWHERE;
    }
    if (m->list < lists->nown) {
        return LIST_NOT_SUPPRESSED;
    }
    for (size_t i = 0; i < a->nmatches; i++) {
        const struct query_match *own = &a->match[i];

        if (own->list >= lists->nown || own->at != m->at) {
            continue;
        }
        const struct query_list *its = &lists->v[own->list];

        if (own->answer == LIST_CONFIRMED && its->voice.is_allow) {
            return LIST_SUPPRESSED_ALLOWED;
        }
        if (own->answer == LIST_REVOKED && own->from.is_explicit &&
            strcmp(list_reader_name(its->reader), name) == 0) {
            return LIST_SUPPRESSED_REVOKED;
        }
    }
    return list_is_protected(lists->config, m->key->text) ? LIST_SUPPRESSED_PROTECTED
                                                          : LIST_NOT_SUPPRESSED;
}

static struct rating_result rate_value(const struct query *a)
{
    const struct query_lists *lists = &a->lists;
    struct rating_sum sum = rating_begin(lists->n, lists->nlists);

    for (size_t i = 0; i < a->nmatches; i++) {
        const struct query_match *m = &a->match[i];
        const struct query_list *l = &lists->v[m->list];
        struct rating_input v = l->voice;

        if (m->silence != LIST_NOT_SUPPRESSED) {
            continue;
        }
        if (list_is_allowed(lists->config, m->key->text)) {
            rating_allow(&sum);
        }
        /* all peers count as one list, and none as a person here */
        bool is_own = m->list < lists->nown;

        v.list = is_own ? m->list : lists->nown;
        v.answer = m->answer;
        v.is_explicit = is_own && m->from.is_explicit;
        v.is_shadow = v.is_shadow || !(l->share > 0);
        v.weight *= l->share;
        rating_add(&sum, &v);
    }
    return rating_end(&sum, lists->config);
}

enum err query_answer(struct query *a, size_t i, uint64_t now_s,
                      struct query_result *ret)
{
    const struct value *v = &a->values[i];

    a->nmatches = 0;
    arena_reset(a->answer);
    if (!gather_matches(a, v, now_s)) {
        return ERR_NOMEM;
    }
    for (size_t m = 0; m < a->nmatches; m++) {
        a->match[m].silence = silence_of(a, &a->match[m]);
    }
    for (size_t m = 0; m < a->nmatches; m++) { /* as in listset_silence */
        if (a->match[m].list < a->lists.nown &&
            a->match[m].silence != LIST_NOT_SUPPRESSED) {
            a->match[m].answer = LIST_REVOKED;
        }
    }
    *ret =
        (struct query_result){.value = v->text,
                              .class_type = a->keys[v->first].class_type, /* itself */
                              .result = rate_value(a),
                              .v = a->match,
                              .n = a->nmatches};
    return ERR_OK;
}
