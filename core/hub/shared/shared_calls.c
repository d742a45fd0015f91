/* shared_calls - questions and batches as scripts of the store, and what their answers say. */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/count/count.h"
#include "core/hub/shared/shared_counts_internal.h"
#include "core/hub/shared/shared_scripts.h"

enum {
    PARTS_MAX = 40000, /* of one opening, which blocks the store for 40 ms then */
    PART_FIELDS = 250, /* planned; up to 512 the store keeps a hash packed */
    PLAN_SHARE =
        4, /* the plan counts with this part where the bucket before says less */
    NONCE_HEX = 8,
    CALL_STEPS_MAX = 12, /* openings for one batch */
    OPENING_MAX = 4,     /* batches that open at a time */
    TAG_MAX = 3,
    REST_MAX = 80,
    NUMBER_TEXT = 24,
    WIDE_TOTAL = 255,
    POSITION_BYTES = 16,
    DECIMAL = 10,
    ANCHOR_KEEP_S = 20 * SHARED_DAY_S
};

/* Hashes of a bucket or a day, as the anchor has them. */
struct opening {
    char kind; /* 't' or 'd' */
    bool is_due;
    uint64_t start_s;
    uint64_t before; /* counters of the one before; UINT64_MAX: unknown */
    unsigned nparts;
    char nonce[NONCE_HEX + 1];
};

struct counts_call {
    LIST_ENTRY(counts_call) in_calls;
    struct shared_counts *c; /* NULL: nobody listens */
    unsigned cell;
    uint64_t inc;
    /* of a batch */
    bool is_batch;
    bool is_opening;  /* it is its turn */
    bool must_repair; /* the parts as they were opened are not all there */
    unsigned steps;
    uint64_t number;
    uint64_t start_s;
    uint64_t *keys;
    size_t n;
    struct buf message;
    struct opening windows[2];
};

/* ---- life ---- */

static struct counts_call *new_counts_call(struct shared_counts *c, unsigned cell,
                                           uint64_t inc)
{
    struct counts_call *call = calloc(1, sizeof(*call));

    if (call != NULL) {
        call->c = c;
        call->cell = cell;
        call->inc = inc;
        buf_init(&call->message, SIZE_MAX / 2);
        LIST_INSERT_HEAD(&c->calls, call, in_calls);
    }
    return call;
}

static void end_call(struct counts_call *call)
{
    if (call->c != NULL) {
        call->c->nopening -= call->is_opening ? 1 : 0;
        LIST_REMOVE(call, in_calls);
    }
    buf_fini(&call->message);
    free(call->keys);
    free(call);
}

void counts_forget_calls(struct shared_counts *c)
{
    struct counts_call *call = NULL;

    while ((call = LIST_FIRST(&c->calls)) != NULL) {
        LIST_REMOVE(call, in_calls);
        call->c = NULL;
    }
    while ((call = LIST_FIRST(&c->parked)) != NULL) { /* nobody answers them */
        LIST_REMOVE(call, in_calls);
        call->c = NULL;
        end_call(call);
    }
}

/* ---- names ---- */

static struct shared_name name_in_cell(const struct counts_call *call, const char *rest)
{
    char tag[TAG_MAX];

    (void)snprintf(tag, sizeof(tag), "%02x", call->cell);
    return shared_name(call->c->o.shared, tag, rest);
}

/* ---- failures ---- */

static void set_state(struct shared_counts *c, enum shared_counts_state state,
                      const char *why)
{
    if (state != c->state) {
        log_warn("event=store state=%s error=\"%s\"", shared_counts_state_name(state),
                 why);
    }
    c->state = state;
    (void)snprintf(c->why, sizeof(c->why), "%s", why);
}

/* Ends the call: nothing is known of the cell now. */
static void lose_call(struct counts_call *call, enum shared_counts_state state,
                      const char *why)
{
    struct shared_counts *c = call->c;
    const struct counts_call copy = *call;

    end_call(call);
    set_state(c, state, why);
    shared_writer_lost(c->writer, copy.cell, copy.inc, copy.is_batch);
}

/* The text of an error for people: one line, without quotes. */
static void error_text(const struct resp *reply, char ret[REDIS_TEXT_MAX])
{
    const struct slice text = reply->nodes[0].kind == RESP_ERROR
                                  ? resp_text(reply, 0)
                                  : SLICE_LIT("an answer of another form");
    size_t n = 0;

    for (size_t i = 0; i < text.n && n + 1 < REDIS_TEXT_MAX; i++) {
        const char c = text.p[i];

        ret[n++] = (char)(c >= ' ' && c < '\x7f' && c != '"' ? c : '?');
    }
    ret[n] = '\0';
}

static void note_good(struct shared_counts *c)
{
    c->answered_us = clock_mono_us();
    if (c->state != SHARED_COUNTS_SENDING) {
        log_info("event=store state=sending");
        c->state = SHARED_COUNTS_SENDING;
        c->why[0] = '\0';
    }
}

/* A good answer, or else the call has ended. */
static bool take_text(struct counts_call *call, const struct redis_answer *a,
                      struct slice *ret)
{
    char why[REDIS_TEXT_MAX];

    if (a->fault != REDIS_FAULT_NONE) {
        lose_call(call, SHARED_COUNTS_WAITING, a->why);
        return false;
    }
    if (a->reply->nodes[0].kind != RESP_TEXT) {
        error_text(a->reply, why);
        lose_call(call, SHARED_COUNTS_REFUSED, why);
        return false;
    }
    *ret = resp_text(a->reply, 0);
    return true;
}

/* ---- positions ---- */

static void take_positions(void *context, const struct redis_answer *a)
{
    struct counts_call *call = context;
    struct slice text = SLICE_NONE;
    uint64_t newest = 0;
    uint64_t position = 0;

    if (call->c == NULL) {
        end_call(call);
        return;
    }
    if (!take_text(call, a, &text)) {
        return;
    }
    while (text.n >= POSITION_BYTES) {
        const uint64_t inc = script_take_number(&text, sizeof(inc));
        const uint64_t number = script_take_number(&text, sizeof(number));

        newest = inc > newest ? inc : newest;
        position = inc == call->inc ? number : position;
    }
    struct shared_counts *c = call->c;
    const struct counts_call copy = *call;
    end_call(call);
    c->answered_us = clock_mono_us();
    if (c->state !=
        SHARED_COUNTS_REFUSED) { /* a batch tells whether it takes them again */
        note_good(c);
    }
    shared_writer_told(c->writer, copy.cell, copy.inc, newest, position);
}

bool counts_ask(void *context, unsigned cell, uint64_t inc)
{
    struct shared_counts *c = context;
    struct counts_call *call = new_counts_call(c, cell, inc);

    if (call == NULL) {
        return false;
    }
    const struct shared_name anchor = name_in_cell(call, "");
    const struct slice key = slice_str(anchor.text);
    const struct slice origin = slice_of(c->origin.b, sizeof(c->origin.b));
    const struct shared_script_call s = {.keys = &key,
                                         .nkeys = 1,
                                         .args = &origin,
                                         .nargs = 1,
                                         .may_repeat = true,
                                         .answer = take_positions,
                                         .context = call};
    if (shared_script_run(shared_redis(c->o.shared), SHARED_SCRIPT_POSITIONS, &s) !=
        ERR_OK) {
        end_call(call);
        return false;
    }
    return true;
}

/* ---- opening ---- */

static bool send_batch(struct counts_call *call);
static bool open_next(struct counts_call *call);

/* So many that a part stays packed, for a third more than the bucket before had. */
static unsigned parts_for(const struct counts_call *call, const struct opening *o)
{
    const uint64_t day = call->c->o.day_keys / SHARED_CELLS;
    const uint64_t bucket = call->c->o.bucket_keys / SHARED_CELLS;
    const uint64_t plan = o->kind == 't' ? bucket : day;
    uint64_t want = o->before == UINT64_MAX ? plan : o->before + o->before / 3;

    want = want > plan / PLAN_SHARE ? want : plan / PLAN_SHARE;
    want = want / PART_FIELDS + 1;
    return want < PARTS_MAX ? (unsigned)want : PARTS_MAX;
}

static void make_nonce(struct opening *o)
{
    uint32_t noise = 0;

    random_bytes(&noise, sizeof(noise));
    (void)snprintf(o->nonce, sizeof(o->nonce), "%08" PRIx32, noise);
}

/* "PARTS:NONCE" */
static bool read_opening(struct slice text, struct opening *o)
{
    const struct slice digits = slice_cut(&text, ':');
    uint64_t n = 0;

    if (!slice_to_u64(digits, DECIMAL, PARTS_MAX, &n) || n == 0 ||
        text.n != NONCE_HEX) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (hex_digit_value(text.p[i]) < 0) {
            return false;
        }
    }
    o->nparts = (unsigned)n;
    memcpy(o->nonce, text.p, NONCE_HEX);
    return true;
}

static bool is_as_proposed(struct slice text, const struct opening *o)
{
    struct opening has = *o;

    return read_opening(text, &has) && has.nparts == o->nparts &&
           memcmp(has.nonce, o->nonce, NONCE_HEX) == 0;
}

/* What is open otherwise is taken as it is, and repaired if parts of it were missing. */
static void go_on_from(struct counts_call *call, const struct redis_answer *a)
{
    struct slice text = SLICE_NONE;

    if (!take_text(call, a, &text)) {
        return;
    }
    struct opening *o = &call->windows[call->windows[0].is_due ? 0 : 1];
    if (is_as_proposed(text, o)) {
        o->is_due = false;
    } else if (!read_opening(text, o)) {
        lose_call(call, SHARED_COUNTS_REFUSED,
                  "an anchor in the store has a bucket that is not understood");
        return;
    } else {
        o->is_due = call->must_repair;
    }
    if (!open_next(call)) {
        lose_call(call, SHARED_COUNTS_WAITING, "too many open calls");
    }
}

/* Each server begins with another cell. */
static struct counts_call *next_parked(const struct shared_counts *c)
{
    struct counts_call *best = NULL;
    struct counts_call *call = NULL;
    unsigned nearest = SHARED_CELLS;

    LIST_FOREACH(call, &c->parked, in_calls)
    {
        const unsigned distance = (call->cell + c->origin.b[0]) % SHARED_CELLS;

        if (distance < nearest) {
            nearest = distance;
            best = call;
        }
    }
    return best;
}

/* All servers find a new bucket closed at the same time. The names of its parts are long, and the
 * store does nothing else while it makes them. So few batches at a time open, and each asks once
 * more whether another server did it meanwhile. */
static void release_parked(struct shared_counts *c)
{
    struct counts_call *call = NULL;

    while (c->nopening < OPENING_MAX && (call = next_parked(c)) != NULL) {
        LIST_REMOVE(call, in_calls);
        LIST_INSERT_HEAD(&c->calls, call, in_calls);
        call->is_opening = true;
        c->nopening++;
        if (!send_batch(call)) {
            lose_call(call, SHARED_COUNTS_WAITING, "too many open calls");
        }
    }
}

static void park_call(struct counts_call *call)
{
    for (size_t w = 0; w < LENGTH(call->windows); w++) {
        call->windows[w].is_due = false;
    }
    LIST_REMOVE(call, in_calls);
    LIST_INSERT_HEAD(&call->c->parked, call, in_calls);
}

static void take_opening(void *context, const struct redis_answer *a)
{
    struct counts_call *call = context;
    struct shared_counts *c = call->c;

    if (c == NULL) {
        end_call(call);
        return;
    }
    go_on_from(call, a);
    release_parked(c);
}

static bool run_opening(struct counts_call *call, const struct opening *o)
{
    struct shared_name *names = calloc(o->nparts + 1, sizeof(*names));
    struct slice *keys = calloc(o->nparts + 1, sizeof(*keys));
    char kind[2] = {o->kind, '\0'};
    char start[NUMBER_TEXT];
    char ends[NUMBER_TEXT];
    char anchor_ends[NUMBER_TEXT];
    const uint64_t keep_s = o->kind == 't'
                                ? COUNT_BUCKET_S + (uint64_t)SHARED_BUCKET_KEEP_S
                                : SHARED_DAY_S + (uint64_t)SHARED_DAY_KEEP_S;
    enum err e = names != NULL && keys != NULL ? ERR_OK : ERR_NOMEM;

    for (unsigned i = 0; e == ERR_OK && i <= o->nparts; i++) {
        char rest[REST_MAX] = "";

        if (i > 0) {
            (void)snprintf(rest, sizeof(rest), "%c:%" PRIu64 ":%s:%u", o->kind,
                           o->start_s, o->nonce, i - 1);
        }
        names[i] = name_in_cell(call, rest);
        keys[i] = slice_str(names[i].text);
    }
    (void)snprintf(start, sizeof(start), "%" PRIu64, o->start_s);
    (void)snprintf(ends, sizeof(ends), "%" PRIu64, o->start_s + keep_s);
    (void)snprintf(anchor_ends, sizeof(anchor_ends), "%" PRIu64,
                   clock_wall_us() / 1000000 + ANCHOR_KEEP_S);
    const struct slice args[] = {slice_str(kind), slice_str(start), slice_str(o->nonce),
                                 slice_str(ends), slice_str(anchor_ends)};
    const struct shared_script_call s = {.keys = keys,
                                         .nkeys = o->nparts + 1,
                                         .args = args,
                                         .nargs = LENGTH(args),
                                         .may_repeat = true,
                                         .answer = take_opening,
                                         .context = call};
    THEN(e, shared_script_run(shared_redis(call->c->o.shared), SHARED_SCRIPT_OPEN, &s));
    free(names);
    free(keys);
    return e == ERR_OK;
}

/* The next thing that the batch needs: an opening, or to be sent. */
static bool open_next(struct counts_call *call)
{
    if (++call->steps > CALL_STEPS_MAX) {
        return false;
    }
    for (size_t w = 0; w < LENGTH(call->windows); w++) {
        if (call->windows[w].is_due) {
            return run_opening(call, &call->windows[w]);
        }
    }
    return send_batch(call);
}

static void propose(struct counts_call *call, struct opening *o)
{
    o->is_due = true;
    o->nparts = parts_for(call, o);
    make_nonce(o);
}

/* ---- batches ---- */

/* "NOTOPEN KIND N" */
static bool read_not_open(struct counts_call *call, struct slice error)
{
    uint64_t before = UINT64_MAX;

    if (!slice_eq(slice_cut(&error, ' '), SLICE_LIT("NOTOPEN"))) {
        return false;
    }
    const struct slice kind = slice_cut(&error, ' ');
    struct opening *o = &call->windows[slice_eq(kind, SLICE_LIT("d")) ? 1 : 0];
    (void)slice_to_u64(error, DECIMAL, UINT64_MAX / 2, &before);
    o->before = before;
    propose(call, o);
    return true;
}

/* A part is not where the anchor is: it is moving, or it was lost. The opening names all of them,
 * so the server has them wait for the move, and makes what was lost. */
static bool read_not_whole(struct counts_call *call, struct slice error)
{
    if (!slice_has_prefix(error, SLICE_LIT("NOTWHOLE")) &&
        slice_find_slice(error, SLICE_LIT("non local key")) == error.n) {
        return false;
    }
    call->must_repair = true;
    for (size_t w = 0; w < LENGTH(call->windows); w++) {
        if (call->windows[w].start_s != 0) {
            propose(call, &call->windows[w]);
        }
    }
    return true;
}

static uint64_t take_total(struct slice *text)
{
    const uint64_t first = script_take_number(text, 1);

    return first < WIDE_TOTAL ? first : script_take_number(text, 4);
}

static void hear_totals(struct shared_counts *c, const struct counts_call *call,
                        struct slice text)
{
    const bool has_bucket = call->windows[0].start_s != 0;

    for (size_t i = 0; i < call->n && text.n >= 2; i++) {
        const uint64_t bucket = take_total(&text);
        const uint64_t day = take_total(&text);
        uint64_t own = 0;

        if (has_bucket &&
            shared_writer_learn(c->writer, call->start_s, call->keys[i], bucket,
                                &own) &&
            c->o.heard != NULL) {
            c->o.heard(c->o.context, call->start_s, call->keys[i], own, bucket, day);
        }
    }
}

static void go_on_after(struct counts_call *call, const struct redis_answer *a)
{
    struct slice text = SLICE_NONE;

    if (a->fault == REDIS_FAULT_NONE && a->reply->nodes[0].kind == RESP_ERROR) {
        const struct slice error = resp_text(a->reply, 0);

        if (read_not_open(call, error) || read_not_whole(call, error)) {
            if (!call->is_opening) {
                park_call(call);
            } else if (!open_next(call)) {
                lose_call(call, SHARED_COUNTS_REFUSED,
                          "parts of a bucket are missing in the store");
            }
            return;
        }
    }
    if (!take_text(call, a, &text)) {
        return;
    }
    struct shared_counts *c = call->c;
    const uint64_t position = script_take_number(&text, sizeof(position));
    note_good(c);
    if (shared_writer_added(c->writer, call->cell, call->inc, call->number, position)) {
        c->sent += call->n;
        c->batches++;
        hear_totals(c, call, text);
    }
    end_call(call);
}

static void take_batch(void *context, const struct redis_answer *a)
{
    struct counts_call *call = context;
    struct shared_counts *c = call->c;

    if (c == NULL) {
        end_call(call);
        return;
    }
    go_on_after(call, a);
    release_parked(c);
}

static bool send_batch(struct counts_call *call)
{
    const struct shared_name anchor = name_in_cell(call, "");
    const struct slice key = slice_str(anchor.text);
    const struct slice message = buf_slice(&call->message);
    const struct shared_script_call s = {.keys = &key,
                                         .nkeys = 1,
                                         .args = &message,
                                         .nargs = 1,
                                         .may_repeat = true,
                                         .answer = take_batch,
                                         .context = call};

    return shared_script_run(shared_redis(call->c->o.shared), SHARED_SCRIPT_ADD, &s) ==
           ERR_OK;
}

static bool fill_batch(struct counts_call *call, const struct shared_batch *b)
{
    struct buf *m = &call->message;
    const uint64_t day_s = b->start_s - b->start_s % SHARED_DAY_S;
    const uint64_t bucket_s = b->is_old ? 0 : b->start_s;

    call->is_batch = true;
    call->number = b->number;
    call->start_s = b->start_s;
    call->n = b->n;
    call->windows[0] =
        (struct opening){.kind = 't', .start_s = bucket_s, .before = UINT64_MAX};
    call->windows[1] =
        (struct opening){.kind = 'd', .start_s = day_s, .before = UINT64_MAX};
    call->keys = malloc(b->n * sizeof(*call->keys));
    buf_add(m, slice_of(call->c->origin.b, sizeof(call->c->origin.b)));
    script_add_number(m, b->inc, 8);
    script_add_number(m, b->expected, 8);
    script_add_number(m, b->number, 8);
    script_add_number(m, bucket_s, 4);
    script_add_number(m, day_s, 4);
    for (size_t i = 0; call->keys != NULL && i < b->n; i++) {
        call->keys[i] = b->v[i].key;
        script_add_number(m, b->v[i].key, 8);
        script_add_number(m, b->v[i].count, 2);
    }
    return call->keys != NULL && !buf_failed(m);
}

bool counts_add(void *context, unsigned cell, const struct shared_batch *batch)
{
    struct counts_call *call = new_counts_call(context, cell, batch->inc);

    if (call == NULL) {
        return false;
    }
    if (!fill_batch(call, batch) || !send_batch(call)) {
        end_call(call);
        return false;
    }
    return true;
}
