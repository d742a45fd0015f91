#include "core/hub/api_counts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/count/json.h"
#include "core/count/wire.h"
#include "core/feature/json.h"
#include "core/feature/value.h"
#include "core/hub/gillnetd.h"

enum { US_PER_MS = 1000 };

void api_counts_begin(struct api_counts *c, const struct config *config)
{
    c->config = config;
    c->deadline_us = clock_mono_us() + (uint64_t)API_COUNTS_WAIT_MS * US_PER_MS;
    c->is_answering = keyring_load(config->state_dir, &c->keys, NULL) == ERR_OK;
}

void api_counts_end(struct api_counts *c)
{
    explicit_bzero(&c->keys, sizeof c->keys);
}

static bool ask(struct api_counts *c, enum feature_type type, struct slice text,
                struct count_history *ret)
{
    struct digest digest[KEYRING_MAX];
    struct buf request;
    struct buf answer;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_digest(&c->keys, c->config, (uint16_t)type, text, digest);
    count_wire_exact(&c->keys, digest, &request);
    bool is_known = gillnetd_ask(c->config->control_socket, buf_slice(&request),
                                 SLICE_NONE, c->deadline_us, &answer, NULL) == ERR_OK &&
                    count_wire_history(buf_slice(&answer), ret);

    buf_fini(&request);
    buf_fini(&answer);
    return is_known;
}

static json_t *row(const uint64_t *v, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(array, json_integer((json_int_t)v[i]));
    }
    return array;
}

static json_t *history_json(enum feature_type type, struct slice text,
                            const struct count_history *h)
{
    uint64_t w[COUNT_WINDOWS];
    json_t *o = json_pack(
        "{s:s, s:o, s:b, s:I, s:I, s:I, s:o, s:o}", "counted_as",
        feature_type_name((uint16_t)type), "key", json_text(text), "exact",
        (int)(h->ndamaged == 0), "first_seen_s", (json_int_t)h->first_s, "last_seen_s",
        (json_int_t)h->last_s, "bucket", (json_int_t)h->now * COUNT_BUCKET_S, "buckets",
        row(h->bucket, COUNT_BUCKETS + 1), "days", row(h->day, COUNT_DAYS + 1));

    count_history_windows(h, w);
    json_t *windows = count_json_windows(w);

    (void)json_object_update(o, windows);
    json_decref(windows);
    return o;
}

void api_counts_add(struct api_counts *c, struct slice value, struct arena *arena,
                    struct buf *ret)
{
    struct value_features features = {.n = 0};
    struct errinfo why;
    json_t *rows = json_array();

    if (value_features_of(value, arena, &features, &why) != ERR_OK) {
        features.n = 0;
    }
    for (size_t i = 0; c->is_answering && i < features.n; i++) {
        struct count_history h;

        c->is_answering = ask(c, features.v[i].type, features.v[i].text, &h);
        if (c->is_answering && h.first_s != 0) {
            (void)json_array_append_new(
                rows, history_json(features.v[i].type, features.v[i].text, &h));
        }
    }
    char *text = c->is_answering ? json_dumps(rows, JSON_COMPACT) : NULL;

    buf_add_str(ret, text != NULL ? text : "null");
    free(text);
    json_decref(rows);
}
