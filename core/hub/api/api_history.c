#include "core/hub/api/api_history.h"

#include <math.h>
#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/count/count_json.h"
#include "core/count/count_protocol.h"
#include "core/message/feature/feature_json.h"
#include "core/summary/summary_json.h"
#include "core/telemetry/control_client.h"
#include "core/telemetry/history.h"

enum { US_PER_S = 1000000, US_PER_MS = 1000, NS_PER_US = 1000, SPARK_BUCKETS = 3 };

_Static_assert((int)API_HISTORY_SPARKS *(int)SPARK_BUCKETS <= (int)COUNT_BUCKETS,
               "what a history has");

/* Exact counts of one key. */
struct known {
    struct history_key key; /* day 0: free */
    struct count_history counts;
};

struct api_history {
    pthread_mutex_t lock; /* guards: all below */
    struct history_view view;
    uint64_t asked_us; /* 0: never */
    struct known known[HISTORY_KEYS];
};

struct api_history *api_history_new(void)
{
    struct api_history *h = calloc(1, sizeof(*h));

    if (h != NULL && pthread_mutex_init(&h->lock, NULL) != 0) {
        free(h);
        h = NULL;
    }
    return h;
}

void api_history_free(struct api_history **h)
{
    if (*h != NULL) {
        pthread_mutex_destroy(&(*h)->lock);
        free(*h);
        *h = NULL;
    }
}

/* ---- counts of the keys ---- */

static bool ask_one(const struct config *config, const struct keyring *keys,
                    uint64_t deadline_us, const struct history_key *key,
                    struct known *ret)
{
    struct buf request;
    struct buf answer;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_exact(keys, key->digest, &request);
    ret->key = *key;
    bool is_known =
        control_client_ask(config->control_socket, buf_slice(&request), SLICE_NONE,
                           deadline_us, &answer, NULL) == ERR_OK &&
        count_wire_history(buf_slice(&answer), &ret->counts);
    buf_fini(&request);
    buf_fini(&answer);
    return is_known;
}

/* Requests the counts of all keys of the page. Keys without an answer stay unknown. */
static void ask_counts(struct api_history *h, const struct config *config)
{
    struct keyring keys;
    uint64_t now_us = clock_mono_us();
    uint64_t deadline_us = now_us + (uint64_t)API_HISTORY_WAIT_MS * US_PER_MS;
    bool is_answering =
        h->view.nkeys > 0 && keyring_load(config->state_dir, &keys, NULL) == ERR_OK;

    memset(h->known, 0, sizeof(h->known));
    h->asked_us = now_us;
    for (size_t i = 0; is_answering && i < h->view.nkeys; i++) {
        is_answering =
            ask_one(config, &keys, deadline_us, &h->view.key[i], &h->known[i]);
        h->known[i].key.day = is_answering ? h->known[i].key.day : 0;
    }
    explicit_bzero(&keys, sizeof(keys));
}

static const struct known *find_known(const struct api_history *h,
                                      const struct history_key *key)
{
    for (size_t i = 0; i < HISTORY_KEYS; i++) {
        const struct known *k = &h->known[i];
        if (k->key.day > 0 && k->key.type == key->type &&
            memcmp(k->key.digest, key->digest, sizeof(key->digest)) == 0) {
            return k;
        }
    }
    return NULL;
}

/* ---- JSON ---- */

json_t *api_thresholds_json(const struct config *config)
{
    json_t *thresholds = json_object();

    for (unsigned a = ACTION_ACCEPT + 1; a < ACTION_COUNT; a++) {
        double t = config->threshold[a];
        (void)json_object_set_new(thresholds, action_name((enum action)a),
                                  isfinite(t) ? json_real(t) : json_null());
    }
    return thresholds;
}

static json_t *scores_json(const struct history_view *v, const struct config *config)
{
    json_t *edges = json_array();

    for (unsigned i = 0; i < HISTORY_SCORES - 1; i++) {
        (void)json_array_append_new(edges, json_real(history_score_edge(i)));
    }
    return json_pack("{s:o, s:o, s:o}", "edges", edges, "counts",
                     count_json_row(v->score, HISTORY_SCORES), "thresholds",
                     api_thresholds_json(config));
}

static json_t *symbols_json(const struct history_view *v)
{
    json_t *array = json_array();

    for (size_t i = 0; i < v->nsymbols; i++) {
        const struct history_symbol *s = &v->symbol[i];
        (void)json_array_append_new(array, json_pack("{s:s, s:I, s:I}", "name", s->name,
                                                     "day", (json_int_t)s->day, "total",
                                                     (json_int_t)s->total));
    }
    return array;
}

static json_t *latency_json(const struct history_view *v)
{
    json_t *object = json_object();

    for (unsigned s = 0; s < HISTORY_STAGES; s++) {
        const struct history_times *t = &v->time[s];
        json_t *le = json_array();
        for (unsigned i = 0; i < HISTORY_TIMES - 1; i++) {
            (void)json_array_append_new(le,
                                        json_integer((json_int_t)history_time_us[i]));
        }
        (void)json_object_set_new(
            object, history_stage_name((enum history_stage)s),
            json_pack("{s:o, s:o, s:I, s:I}", "le_us", le, "counts",
                      count_json_row(t->count, HISTORY_TIMES), "sum_us",
                      (json_int_t)(t->sum_ns / NS_PER_US), "count", (json_int_t)t->n));
    }
    return object;
}

/* Sums by half hour. bucket[0] of a history is the current one. */
static json_t *spark_json(const struct count_history *h)
{
    uint64_t v[API_HISTORY_SPARKS] = {0};

    for (size_t i = 0; i < API_HISTORY_SPARKS; i++) {
        for (size_t k = 0; k < SPARK_BUCKETS; k++) {
            v[API_HISTORY_SPARKS - 1 - i] += h->bucket[i * SPARK_BUCKETS + k];
        }
    }
    return count_json_row(v, API_HISTORY_SPARKS);
}

/* Without an answer of gillnetd the row has the count of one day from the page. */
static json_t *bulk_one(const struct api_history *h, const struct history_key *key)
{
    const struct known *known = find_known(h, key);
    uint64_t w[COUNT_WINDOWS] = {[COUNT_1D] = key->day, [COUNT_14D] = key->day};

    if (known != NULL) {
        count_history_windows(&known->counts, w);
    }
    json_t *row = json_pack("{s:s, s:o}", "type", feature_type_name(key->type), "value",
                            json_text(slice_of(key->text, key->n)));
    (void)json_object_update_new(row, count_json_windows(w));
    (void)json_object_set_new(
        row, "spark", known != NULL ? spark_json(&known->counts) : json_array());
    return row;
}

static json_t *bulk_json(const struct api_history *h)
{
    json_t *array = json_array();

    for (size_t i = 0; i < h->view.nkeys; i++) {
        (void)json_array_append_new(array, bulk_one(h, &h->view.key[i]));
    }
    return array;
}

static void read_view(struct api_history *h, const struct config *config)
{
    char path[FILE_PATH_MAX];
    uint64_t now_s = clock_wall_us() / US_PER_S;

    if (file_path(path, "%s/%s", config->state_dir, STATE_HISTORY_FILE) != ERR_OK) {
        path[0] = '\0'; /* such a path has no page either */
    }
    (void)history_read(path, now_s, &h->view, NULL);
}

static bool is_time_to_ask(const struct api_history *h)
{
    uint64_t age_us = clock_mono_us() - h->asked_us;
    bool is_new = false;

    for (size_t i = 0; i < h->view.nkeys; i++) {
        is_new = is_new || find_known(h, &h->view.key[i]) == NULL;
    }
    return h->asked_us == 0 || age_us >= (uint64_t)API_HISTORY_KEEP_S * US_PER_S ||
           (is_new && age_us >= (uint64_t)API_HISTORY_AGAIN_S * US_PER_S);
}

json_t *api_history_json(struct api_history *h, const struct config *config)
{
    pthread_mutex_lock(&h->lock);
    read_view(h, config);
    if (is_time_to_ask(h)) {
        ask_counts(h, config);
    }
    json_t *all =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "bucket_s", (int)HISTORY_BUCKET_S,
                  "buckets", buckets_json(h->view.bucket, HISTORY_BUCKETS), "scores",
                  scores_json(&h->view, config), "symbols", symbols_json(&h->view),
                  "latency", latency_json(&h->view), "bulk", bulk_json(h));
    pthread_mutex_unlock(&h->lock);
    return all;
}
