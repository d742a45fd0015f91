#include "core/hub/api/api_counts.h"

#include "core/base/clock.h"
#include "core/count/count_json.h"
#include "core/count/count_protocol.h"
#include "core/message/feature/feature_json.h"
#include "core/message/feature/feature_value.h"
#include "core/telemetry/control_client.h"

enum { US_PER_MS = 1000, US_PER_S = 1000000 };

void api_counts_begin(struct api_counts *c, const struct config *config)
{
    c->config = config;
    c->deadline_us = clock_mono_us() + (uint64_t)API_COUNTS_WAIT_MS * US_PER_MS;
    c->is_answering = keyring_load(config->state_dir, &c->keys, NULL) == ERR_OK;
}

void api_counts_end(struct api_counts *c)
{
    explicit_bzero(&c->keys, sizeof(c->keys));
}

/* ---- as a port ---- */

/* False: gillnetd did not answer, and is not asked again. */
static bool ask(struct api_counts *c, const struct buf *request, struct buf *answer)
{
    c->is_answering =
        c->is_answering &&
        control_client_ask(c->config->control_socket, buf_slice(request), SLICE_NONE,
                           c->deadline_us, answer, NULL) == ERR_OK;
    return c->is_answering;
}

static void port_batch(void *context, struct count_item *items, size_t n)
{
    struct api_counts *c = context;
    struct buf request;
    struct buf answer;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_batch(&c->keys, items, n, &request);
    if (!ask(c, &request, &answer) ||
        !count_wire_values(buf_slice(&answer), items, n)) {
        c->is_answering = false;
        for (size_t i = 0; i < n; i++) {
            items[i].value = (struct count_value){.w = {0}};
        }
    }
    buf_fini(&request);
    buf_fini(&answer);
}

static void port_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    struct api_counts *c = context;
    struct buf request;
    struct buf answer;

    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_exact(&c->keys, digest, &request);
    if (!ask(c, &request, &answer) || !count_wire_history(buf_slice(&answer), ret)) {
        c->is_answering = false;
        memset(ret, 0, sizeof(*ret));
    }
    buf_fini(&request);
    buf_fini(&answer);
}

static void port_called(void *context, const struct digest digest[KEYRING_MAX],
                        uint64_t from_s, uint64_t to_s, struct count_called *ret)
{
    struct api_counts *c = context;
    struct buf request;
    struct buf answer;

    *ret = (struct count_called){.spam = 0};
    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_called(&c->keys, digest, from_s, to_s, &request);
    if (!ask(c, &request, &answer) ||
        !count_wire_read_called(buf_slice(&answer), ret)) {
        c->is_answering = false;
    }
    buf_fini(&request);
    buf_fini(&answer);
}

struct count_port api_counts_port(struct api_counts *c)
{
    return (struct count_port){.context = c,
                               .batch = port_batch,
                               .exact = port_exact,
                               .called = port_called,
                               .called_context = c};
}

/* ---- rows ---- */

/* *ret: to be freed, also when it is false. */
static bool ask_shares(struct api_counts *c, enum feature_type type, struct slice text,
                       struct count_breakdown *ret)
{
    struct digest digest[KEYRING_MAX];
    struct buf request;
    struct buf answer;

    *ret = (struct count_breakdown){.n = 0};
    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_digest(&c->keys, c->config, (uint16_t)type, text, digest);
    count_wire_shares(&c->keys, digest, &request);
    bool is_known =
        control_client_ask(c->config->control_socket, buf_slice(&request), SLICE_NONE,
                           c->deadline_us, &answer, NULL) == ERR_OK &&
        count_wire_read_shares(buf_slice(&answer), ret) && ret->n > 0;

    buf_fini(&request);
    buf_fini(&answer);
    count_breakdown_limit(ret, c->config->peers.cap, c->config->peers.quorum,
                          c->config->store.fresh_s);
    return is_known;
}

/* One feature, to rows, if anybody counted it. */
static void add_row(struct api_counts *c, json_t *rows, enum feature_type type,
                    struct slice text, const struct count_breakdown *s)
{
    const struct count_port port = api_counts_port(c);
    struct digest digest[KEYRING_MAX];
    struct judged judged;
    const struct count_history *h = &s->v[0].history;
    uint64_t first_s = 0;
    uint64_t last_s = 0;
    uint64_t w[COUNT_WINDOWS];

    count_breakdown_seen(s, clock_wall_us() / US_PER_S, &first_s, &last_s);
    if (first_s == 0) {
        return;
    }
    for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
        w[i] = count_breakdown_sum(s, i);
    }
    json_t *o = json_pack("{s:s, s:o, s:b, s:I, s:I, s:I, s:o, s:o}", "counted_as",
                          feature_type_name((uint16_t)type), "key", json_text(text),
                          "exact", (int)(h->ndamaged == 0), "first_seen_s",
                          (json_int_t)first_s, "last_seen_s", (json_int_t)last_s,
                          "bucket", (json_int_t)h->now * COUNT_BUCKET_S, "buckets",
                          count_json_row(h->bucket, COUNT_BUCKETS + 1), "days",
                          count_json_row(h->day, COUNT_DAYS + 1));

    (void)json_object_update_new(o, count_json_windows(w));
    if (o != NULL) {
        count_json_add_shares(o, s);
    }
    count_digest(&c->keys, c->config, (uint16_t)type, text, digest);
    judged_exact(&port, &c->keys, digest, &judged);
    (void)json_object_set_new(o, "judged", count_json_judged(&judged));
    (void)json_array_append_new(rows, o);
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
        struct count_breakdown shares;

        c->is_answering =
            ask_shares(c, features.v[i].type, features.v[i].text, &shares);
        if (c->is_answering) {
            add_row(c, rows, features.v[i].type, features.v[i].text, &shares);
        }
        count_breakdown_fini(&shares);
    }
    char *text = c->is_answering ? json_dumps(rows, JSON_COMPACT) : NULL;

    buf_add_str(ret, text != NULL ? text : "null");
    free(text);
    json_decref(rows);
}
