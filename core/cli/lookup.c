/* lookup - values in bulk against the lists on disk. */
#include "core/cli/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/list/voice.h"
#include "core/url/host.h"
#include "core/url/url.h"
#include "core/url/urlkey.h"

/* A batch of longest values, each with all its keys. */
enum { BATCH_ARENA = 64 << 20, ANSWER_ARENA = 1 << 20 };
enum { BATCH_KEYS = LOOKUP_BATCH * 16, FOUND_FIRST = 16 };

struct value {
    struct slice text;
    size_t first; /* of its keys */
    size_t n;
};

/* One answer for a value, kept until all are there. */
struct found {
    size_t list;
    enum list_answer answer;
    size_t key;
    struct list_provenance from;
};

struct lookup {
    const struct state_lists *lists;
    lookup_match_fn *on_match;
    void *context;
    struct arena *batch;
    struct arena *answer;
    size_t nvalues;
    size_t nkeys;
    struct value values[LOOKUP_BATCH];
    struct feature_key keys[BATCH_KEYS + LOOKUP_KEYS_PER_VALUE];
    struct digest digests[BATCH_KEYS + LOOKUP_KEYS_PER_VALUE];
    uint8_t *hits;       /* a row of keys for each list */
    struct found *found; /* room for every list and key of a value */
    size_t nfound;
    size_t room;
    enum err failed;
};

enum { ROW = BATCH_KEYS + LOOKUP_KEYS_PER_VALUE };

struct lookup *lookup_new(const struct state_lists *lists, lookup_match_fn *on_match,
                          void *context)
{
    struct lookup *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return NULL;
    }
    l->lists = lists;
    l->on_match = on_match;
    l->context = context;
    l->batch = arena_new(BATCH_ARENA);
    l->answer = arena_new(ANSWER_ARENA);
    l->hits = calloc(lists->n + 1, ROW);
    if (l->batch == NULL || l->answer == NULL || l->hits == NULL) {
        lookup_free(&l);
    }
    return l;
}

void lookup_free(struct lookup **l)
{
    if (*l != NULL) {
        arena_free(&(*l)->batch);
        arena_free(&(*l)->answer);
        free((*l)->hits);
        free((*l)->found);
        free(*l);
        *l = NULL;
    }
}

static void add_key(struct lookup *l, uint16_t class_type, struct slice text)
{
    const struct value *v = &l->values[l->nvalues];
    for (size_t i = v->first; i < l->nkeys; i++) {
        if (l->keys[i].class_type == class_type && slice_eq(l->keys[i].text, text)) {
            return;
        }
    }
    l->keys[l->nkeys++] = (struct feature_key){.class_type = class_type, .text = text};
}

/* The keys under which a message with this feature would be sought. */
static void expand(struct lookup *l, enum feature_type type, struct slice text)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    struct feature f = {.type = (uint16_t)type, .text = text};
    size_t n = feature_keys(&f, l->batch, keys);
    for (size_t i = 0; i < n; i++) {
        add_key(l, keys[i].class_type, keys[i].text);
    }
}

static unsigned prefix_of(struct slice network)
{
    struct slice rest = network;
    unsigned prefix = 0;
    (void)slice_cut(&rest, '/');
    for (size_t i = 0; i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9'; i++) {
        prefix = prefix * 10 + (unsigned)(rest.p[i] - '0');
    }
    return rest.p == NULL ? 128 : prefix;
}

/* A network is found by wider ones, not by those inside it. */
static void expand_network(struct lookup *l, struct slice network)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    struct feature f = {.type = FEATURE_client_ip,
                        .text = slice_head(network, slice_find(network, '/'))};
    size_t n = feature_keys(&f, l->batch, keys);
    for (size_t i = 0; i < n; i++) {
        if (prefix_of(keys[i].text) <= prefix_of(network)) {
            add_key(l, keys[i].class_type, keys[i].text);
        }
    }
}

/* The looser keys of a URL, where they differ. */
static void expand_url_keys(struct lookup *l, const struct url *url)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    struct feature f = {.type = FEATURE_url, .text = url->canonical};
    bool has_domain = url->host.kind == HOST_NAME;
    struct slice clean = urlkey_clean(l->batch, url);
    struct slice folded = clean.n > 0 ? urlkey_folded(l->batch, url, clean) : clean;
    struct slice template = urlkey_template(
        l->batch, url, has_domain ? host_registrable(url->host.text) : SLICE_NONE);
    size_t n =
        l->lists->has_expressions ? feature_url_expressions(&f, l->batch, keys) : 0;
    if (folded.p == NULL || template.p == NULL) {
        return; /* lookup_add sees that memory ran out */
    }
    add_key(l, FEATURE_url, clean);
    add_key(l, FEATURE_url_folded, folded);
    add_key(l, FEATURE_url_template, template);
    for (size_t i = 0; i < n; i++) {
        add_key(l, keys[i].class_type, keys[i].text);
    }
}

static void expand_url(struct lookup *l, struct slice canonical)
{
    struct url url;
    if (url_parse(l->batch, canonical, &url) != ERR_OK) {
        return;
    }
    expand(l, FEATURE_url, canonical);
    expand_url_keys(l, &url);
    expand(l, url.host.kind == HOST_NAME ? FEATURE_url_host : FEATURE_url_ip,
           url.host.text);
}

static void expand_entry(struct lookup *l, const struct feature_entry *e)
{
    add_key(l, e->class_type, e->text);
    switch (e->class_type) {
    case FEATURE_url:
        expand_url(l, e->text);
        break;
    case FEATURE_host:
    case FEATURE_domain:
        expand(l, FEATURE_url_host, e->text);
        break;
    case FEATURE_address:
        expand(l, FEATURE_from, e->text);
        break;
    case FEATURE_network:
        expand_network(l, e->text);
        break;
    default:
        break;
    }
}

static bool keep_answer(struct lookup *l, const struct found *f)
{
    if (l->nfound == l->room) {
        size_t room = l->room == 0 ? FOUND_FIRST : l->room * 2;
        struct found *more = realloc(l->found, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        l->found = more;
        l->room = room;
    }
    l->found[l->nfound++] = *f;
    return true;
}

/* Asks every list for the keys that its filters let through. */
static bool gather(struct lookup *l, const struct value *v, uint64_t now_s)
{
    l->nfound = 0;
    arena_reset(l->answer);
    for (size_t i = 0; i < l->lists->n; i++) {
        const struct list_reader *r = l->lists->v[i];
        for (size_t k = v->first; k < v->first + v->n; k++) {
            struct found f = {.list = i, .key = k};
            if (l->hits[i * ROW + k] == 0) {
                continue;
            }
            digest_make(list_reader_key(r), l->keys[k].class_type, l->keys[k].text,
                        &l->digests[k]);
            f.answer =
                list_reader_explain(r, &l->digests[k], now_s, l->answer, &f.from);
            if (f.answer != LIST_NO && !keep_answer(l, &f)) {
                return false;
            }
        }
    }
    return true;
}

/* Why an answer of a peer's list counts for nothing: as core/list/listset.h. */
static enum list_silence silence_of(const struct lookup *l, const struct found *f)
{
    const struct state_lists *lists = l->lists;
    const char *name = list_reader_name(lists->v[f->list]);
    if (f->list < lists->nown) {
        return LIST_HEARD;
    }
    for (size_t i = 0; i < l->nfound; i++) {
        const struct found *own = &l->found[i];
        if (own->list >= lists->nown || own->key != f->key) {
            continue;
        }
        const char *its = list_reader_name(lists->v[own->list]);
        if (own->answer == LIST_CONFIRMED &&
            config_list_find(lists->config, slice_str(its))->is_allow) {
            return LIST_SILENT_ALLOWED;
        }
        if (own->answer == LIST_REVOKED && own->from.is_explicit &&
            strcmp(its, name) == 0) {
            return LIST_SILENT_REVOKED;
        }
    }
    return list_is_protected(lists->config, l->keys[f->key].text)
               ? LIST_SILENT_PROTECTED
               : LIST_HEARD;
}

/* Whether a list has a weight here: one of a peer that is not configured has none. */
static bool has_weight(const struct state_lists *lists, size_t i)
{
    const struct config_list *c =
        config_list_find(lists->config, slice_str(list_reader_name(lists->v[i])));
    return i < lists->nown ||
           (c->name != NULL &&
            config_peer_weight(lists->config, slice_str(lists->origin[i])) > 0);
}

static struct standing_result judge(const struct lookup *l)
{
    const struct state_lists *lists = l->lists;
    const struct voices voices = {.config = lists->config, .view = lists->hits};
    struct standing_sum sum = standing_begin(lists->n, lists->nlists);

    for (size_t i = 0; i < l->nfound; i++) {
        const struct found *f = &l->found[i];
        struct standing_voice v = voice_of(&voices, lists->v[f->list]);
        if (silence_of(l, f) != LIST_HEARD) {
            continue;
        }
        /* all peers together are as one list, and none of them is a person here */
        bool is_own = f->list < lists->nown;
        v.list = is_own ? f->list : lists->nown;
        v.answer = f->answer;
        v.is_explicit = is_own && f->from.is_explicit;
        v.is_shadow = v.is_shadow || !has_weight(lists, f->list);
        standing_add(&sum, &v);
    }
    return standing_end(&sum);
}

static bool is_shown(const struct found *f)
{
    return f->answer != LIST_FALSE_POSITIVE;
}

static bool answer_value(struct lookup *l, const struct value *v, uint64_t now_s)
{
    size_t left = 0;

    if (!gather(l, v, now_s)) {
        l->failed = ERR_NOMEM;
        return false;
    }
    struct standing_result standing = judge(l);
    for (size_t i = 0; i < l->nfound; i++) {
        left += is_shown(&l->found[i]);
    }
    if (left == 0) {
        struct lookup_match none = {
            .value = v->text, .standing = &standing, .is_last = true};
        return l->on_match(l->context, &none);
    }
    for (size_t i = 0; i < l->nfound; i++) {
        const struct found *f = &l->found[i];
        if (!is_shown(f)) {
            continue;
        }
        struct lookup_match m = {
            .value = v->text,
            .list = list_reader_name(l->lists->v[f->list]),
            .origin = f->list < l->lists->nown ? NULL : l->lists->origin[f->list],
            .silence = silence_of(l, f),
            .has_weight = has_weight(l->lists, f->list),
            .answer = f->answer,
            .class_type = l->keys[f->key].class_type,
            .key = l->keys[f->key].text,
            .from = &f->from,
            .standing = &standing,
            .is_last = --left == 0};
        if (!l->on_match(l->context, &m)) {
            return false;
        }
    }
    return true;
}

static enum err ask(struct lookup *l)
{
    uint64_t now_s = clock_wall_us() / 1000000;
    const struct hashkey *key = NULL;
    bool goes_on = true;

    for (size_t i = 0; i < l->lists->n; i++) {
        const struct list_reader *r = l->lists->v[i];
        if (key == NULL || key->id != list_reader_key(r)->id) {
            key = list_reader_key(r);
            for (size_t k = 0; k < l->nkeys; k++) {
                digest_make(key, l->keys[k].class_type, l->keys[k].text,
                            &l->digests[k]);
            }
        }
        list_reader_test_known(r, l->digests, l->nkeys, l->hits + i * ROW);
    }
    for (size_t i = 0; i < l->nvalues && goes_on; i++) {
        goes_on = answer_value(l, &l->values[i], now_s);
    }
    l->nvalues = 0;
    l->nkeys = 0;
    arena_reset(l->batch);
    if (l->failed != ERR_OK) {
        return l->failed;
    }
    return goes_on ? ERR_OK : ERR_TIMEOUT;
}

enum err lookup_add(struct lookup *l, struct slice value, struct errinfo *reterr)
{
    struct value *v = &l->values[l->nvalues];
    struct feature_entry e;
    enum err result = feature_entry_parse(value, FEATURE_NONE, l->batch, &e, reterr);

    if (result != ERR_OK) {
        return result;
    }
    *v = (struct value){.text = arena_copy(l->batch, value), .first = l->nkeys};
    expand_entry(l, &e);
    if (arena_is_full(l->batch)) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");
    }
    v->n = l->nkeys - v->first;
    l->nvalues++;
    /* keep half of the batch's memory for the next, longest, value */
    bool is_full = l->nvalues == LOOKUP_BATCH || l->nkeys >= BATCH_KEYS ||
                   arena_used(l->batch) > BATCH_ARENA / 2;
    return is_full ? ask(l) : ERR_OK;
}

enum err lookup_finish(struct lookup *l)
{
    return l->nvalues == 0 ? ERR_OK : ask(l);
}
