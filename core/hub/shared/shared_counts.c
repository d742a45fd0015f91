/* shared_counts - what gillnetd counts, followed each second, and the state of it all. */
#include "core/hub/shared/shared_counts.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/count/distinct_log.h"
#include "core/hub/shared/shared_counts_internal.h"

enum { US_PER_S = 1000000 };
/* After a lost connection or a change of masters all cells are asked each second for so long: a
 * replica may have become a master that did not have the last batches. */
#define DOUBT_US UINT64_C(6000000)

const char *shared_counts_state_name(enum shared_counts_state state)
{
    static const char *const names[] = {[SHARED_COUNTS_ASKING] = "asking",
                                        [SHARED_COUNTS_SENDING] = "sending",
                                        [SHARED_COUNTS_WAITING] = "waiting",
                                        [SHARED_COUNTS_REFUSED] = "refused"};

    return names[state];
}

/* ---- life ---- */

enum err shared_counts_new(const struct shared_counts_options *options,
                           struct shared_counts **ret, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    struct shared_counts *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return errinfo_nomem(reterr, options->state_dir);
    }
    c->o = *options;
    c->origin = *options->origin;
    LIST_INIT(&c->calls);
    LIST_INIT(&c->parked);
    struct shared_writer_options w = {
        .log = {.dir = dir, .key_id = options->keys->ring[0].id},
        .spool = options->spool,
        .port = {c, counts_ask, counts_add}};
    memcpy(w.log.origin, c->origin.b, sizeof(w.log.origin));
    enum err e = path_make(dir, reterr, "%s/peers/shared", options->state_dir);
    THEN(e, follow_open(options->state_dir, options->keys, &c->follow, reterr));
    THEN(e, shared_writer_new(&w, &c->writer, reterr));
    if (e != ERR_OK) {
        shared_counts_free(&c);
        return e;
    }
    *ret = c;
    return ERR_OK;
}

void shared_counts_free(struct shared_counts **c)
{
    if (*c != NULL) {
        counts_forget_calls(*c);
        follow_close(&(*c)->follow);
        shared_writer_free(&(*c)->writer);
        free(*c);
        *c = NULL;
    }
}

void shared_counts_set_spool(struct shared_counts *c, uint64_t spool)
{
    c->o.spool = spool;
    shared_writer_set_spool(c->writer, spool);
}

/* ---- each second ---- */

static struct shared_now now_of_clock(void)
{
    return (struct shared_now){clock_wall_us() / US_PER_S, clock_mono_us()};
}

static void tell_trouble(struct shared_counts *c, enum err e, const struct errinfo *why)
{
    if (e == ERR_OK) {
        c->trouble[0] = '\0';
    } else if (strcmp(c->trouble, why->text) != 0) {
        (void)snprintf(c->trouble, sizeof(c->trouble), "%s", why->text);
        log_errinfo("store", why);
    }
}

enum err shared_counts_report(struct shared_counts *c, const struct shared_report *r,
                              struct errinfo *reterr)
{
    return shared_writer_report(c->writer, r, now_of_clock(), reterr);
}

/* One look at gillnetd's counts. */
struct counts_look {
    struct shared_counts *c;
    struct errinfo *reterr;
};

/* Numbers of distinct members, and pairs, are not added up over servers (shared_distinct.h). */
static enum err take_report(void *context, uint64_t start_s,
                            const struct run_record *totals, size_t n, bool is_complete)
{
    const struct counts_look *look = context;
    struct run_record *v = calloc(n + 1, sizeof(v[0]));
    struct shared_report r = {start_s, v, 0, is_complete};

    if (v == NULL) {
        return errinfo_nomem(look->reterr, "store");
    }
    for (size_t i = 0; i < n; i++) {
        if (!count_is_member_key(totals[i].key)) {
            v[r.n++] = totals[i];
        }
    }
    enum err e = shared_counts_report(look->c, &r, look->reterr);
    free(v);
    return e;
}

static void doubt_after_change(struct shared_counts *c, uint64_t now_us)
{
    const uint64_t changes = redis_changes(shared_redis(c->o.shared));

    if (changes != c->changes) {
        c->changes = changes;
        c->doubt_until_us = now_us + DOUBT_US;
    }
    if (now_us < c->doubt_until_us) {
        shared_writer_doubt(c->writer);
    }
}

static void tell_repeated(struct shared_counts *c)
{
    struct shared_writer_status w;

    shared_writer_status(c->writer, &w);
    if (w.repeated > c->repeated) {
        log_info("event=store state=again batches=%" PRIu64
                 ": the store lost them, or answers about them, and gets them again",
                 w.repeated - c->repeated);
    }
    c->repeated = w.repeated;
}

static void take_turn(struct shared_counts *c, bool all)
{
    struct errinfo why = {.text = ""};
    const struct shared_now now = now_of_clock();

    struct counts_look look = {c, &why};
    enum err e = follow_look(c->follow, now.wall_s, take_report, &look, &why);
    e = e == ERR_NOT_FOUND ? ERR_OK : e; /* gillnetd has not counted here yet */
    doubt_after_change(c, now.mono_us);
    const enum err ticked =
        shared_writer_tick(c->writer, now, all, e == ERR_OK ? &why : NULL);
    tell_trouble(c, e == ERR_OK ? ticked : e, &why);
    tell_repeated(c);
}

void shared_counts_tick(struct shared_counts *c)
{
    take_turn(c, false);
}

void shared_counts_flush(struct shared_counts *c)
{
    take_turn(c, true);
}

bool shared_counts_own(const struct shared_counts *c, uint64_t start_s, uint64_t key,
                       uint64_t *ret)
{
    return shared_writer_own(c->writer, start_s, key, ret);
}

/* ---- status ---- */

void shared_counts_status(const struct shared_counts *c,
                          struct shared_counts_status *ret)
{
    struct shared_writer_status w;
    const uint64_t now_us = clock_mono_us();

    shared_writer_status(c->writer, &w);
    *ret = (struct shared_counts_status){
        .state = w.is_asking && c->state == SHARED_COUNTS_SENDING ? SHARED_COUNTS_ASKING
                                                                  : c->state,
        .inc = w.inc,
        .last = w.last,
        .log_bytes = w.log_bytes,
        .log_max = c->o.spool,
        .lag_s = w.since_us != 0 && now_us > w.since_us
                     ? (now_us - w.since_us) / US_PER_S
                     : 0,
        .waiting = w.waiting,
        .sent = c->sent,
        .batches = c->batches,
        .repeated = w.repeated,
        .dropped = w.dropped,
        .incarnations = w.incarnations,
        .answered_us = c->answered_us};
    memcpy(ret->why, c->why, sizeof(ret->why));
}

/* ---- for gillnet store verify and repair ---- */

void shared_counts_who(const struct shared_counts *c, uint8_t ret[SHARED_WHO_BYTES])
{
    uint64_t inc = shared_writer_inc(c->writer);

    memcpy(ret, c->origin.b, OBJECT_ID_BYTES);
    for (unsigned i = SHARED_WHO_BYTES; i-- > OBJECT_ID_BYTES; inc >>= 8) {
        ret[i] = (uint8_t)inc; /* big endian */
    }
}

bool shared_counts_position(const struct shared_counts *c, unsigned cell, uint64_t *ret)
{
    return shared_writer_position(c->writer, cell, ret);
}

uint64_t shared_counts_bucket(const struct shared_counts *c, size_t k)
{
    return shared_writer_bucket(c->writer, k);
}

enum err shared_counts_read(struct shared_counts *c, const struct shared_reading *r,
                            bool *retall, struct errinfo *reterr)
{
    return shared_writer_read(c->writer, r, retall, reterr);
}

void shared_counts_doubt(struct shared_counts *c)
{
    shared_writer_doubt(c->writer);
}
