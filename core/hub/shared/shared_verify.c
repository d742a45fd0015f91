#include "core/hub/shared/shared_verify.h"

#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/base/random.h"
#include "core/hub/shared/shared_info.h"
#include "core/hub/shared/shared_scripts.h"
#include "core/hub/shared/shared_verify_internal.h"
#include "core/hub/shared/shared_writer.h"

enum {
    TURN_US = 20 * 1000,
    US_PER_S = 1000000,
    RECORDS_A_TURN = 32,
    CELLS_AT_ONCE = 8,
    FINDINGS_MAX = 100,
    FAILURES_MAX = 8,
    TEXT_MAX = 240,
    TAG_MAX = 3,
    KEY_BYTES = 8,
    POSITION_BYTES = 8,
    TOTAL_BYTES = 4,
    BYTE_BITS = 8,
    NUMBER_MAX = 24,
    DECIMAL = 10,
    BUCKET_NEW_S =
        23 * 3600, /* younger ones are in ten-minute hashes, whenever they were sent */
    LOG_BUCKETS_MAX = 4096
};

struct verify_call {
    struct shared_verify *v;
    unsigned cell;
    size_t first; /* of v->keys */
    size_t n;
};

/* ---- findings ---- */

static void add_finding(struct shared_verify *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_finding(struct shared_verify *v, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (json_array_size(v->findings) < FINDINGS_MAX) {
        (void)json_array_append_new(
            v->findings, json_pack("{s:s, s:s}", "type", "finding", "text", text));
    }
}

/* ---- questions ---- */

static bool ask_cell(struct shared_verify *v, enum shared_script script,
                     const struct verify_call *what, const struct slice *args,
                     size_t nargs, redis_answer_fn *answer)
{
    char tag[TAG_MAX];
    struct verify_call *call = malloc(sizeof(*call));

    if (call == NULL) {
        return false;
    }
    *call = *what;
    (void)snprintf(tag, sizeof(tag), "%02x", what->cell);
    const struct shared_name name = shared_name(v->shared, tag, "");
    const struct slice anchor = slice_str(name.text);
    const struct shared_script_call s = {.keys = &anchor,
                                         .nkeys = 1,
                                         .args = args,
                                         .nargs = nargs,
                                         .may_repeat = true,
                                         .answer = answer,
                                         .context = call};
    if (shared_script_run(shared_redis(v->shared), script, &s) != ERR_OK) {
        free(call);
        return false;
    }
    v->nasked++;
    return true;
}

/* Of a call that has its answer. False: there is none that tells anything. */
static bool is_answer(struct verify_call *call, const struct redis_answer *a)
{
    struct shared_verify *v = call->v;
    char why[TEXT_MAX] = "";

    v->nasked--;
    if (a->fault != REDIS_FAULT_NONE) {
        shared_info_copy(why, sizeof(why), slice_str(a->why));
    } else if (a->reply->nodes[0].kind == RESP_ERROR) {
        shared_info_copy(why, sizeof(why), resp_text(a->reply, 0));
    }
    if (why[0] != '\0') {
        v->sum.failed++;
        add_finding(v, "cell %02x cannot be compared: %.160s", call->cell, why);
    }
    return why[0] == '\0';
}

static uint64_t take_big(struct slice *s, unsigned nbytes)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < nbytes && s->n > 0; i++) {
        n = n << BYTE_BITS | (uint8_t)*s->p;
        *s = slice_from(*s, 1);
    }
    return n;
}

/* ---- cells ---- */

static uint64_t number_below(const struct resp *r, size_t k)
{
    const size_t at = resp_below(r, 0, k);

    return at > 0 && r->nodes[at].kind == RESP_INTEGER && r->nodes[at].number > 0
               ? (uint64_t)r->nodes[at].number
               : 0;
}

static void take_cell(struct shared_verify *v, unsigned cell, const struct resp *r)
{
    const size_t position_at = resp_below(r, 0, 0);
    const size_t names_at = resp_below(r, 0, 5);
    const uint64_t gone = number_below(r, 2);
    uint64_t position = 0;
    uint64_t known = 0;
    char names[TEXT_MAX];

    (void)slice_to_u64(resp_text(r, position_at), DECIMAL, UINT64_MAX, &position);
    v->sum.cells++;
    v->sum.parts += number_below(r, 1);
    v->sum.gone += gone;
    v->sum.endless += number_below(r, 3);
    if (number_below(r, 4) > v->sum.largest) {
        v->sum.largest = number_below(r, 4);
    }
    if (shared_counts_position(v->counts, cell, &known) && position < known) {
        v->sum.behind++;
        add_finding(v,
                    "cell %02x stands at record %" PRIu64 ", and %" PRIu64
                    " was acknowledged: what is missing is sent again",
                    cell, position, known);
    }
    if (gone > 0) {
        shared_info_copy(names, sizeof(names), resp_text(r, names_at));
        add_finding(v, "cell %02x lacks %" PRIu64 " parts of its buckets: %.120s", cell,
                    gone, names);
    }
}

/* Those of another ring have the same names for other keys. Asked of one cell: all have the same
 * servers. */
static void look_for_strangers(struct shared_verify *v, struct slice origins)
{
    const struct node *node = shared_node(v->shared);
    char hex[2 * OBJECT_ID_BYTES + 1];
    struct object_id origin;

    for (; origins.n >= OBJECT_ID_BYTES;
         origins = slice_from(origins, OBJECT_ID_BYTES)) {
        memcpy(origin.b, origins.p, OBJECT_ID_BYTES);
        if (manifest_find(&node->manifest, &origin) == NULL) {
            hex_print(origin.b, OBJECT_ID_BYTES, hex);
            v->sum.strangers++;
            add_finding(
                v,
                "server %s has counts under the prefix \"%s\" and is no member of "
                "this ring: does another ring use the same store.prefix?",
                hex, shared_config(v->shared)->store.prefix);
        }
    }
}

static void on_cell(void *context, const struct redis_answer *a)
{
    struct verify_call *call = context;

    if (is_answer(call, a) && call->v->counts != NULL) {
        take_cell(call->v, call->cell, a->reply);
        if (call->cell == 0) {
            look_for_strangers(call->v,
                               resp_text(a->reply, resp_below(a->reply, 0, 6)));
        }
    }
    free(call);
}

static void ask_cells(struct shared_verify *v)
{
    uint8_t who[SHARED_WHO_BYTES];
    char seed[NUMBER_MAX];
    char now[NUMBER_MAX];
    char parts[NUMBER_MAX];

    shared_counts_who(v->counts, who);
    (void)snprintf(seed, sizeof(seed), "%u", (unsigned)(v->salt % UINT16_MAX));
    (void)snprintf(now, sizeof(now), "%" PRIu64, clock_wall_us() / US_PER_S);
    (void)snprintf(parts, sizeof(parts), "%d", (int)SHARED_VERIFY_PARTS);
    const struct slice args[] = {slice_of(who, sizeof(who)), slice_str(seed),
                                 slice_str(now), slice_str(parts)};
    while (v->next_cell < SHARED_CELLS && v->nasked < CELLS_AT_ONCE) {
        const struct verify_call call = {.v = v, .cell = v->next_cell};

        if (!ask_cell(v, SHARED_SCRIPT_CHECK, &call, args, LENGTH(args), on_cell)) {
            return; /* at the next turn */
        }
        v->next_cell++;
    }
}

/* ---- buckets of the log ---- */

static void choose_buckets(struct shared_verify *v)
{
    const uint64_t now_s = clock_wall_us() / US_PER_S;
    uint64_t all[LOG_BUCKETS_MAX] = {0};
    size_t n = 0;

    for (size_t k = 0; n < LOG_BUCKETS_MAX; k++) {
        const uint64_t start_s = shared_counts_bucket(v->counts, k);

        if (start_s == 0) {
            break;
        }
        if (start_s + BUCKET_NEW_S > now_s && (n == 0 || all[n - 1] != start_s)) {
            all[n++] = start_s;
        }
    }
    while (n > 0 && v->nbuckets < SHARED_VERIFY_BUCKETS) {
        uint64_t any = 0;

        random_bytes(&any, sizeof(any));
        const size_t at = v->nbuckets < 2 ? n - 1 : (size_t)(any % n);
        v->buckets[v->nbuckets++] = all[at];
        memmove(all + at, all + at + 1, (n - at - 1) * sizeof(all[0]));
        n--;
    }
}

typedef void pairs_fn(void *context, uint64_t number, const struct run_record *pairs,
                      size_t n);
/* Some records more of the bucket. True: it was the last piece. */
static bool read_records(struct shared_verify *v, pairs_fn *fn)
{
    const struct shared_reading r = {.start_s = v->buckets[v->bucket],
                                     .after = v->after,
                                     .most = RECORDS_A_TURN,
                                     .fn = fn,
                                     .context = v};
    struct errinfo why = {.text = ""};
    bool is_whole = false;
    enum err e = shared_counts_read(v->counts, &r, &is_whole, &why);

    if (e != ERR_OK) {
        v->sum.failed++;
        add_finding(v, "the log cannot be read: %.160s", why.text);
    }
    return e != ERR_OK || is_whole;
}

/* ---- keys ---- */

static void on_totals(void *context, const struct redis_answer *a)
{
    struct verify_call *call = context;
    struct shared_verify *v = call->v;
    struct slice bytes = SLICE_NONE;

    if (is_answer(call, a)) {
        bytes = resp_text(a->reply, 0);
    }
    if (bytes.n >= POSITION_BYTES && v->counts != NULL) {
        v->positions[call->cell] = take_big(&bytes, POSITION_BYTES);
        for (size_t i = call->first; i < call->first + call->n; i++) {
            v->keys[i].total =
                take_big(&bytes, TOTAL_BYTES); /* none: the bucket is gone */
            v->keys[i].is_answered = true;
        }
    }
    free(call);
}

static bool ask_totals(struct shared_verify *v, const struct verify_call *call)
{
    uint8_t who[SHARED_WHO_BYTES];
    char start[NUMBER_MAX];
    struct buf keys;

    shared_counts_who(v->counts, who);
    (void)snprintf(start, sizeof(start), "%" PRIu64, v->buckets[v->bucket]);
    buf_init(&keys, (size_t)SHARED_VERIFY_KEYS * KEY_BYTES);
    for (size_t i = call->first; i < call->first + call->n; i++) {
        for (unsigned b = KEY_BYTES; b-- > 0;) {
            buf_add_u8(&keys, (uint8_t)(v->keys[i].key >> (b * BYTE_BITS)));
        }
    }
    const struct slice args[] = {slice_of(who, sizeof(who)), SLICE_LIT("t"),
                                 slice_str(start), buf_slice(&keys)};
    const bool is_asked = !buf_failed(&keys) && ask_cell(v, SHARED_SCRIPT_TOTALS, call,
                                                         args, LENGTH(args), on_totals);
    buf_fini(&keys);
    return is_asked;
}

/* Keys of one cell stand together. next_cell: the first one that was not asked. */
static void ask_keys(struct shared_verify *v)
{
    size_t at = 0;

    while (at < v->nkeys && v->nasked < CELLS_AT_ONCE) {
        struct verify_call call = {
            .v = v, .cell = shared_cell_of(v->keys[at].key), .first = at};

        while (at < v->nkeys && shared_cell_of(v->keys[at].key) == call.cell) {
            at++;
        }
        call.n = at - call.first;
        if (call.cell < v->next_cell) {
            continue;
        }
        if (!ask_totals(v, &call)) {
            return;
        }
        v->next_cell = call.cell + 1;
    }
    if (at == v->nkeys) {
        v->next_cell = SHARED_CELLS;
    }
}

static void compare_keys(struct shared_verify *v)
{
    uint64_t low = 0;
    uint64_t lacking = 0;

    for (size_t i = 0; i < v->nkeys; i++) {
        const struct verify_key *k = &v->keys[i];

        v->sum.keys += k->is_answered;
        if (k->is_answered && k->total < k->own) {
            low++;
            lacking += k->own - k->total;
        }
    }
    v->sum.low += low;
    v->sum.lacking += lacking;
    if (low > 0) {
        add_finding(v,
                    "bucket %" PRIu64 ": %" PRIu64
                    " of %zu keys have less than this server "
                    "added, by %" PRIu64 " in all",
                    v->buckets[v->bucket], low, v->nkeys, lacking);
    }
}

/* ---- turns ---- */

static void begin_bucket(struct shared_verify *v)
{
    v->nkeys = 0;
    v->share = 1;
    v->after = 0;
    v->next_cell = 0;
    memset(v->positions, 0, sizeof(v->positions));
    v->stage = v->bucket < v->nbuckets ? STAGE_CHOOSE : STAGE_DONE;
}

static void take_step(struct shared_verify *v)
{
    switch (v->stage) {
    case STAGE_CELLS:
        ask_cells(v);
        if (v->next_cell == SHARED_CELLS && v->nasked == 0) {
            choose_buckets(v);
            begin_bucket(v);
        }
        break;
    case STAGE_CHOOSE:
        if (read_records(v, verify_choose)) {
            v->stage = STAGE_ASK;
        }
        break;
    case STAGE_ASK:
        ask_keys(v);
        if (v->next_cell == SHARED_CELLS && v->nasked == 0) {
            v->after = 0;
            v->stage = STAGE_ADD;
        }
        break;
    case STAGE_ADD:
        if (read_records(v, verify_add_own)) {
            compare_keys(v);
            v->bucket++;
            begin_bucket(v);
        }
        break;
    case STAGE_DONE:
        break;
    }
}

static void end(struct shared_verify *v, const char *why)
{
    v->sum.failed++;
    add_finding(v, "%s", why);
    v->stage = STAGE_DONE;
}

static void on_turn(evutil_socket_t fd, short what, void *context)
{
    struct shared_verify *v = context;

    (void)fd;
    (void)what;
    if (v->stage != STAGE_DONE && v->counts == NULL) {
        end(v, "it was stopped: a command held the ring's files; try again");
    } else if (v->stage != STAGE_DONE &&
               (v->sum.failed >= FAILURES_MAX || clock_mono_us() > v->until_us)) {
        end(v, "it was stopped: the store does not answer in time");
    }
    take_step(v);
    if (shared_verify_is_done(v)) {
        (void)event_del(v->timer);
    }
}

struct shared_verify *shared_verify_new(struct event_base *base, struct shared *shared,
                                        struct shared_counts *counts)
{
    const struct timeval turn = {.tv_usec = TURN_US};
    struct shared_verify *v = calloc(1, sizeof(*v));

    if (v == NULL) {
        return NULL;
    }
    v->shared = shared;
    v->counts = counts;
    v->until_us = clock_mono_us() + (uint64_t)SHARED_VERIFY_S * US_PER_S;
    v->findings = json_array();
    random_bytes(&v->salt, sizeof(v->salt));
    v->timer = event_new(base, -1, EV_PERSIST, on_turn, v);
    if (v->findings == NULL || v->timer == NULL || event_add(v->timer, &turn) != 0) {
        shared_verify_free(&v);
    }
    return v;
}

void shared_verify_stop(struct shared_verify *v)
{
    v->counts = NULL;
}

void shared_verify_free(struct shared_verify **v)
{
    if (*v != NULL) {
        if ((*v)->timer != NULL) {
            event_free((*v)->timer);
        }
        json_decref((*v)->findings);
        free(*v);
        *v = NULL;
    }
}

bool shared_verify_is_done(const struct shared_verify *v)
{
    return v->stage == STAGE_DONE && v->nasked == 0;
}

json_t *shared_verify_report(const struct shared_verify *v)
{
    json_t *rows = json_array();

    (void)json_array_append_new(
        rows,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                  "type", "summary", "cells", (json_int_t)v->sum.cells, "cells_behind",
                  (json_int_t)v->sum.behind, "parts", (json_int_t)v->sum.parts,
                  "parts_missing", (json_int_t)v->sum.gone, "parts_endless",
                  (json_int_t)v->sum.endless, "largest_part",
                  (json_int_t)v->sum.largest, "buckets", (json_int_t)v->nbuckets,
                  "keys", (json_int_t)v->sum.keys, "keys_low", (json_int_t)v->sum.low,
                  "lacking", (json_int_t)v->sum.lacking, "strangers",
                  (json_int_t)v->sum.strangers, "failed", (json_int_t)v->sum.failed));
    (void)json_array_extend(rows, v->findings);
    return rows;
}
