/* shared_view - answers of the store about keys, into the file of totals. */
#include "core/hub/shared/shared_view.h"

#include "core/base/clock.h"
#include "core/base/cursor.h"
#include "core/base/log.h"
#include "core/count/distinct_log.h"
#include "core/count/shared_totals.h"
#include "core/hub/shared/shared_past.h"

enum {
    US_PER_S = 1000000,
    ITEM_BYTES = 20,
    ENTRIES_READ = 256, /* of the stream, in one answer */
    ID_MAX = 48,
    BACK_MS = 60000,     /* that the stream is read back from, at the start */
    OUTAGE_US = 2000000, /* without an answer: others may have missed something */
    AFTER_US = 60000000, /* that all is named again after it */
    PACE_US = 10000000,  /* after which the step is looked at again */
    DAY_BUCKETS = COUNT_DAY_BUCKETS
};

/* A key for the stream. */
struct hot {
    uint64_t key;
    uint32_t bucket;
    uint32_t in_bucket;
    uint32_t in_day;
};

/* A key with a total that others do not know. */
struct settling {
    uint64_t key;
    uint64_t at_us;
};

struct shared_view {
    struct shared_view_options o;
    struct shared_totals *totals; /* NULL: closed */
    bool is_in_trouble;           /* with the file, and it was said */
    struct shared_past *past;
    struct hot *hot;
    size_t nhot;
    struct hot *named; /* those of the open call, to be named again if it fails */
    size_t nnamed;
    struct settling
        *settling; /* in the order of time, from `settled` on, modulo its size */
    uint64_t settled;
    uint64_t settling_end;
    bool is_naming;       /* a call that writes to the stream is open */
    bool is_reading;      /* a call that reads it is */
    char last[ID_MAX];    /* entry of the stream that was read; "": none */
    uint64_t catch_up_us; /* until then all hot keys are named */
    uint64_t paced_us;    /* when the step was looked at, */
    uint64_t paced;       /* and how many keys had been named until then */
    struct shared_view_status status;
};

/* ---- life ---- */

static void take_past(void *context, uint64_t key, const struct count_history *h);

struct shared_view *shared_view_new(const struct shared_view_options *options)
{
    struct shared_view *v = calloc(1, sizeof(*v));

    if (v == NULL) {
        return NULL;
    }
    v->o = *options;
    v->status.step = SHARED_STEP_LEAST;
    v->hot = calloc(SHARED_HOT_KEYS, sizeof(v->hot[0]));
    v->named = calloc(SHARED_HOT_KEYS, sizeof(v->named[0]));
    v->settling = calloc(SHARED_SETTLING, sizeof(v->settling[0]));
    v->past = shared_past_new(options->shared, take_past, v);
    if (v->hot == NULL || v->named == NULL || v->settling == NULL || v->past == NULL) {
        shared_view_free(&v);
    }
    return v;
}

void shared_view_free(struct shared_view **v)
{
    if (*v != NULL) {
        shared_view_pause(*v);
        shared_past_free(&(*v)->past);
        free((*v)->hot);
        free((*v)->named);
        free((*v)->settling);
        free(*v);
        *v = NULL;
    }
}

void shared_view_pause(struct shared_view *v)
{
    shared_totals_close(&v->totals);
    v->nhot = 0;
    v->nnamed = 0;
    v->settled = v->settling_end;
}

static void open_totals(struct shared_view *v)
{
    const struct config *config = shared_config(v->o.shared);
    const struct node *node = shared_node(v->o.shared);
    struct errinfo why;
    enum err e = shared_totals_make(node->state_dir,
                                    shared_totals_sets(config->count.messages_per_day),
                                    node->keys.ring[0].id, &v->totals, &why);

    if (e != ERR_OK && !v->is_in_trouble) {
        log_errinfo("store", &why);
    }
    v->is_in_trouble = e != ERR_OK;
}

/* ---- entries ---- */

static uint64_t own_of(const struct shared_view *v, uint64_t bucket, uint64_t key)
{
    uint64_t own = 0;

    return v->o.own != NULL && !count_is_member_key(key) &&
                   v->o.own(v->o.own_context, bucket * COUNT_BUCKET_S, key, &own)
               ? own
               : SHARED_OWN_UNKNOWN;
}

static void put_total(struct shared_view *v, struct shared_total *t)
{
    t->heard_s = (uint32_t)(clock_wall_us() / US_PER_S);
    shared_totals_put(v->totals, t);
    if (!count_is_member_key(t->key) && shared_total_wants_history(t)) {
        shared_past_want(v->past, t->key);
    }
}

static void take_past(void *context, uint64_t key, const struct count_history *h)
{
    struct shared_view *v = context;
    struct shared_total t;

    if (v->totals == NULL) {
        return;
    }
    (void)shared_totals_find(v->totals, key, &t);
    shared_total_set_history(&t, h);
    t.own = (uint32_t)own_of(v, t.bucket, key);
    t.heard_s = (uint32_t)(clock_wall_us() / US_PER_S);
    shared_totals_put(v->totals, &t);
    v->status.told++;
}

/* ---- naming keys ---- */

static uint32_t clamp32(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Returns by how much a total must grow to be named again. */
static uint64_t step_of(const struct shared_view *v, uint64_t told)
{
    int step = v->status.step;

    return step >= 0 ? told >> step : told << -step;
}

static bool is_worth_naming(const struct shared_view *v, const struct shared_total *t,
                            uint64_t bucket, uint64_t in_day)
{
    bool is_of_today = bucket / DAY_BUCKETS == t->bucket / DAY_BUCKETS;
    uint64_t least = count_is_member_key(t->key) ? SHARED_HOT_NUMBER : SHARED_HOT;

    if (in_day < least || v->nhot == SHARED_HOT_KEYS) {
        return false;
    }
    if (!is_of_today || t->told == 0) {
        return true;
    }
    return in_day > t->told && (in_day - t->told >= step_of(v, t->told) ||
                                clock_mono_us() < v->catch_up_us);
}

static uint32_t unix_time(void)
{
    return (uint32_t)(clock_wall_us() / US_PER_S);
}

static void name_total(struct shared_view *v, struct shared_total *t, uint64_t bucket,
                       uint64_t in_bucket, uint64_t in_day)
{
    v->hot[v->nhot++] =
        (struct hot){t->key, clamp32(bucket), clamp32(in_bucket), clamp32(in_day)};
    if (bucket / DAY_BUCKETS == t->bucket / DAY_BUCKETS) {
        t->told = clamp32(in_day);
        t->told_s = unix_time();
    }
}

static void let_settle(struct shared_view *v, uint64_t key)
{
    if (v->settling_end - v->settled < SHARED_SETTLING) {
        v->settling[v->settling_end++ % SHARED_SETTLING] =
            (struct settling){key, clock_mono_us()};
    }
}

/* Names t's totals to all servers if they have grown by a step; else later. */
static void name_if_worth(struct shared_view *v, struct shared_total *t,
                          uint64_t bucket, uint64_t in_bucket, uint64_t in_day)
{
    if (is_worth_naming(v, t, bucket, in_day)) {
        name_total(v, t, bucket, in_bucket, in_day);
    } else if (t->told > 0 && in_day > t->told) {
        let_settle(v, t->key);
    }
}

/* Names a key if its step did not come. A key that was named since it began to wait waits again. */
static void name_waiting(struct shared_view *v, uint64_t key)
{
    struct shared_total t;

    if (v->status.step != SHARED_STEP_LEAST ||
        !shared_totals_find(v->totals, key, &t) || t.day[0] <= t.told) {
        return;
    }
    if (unix_time() - t.told_s < SHARED_SETTLE_S) {
        let_settle(v, key);
        return;
    }
    name_total(v, &t, t.bucket, t.ten[0], t.day[0]);
    shared_totals_put(v->totals, &t);
}

static void name_settled(struct shared_view *v)
{
    uint64_t now_us = clock_mono_us();

    while (v->settled < v->settling_end && v->nhot < SHARED_HOT_KEYS) {
        const struct settling s = v->settling[v->settled % SHARED_SETTLING];

        if (now_us - s.at_us < SHARED_SETTLE_S * (uint64_t)US_PER_S) {
            return;
        }
        v->settled++;
        name_waiting(v, s.key);
    }
}

void shared_view_heard(void *view, uint64_t start_s, uint64_t key, uint64_t own,
                       uint64_t bucket_total, uint64_t day_total)
{
    struct shared_view *v = view;
    uint64_t bucket = start_s / COUNT_BUCKET_S;
    struct shared_total t;

    if (v->totals == NULL || count_is_member_key(key) || day_total < 2) {
        return; /* only we have seen it */
    }
    (void)shared_totals_find(v->totals, key, &t);
    shared_total_set(&t, bucket, own, bucket_total, day_total);
    name_if_worth(v, &t, bucket, bucket_total, day_total);
    put_total(v, &t);
    v->status.heard++;
}

void shared_view_number(struct shared_view *v, uint64_t number, uint64_t members)
{
    uint64_t now = clock_wall_us() / US_PER_S / COUNT_BUCKET_S;
    struct shared_total t;

    if (v->totals == NULL) {
        return;
    }
    (void)shared_totals_find(v->totals, number, &t);
    shared_total_set(&t, now, SHARED_OWN_UNKNOWN, 0, members);
    name_if_worth(v, &t, now, 0, members);
    put_total(v, &t);
}

uint64_t shared_view_today(const struct shared_view *v, uint64_t key)
{
    uint64_t today = clock_wall_us() / US_PER_S / COUNT_DAY_S;
    struct shared_total t;

    return v->totals != NULL && shared_totals_find(v->totals, key, &t) &&
                   t.bucket / DAY_BUCKETS == today
               ? t.day[0]
               : 0;
}

static void on_named(void *context, const struct redis_answer *a)
{
    struct shared_view *v = context;
    size_t room = SHARED_HOT_KEYS - v->nhot;
    size_t n = v->nnamed < room ? v->nnamed : room;

    v->is_naming = false;
    if (a->fault != REDIS_FAULT_NONE || a->reply->nodes[0].kind == RESP_ERROR) {
        memcpy(v->hot + v->nhot, v->named, n * sizeof(v->hot[0]));
        v->nhot += n;
    }
    v->nnamed = 0;
}

static unsigned servers_of(const struct node *node)
{
    unsigned n = 0;

    for (unsigned i = 0; i < node->manifest.nmembers; i++) {
        n += node->manifest.members[i].state == MEMBER_ACTIVE;
    }
    return n > 0 ? n : 1;
}

/* Each server has an equal share of SHARED_NAMED_A_SECOND. */
static void set_pace(struct shared_view *v)
{
    uint64_t now_us = clock_mono_us();
    uint64_t most = (uint64_t)SHARED_NAMED_A_SECOND * (PACE_US / US_PER_S) /
                    servers_of(shared_node(v->o.shared));
    uint64_t n = v->status.named - v->paced;

    if (now_us - v->paced_us < PACE_US) {
        return;
    }
    if (n > most && v->status.step > SHARED_STEP_MOST) {
        v->status.step--;
    } else if (n < most / 4 && v->status.step < SHARED_STEP_LEAST) {
        v->status.step++;
    }
    v->paced_us = now_us;
    v->paced = v->status.named;
}

static void name_keys(struct shared_view *v)
{
    struct buf bytes;
    char length[16];
    const struct shared_name name = shared_name(v->o.shared, "hot", "");

    if (v->nhot == 0 || v->is_naming) {
        return;
    }
    buf_init(&bytes, (size_t)SHARED_HOT_KEYS * ITEM_BYTES);
    for (size_t i = 0; i < v->nhot; i++) {
        buf_add_u64(&bytes, v->hot[i].key);
        buf_add_u32(&bytes, v->hot[i].bucket);
        buf_add_u32(&bytes, v->hot[i].in_bucket);
        buf_add_u32(&bytes, v->hot[i].in_day);
    }
    (void)snprintf(length, sizeof(length), "%d", SHARED_STREAM_LENGTH);
    const struct slice args[] = {SLICE_LIT("XADD"),   slice_str(name.text),
                                 SLICE_LIT("MAXLEN"), SLICE_LIT("~"),
                                 slice_str(length),   SLICE_LIT("*"),
                                 SLICE_LIT("h"),      buf_slice(&bytes)};
    const struct redis_call call = {.key = args[1],
                                    .args = args,
                                    .nargs = LENGTH(args),
                                    .may_repeat = true,
                                    .answer = on_named,
                                    .context = v};
    if (!buf_failed(&bytes)) {
        v->is_naming = redis_call(shared_redis(v->o.shared), &call) == ERR_OK;
    }
    if (v->is_naming) {
        struct hot *sent = v->hot;
        v->hot = v->named;
        v->named = sent;
        v->nnamed = v->nhot;
        v->status.named += v->nhot;
        v->nhot = 0;
    }
    buf_fini(&bytes);
}

/* ---- reading the stream ---- */

static void take_named(struct shared_view *v, struct cursor *c)
{
    uint64_t key = cursor_u64(c);
    uint64_t bucket = cursor_u32(c);
    uint64_t in_bucket = cursor_u32(c);
    uint64_t in_day = cursor_u32(c);
    uint64_t now = clock_wall_us() / US_PER_S / COUNT_BUCKET_S;
    struct shared_total t;

    /* a bucket of the future would hide those before it */
    if (!cursor_ok(c) || bucket > now + 1 || bucket + DAY_BUCKETS < now) {
        return;
    }
    (void)shared_totals_find(v->totals, key, &t);
    shared_total_set(&t, bucket, own_of(v, bucket, key), in_bucket, in_day);
    if (bucket / DAY_BUCKETS == t.bucket / DAY_BUCKETS && in_day > t.told) {
        t.told = clamp32(in_day);
        t.told_s = unix_time();
    }
    put_total(v, &t);
    v->status.read++;
}

/* [ID, [FIELD, VALUE, ...]] */
static void take_entry(struct shared_view *v, const struct resp *r, size_t node)
{
    struct slice id = resp_text(r, resp_below(r, node, 0));
    size_t fields = resp_below(r, node, 1);
    size_t value = fields == 0 ? 0 : resp_value(r, fields, "h");
    struct cursor c = cursor_of(value == 0 ? SLICE_NONE : resp_text(r, value));

    if (id.n == 0 || id.n >= ID_MAX) {
        return;
    }
    memcpy(v->last, id.p, id.n);
    v->last[id.n] = '\0';
    while (c.rest.n >= ITEM_BYTES) {
        take_named(v, &c);
    }
}

/* The entries of the one stream in an answer to XREAD; 0: none. RESP3 has a map. */
static size_t entries_of(const struct resp *r)
{
    if (r->nodes[0].kind == RESP_MAP) {
        return resp_below(r, 0, 1);
    }
    size_t stream = r->nodes[0].kind == RESP_ARRAY ? resp_below(r, 0, 0) : 0;
    return stream == 0 ? 0 : resp_below(r, stream, 1);
}

static void note_answer(struct shared_view *v)
{
    uint64_t now_us = clock_mono_us();

    if (v->status.answered_us != 0 && now_us - v->status.answered_us > OUTAGE_US) {
        v->catch_up_us = now_us + AFTER_US;
    }
    v->status.answered_us = now_us;
    shared_totals_beat(v->totals, clock_wall_us() / US_PER_S);
}

static void on_stream_read(void *context, const struct redis_answer *a)
{
    struct shared_view *v = context;

    v->is_reading = false;
    if (v->totals == NULL || a->fault != REDIS_FAULT_NONE || a->reply == NULL ||
        a->reply->nodes[0].kind == RESP_ERROR) {
        return;
    }
    size_t entries = entries_of(a->reply);
    size_t n = entries == 0 ? 0 : (size_t)a->reply->nodes[entries].number;
    for (size_t i = 0; i < n; i++) {
        take_entry(v, a->reply, resp_below(a->reply, entries, i));
    }
    note_answer(v);
}

static void read_stream(struct shared_view *v)
{
    const struct shared_name name = shared_name(v->o.shared, "hot", "");
    char count[16];

    if (v->is_reading) {
        return;
    }
    if (v->last[0] == '\0') { /* ids begin with the store's time in milliseconds */
        (void)snprintf(v->last, sizeof(v->last), "%llu-0",
                       (unsigned long long)(clock_wall_us() / 1000 - BACK_MS));
    }
    (void)snprintf(count, sizeof(count), "%d", ENTRIES_READ);
    const struct slice args[] = {SLICE_LIT("XREAD"),   SLICE_LIT("COUNT"),
                                 slice_str(count),     SLICE_LIT("STREAMS"),
                                 slice_str(name.text), slice_str(v->last)};
    const struct redis_call call = {.key = args[4],
                                    .args = args,
                                    .nargs = LENGTH(args),
                                    .may_repeat = true,
                                    .answer = on_stream_read,
                                    .context = v};
    v->is_reading = redis_call(shared_redis(v->o.shared), &call) == ERR_OK;
}

/* ---- turns ---- */

void shared_view_tick(struct shared_view *v)
{
    if (v->totals == NULL) {
        open_totals(v);
    }
    if (v->totals != NULL) {
        set_pace(v);
        name_settled(v);
        name_keys(v);
        read_stream(v);
        shared_past_ask(v->past, clock_wall_us() / US_PER_S / COUNT_BUCKET_S);
    }
}

void shared_view_status(const struct shared_view *v, struct shared_view_status *ret)
{
    *ret = v->status;
    ret->is_open = v->totals != NULL;
    ret->asked = shared_past_asked(v->past);
}
