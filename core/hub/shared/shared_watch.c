#include "core/hub/shared/shared_watch.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/config/config.h"
#include "core/hub/shared/shared_info.h"

enum { US_PER_S = 1000000, US_PER_MS = 1000, DECIMAL = 10, KEY_MAX = 64 };

struct watched {
    struct shared_watch *watch;
    struct shared_server_status status; /* address "": free */
    struct shared_info info;
    bool is_master;       /* as the client sees it */
    bool is_known;        /* the client had it in this turn */
    bool wants_look;      /* at the next answer */
    unsigned nasked;      /* calls under way; the slot stays while there are any */
    uint64_t answered_us; /* clock_mono_us, as below */
    uint64_t look_us;     /* when the last look began; 0: never */
    uint64_t asked_wall_us;
};

struct shared_watch {
    struct redis *redis;
    char key[KEY_MAX]; /* for trials */
    struct watched slots[SHARED_SERVERS_MAX];
    enum shared_state state;
    uint64_t since_us; /* clock_wall_us */
};

const char *shared_state_name(enum shared_state state)
{
    static const char *const names[SHARED_STATES] = {
        [SHARED_NO_RING] = "no_ring", [SHARED_BEGINS] = "begins",
        [SHARED_UP] = "up",           [SHARED_PARTLY] = "partly",
        [SHARED_DOWN] = "down",       [SHARED_FULL] = "full",
    };

    return (unsigned)state < SHARED_STATES ? names[state] : "unknown";
}

struct shared_watch *shared_watch_new(struct redis *redis, const char *prefix)
{
    struct shared_watch *w = calloc(1, sizeof(*w));

    if (w != NULL) {
        w->redis = redis;
        (void)snprintf(w->key, sizeof(w->key), "%.*s{00}watch", (int)STORE_PREFIX_MAX,
                       prefix);
        w->state = SHARED_BEGINS;
        w->since_us = clock_wall_us();
    }
    return w;
}

void shared_watch_free(struct shared_watch **w)
{
    free(*w);
    *w = NULL;
}

/* ---- asking ---- */

/* k: of the client. A call that is refused is made again at the next turn. */
static void ask_server(struct watched *s, size_t k, const struct slice *args,
                       size_t nargs, redis_answer_fn *answer)
{
    const struct redis_call call = {.args = args,
                                    .nargs = nargs,
                                    .may_repeat = true,
                                    .answer = answer,
                                    .context = s};

    if (redis_call_server(s->watch->redis, k, &call) == ERR_OK) {
        s->nasked++;
    }
}

static void take_pong(void *context, const struct redis_answer *answer)
{
    struct watched *s = context;

    (void)answer; /* the client knows who answers */
    s->nasked--;
}

static void take_info(void *context, const struct redis_answer *answer)
{
    struct watched *s = context;
    const uint64_t now_us = clock_wall_us();

    s->nasked--;
    if (answer->fault != REDIS_FAULT_NONE) {
        s->wants_look = true;
        return;
    }
    if (answer->reply->nodes[0].kind == RESP_ERROR) {
        shared_info_copy(s->status.denied, sizeof(s->status.denied), SLICE_LIT("INFO"));
        return;
    }
    s->info.time_us = 0;
    shared_info_read(resp_text(answer->reply, 0), &s->status, &s->info);
    if (s->info.time_us > 0) { /* read in the middle of the way */
        s->status.clock_ms = ((int64_t)s->info.time_us - (int64_t)s->asked_wall_us / 2 -
                              (int64_t)now_us / 2) /
                             US_PER_MS;
    }
}

/* "hash-max-listpack-entries", or "hash-max-ziplist-entries" of servers before 7; "save". */
static void take_config(void *context, const struct redis_answer *answer)
{
    struct watched *s = context;
    const struct resp *reply = answer->reply;
    const char *const names[] = {"hash-max-listpack-entries",
                                 "hash-max-ziplist-entries"};

    s->nasked--;
    if (answer->fault != REDIS_FAULT_NONE || reply->nodes[0].kind == RESP_ERROR) {
        return; /* not known; the right is wanted by nothing else */
    }
    for (size_t i = LENGTH(names); i-- > 0;) {
        const size_t at = resp_value(reply, 0, names[i]);

        if (at > 0) {
            (void)slice_to_u64(resp_text(reply, at), DECIMAL, INT64_MAX,
                               &s->status.listpack_entries);
        }
    }
    const size_t save = resp_value(reply, 0, "save");
    if (save > 0 && resp_text(reply, save).n > 0) {
        s->status.is_persistent = SHARED_YES;
    }
}

/* "NOPERM this user has no permissions to run the 'xadd' command" */
static void take_trial(void *context, const struct redis_answer *answer)
{
    struct watched *s = context;
    const struct slice error =
        answer->fault == REDIS_FAULT_NONE && answer->reply->nodes[0].kind == RESP_ERROR
            ? resp_text(answer->reply, 0)
            : SLICE_NONE;

    s->nasked--;
    if (slice_has_prefix(error, SLICE_LIT("NOPERM"))) {
        shared_info_copy(s->status.denied, sizeof(s->status.denied), error);
    }
}

static const char *const trials[][6] = {
#define SHARED_TRIAL(...) {__VA_ARGS__},
#include "core/hub/shared/shared_trial.def"
#undef SHARED_TRIAL
};

static void try_rights(struct watched *s, size_t k)
{
    s->status.denied[0] = '\0';
    for (size_t i = 0; i < LENGTH(trials); i++) {
        struct slice args[LENGTH(trials[0])];
        size_t n = 0;

        for (; n < LENGTH(args) && trials[i][n] != NULL; n++) {
            args[n] = slice_str(strcmp(trials[i][n], "@") == 0 ? s->watch->key
                                                               : trials[i][n]);
        }
        ask_server(s, k, args, n, take_trial);
    }
}

static void look(struct watched *s, size_t k, bool is_sentinel)
{
    const struct slice info[] = {SLICE_LIT("INFO")};
    const struct slice packed[] = {SLICE_LIT("CONFIG"), SLICE_LIT("GET"),
                                   SLICE_LIT("hash-max-*-entries")};
    const struct slice save[] = {SLICE_LIT("CONFIG"), SLICE_LIT("GET"),
                                 SLICE_LIT("save")};

    s->look_us = clock_mono_us();
    s->asked_wall_us = clock_wall_us();
    s->wants_look = false;
    if (s->is_master) {
        try_rights(s, k);
    }
    ask_server(s, k, info, LENGTH(info), take_info);
    if (!is_sentinel) {
        ask_server(s, k, packed, LENGTH(packed), take_config);
        ask_server(s, k, save, LENGTH(save), take_config);
    }
}

/* ---- turns ---- */

/* NULL: no room. */
static struct watched *slot_of(struct shared_watch *w, const char *address)
{
    struct watched *unused = NULL;

    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        struct watched *s = &w->slots[i];

        if (strcmp(s->status.address, address) == 0) {
            return s;
        }
        if (unused == NULL && s->status.address[0] == '\0') {
            unused = s;
        }
    }
    if (unused != NULL) {
        *unused = (struct watched){.watch = w, .wants_look = true};
        (void)snprintf(unused->status.address, sizeof(unused->status.address), "%s",
                       address);
    }
    return unused;
}

static void take_server(struct shared_watch *w, const struct redis_server *r, size_t k)
{
    const struct slice ping[] = {SLICE_LIT("PING")};
    struct watched *s = slot_of(w, r->address);
    const uint64_t now_us = clock_mono_us();

    if (s == NULL) {
        return;
    }
    s->is_known = true;
    s->is_master = r->is_master;
    if (r->fault != REDIS_FAULT_NONE) {
        s->wants_look = true; /* it may be another server that answers next */
    }
    s->status.fault = r->fault;
    (void)snprintf(s->status.why, sizeof(s->status.why), "%s",
                   r->fault != REDIS_FAULT_NONE ? r->why : "");
    s->answered_us = r->answered_us;
    if (s->nasked > 0) {
        return;
    }
    if (s->wants_look || now_us >= s->look_us + (uint64_t)SHARED_LOOK_S * US_PER_S) {
        look(s, k, r->is_sentinel);
    } else if (now_us >= s->answered_us + (uint64_t)SHARED_PING_S * US_PER_S) {
        ask_server(s, k, ping, LENGTH(ping), take_pong);
    }
}

static void forget_others(struct shared_watch *w)
{
    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        struct watched *s = &w->slots[i];

        if (!s->is_known && s->nasked == 0) {
            s->status.address[0] = '\0';
        }
        s->is_known = false;
    }
}

/* ---- the state ---- */

static bool takes_no_writes(const struct watched *s)
{
    return s->is_master && (s->status.can_write == SHARED_NO ||
                            (s->status.memory_limit > 0 &&
                             s->status.memory_bytes >= s->status.memory_limit));
}

static enum shared_state state_of_store(const struct shared_watch *w, bool is_full)
{
    struct redis_server r;
    size_t nmasters = 0;
    size_t nanswer = 0;
    bool has_fault = false;

    for (size_t k = 0; redis_server(w->redis, k, &r); k++) {
        nmasters += r.is_master;
        nanswer += r.is_master && r.fault == REDIS_FAULT_NONE && r.answered_us > 0;
        has_fault = has_fault || r.fault != REDIS_FAULT_NONE;
    }
    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        is_full = is_full || (w->slots[i].status.address[0] != '\0' &&
                              takes_no_writes(&w->slots[i]));
    }
    if (nanswer == 0) {
        return w->state == SHARED_BEGINS && !has_fault ? SHARED_BEGINS : SHARED_DOWN;
    }
    return nanswer < nmasters ? SHARED_PARTLY : is_full ? SHARED_FULL : SHARED_UP;
}

static void set_state(struct shared_watch *w, enum shared_state state)
{
    if (state == w->state) {
        return;
    }
    w->state = state;
    w->since_us = clock_wall_us();
    if (state == SHARED_UP) {
        log_info("event=store state=up");
    } else {
        log_warn("event=store state=%s: `gillnet store status` says more",
                 shared_state_name(state));
    }
}

void shared_watch_tick(struct shared_watch *w, bool is_full)
{
    struct redis_server r;

    for (size_t k = 0; redis_server(w->redis, k, &r); k++) {
        take_server(w, &r, k);
    }
    forget_others(w);
    set_state(w, state_of_store(w, is_full));
}

void shared_watch_look(struct shared_watch *w)
{
    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        w->slots[i].wants_look = true;
    }
}

/* ---- showing ---- */

/* One server by its name and by its number: the master's address stays. */
static bool is_shown_already(const struct shared_watch *w, size_t at)
{
    const struct watched *s = &w->slots[at];

    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        const struct watched *other = &w->slots[i];

        if (i != at && other->status.address[0] != '\0' && s->info.run_id[0] != '\0' &&
            strcmp(s->info.run_id, other->info.run_id) == 0 &&
            (other->is_master != s->is_master ? other->is_master : i < at)) {
            return true;
        }
    }
    return false;
}

static uint64_t wall_s(uint64_t mono_us)
{
    const uint64_t age_us = clock_mono_us() - mono_us;

    return mono_us > 0 ? (clock_wall_us() - age_us) / US_PER_S : 0;
}

void shared_watch_status(const struct shared_watch *w, struct shared_watch_status *ret)
{
    *ret = (struct shared_watch_status){.state = w->state,
                                        .since_s = w->since_us / US_PER_S,
                                        .bytes_in = redis_traffic(w->redis).in,
                                        .bytes_out = redis_traffic(w->redis).out};
    for (size_t i = 0; i < SHARED_SERVERS_MAX; i++) {
        const struct watched *s = &w->slots[i];

        if (s->status.address[0] != '\0' && !is_shown_already(w, i)) {
            ret->servers[ret->nservers] = s->status;
            ret->servers[ret->nservers].answered_s = wall_s(s->answered_us);
            if (s->is_master) { /* before the first INFO, and right after a failover */
                ret->servers[ret->nservers].role = SHARED_MASTER;
            }
            ret->nservers++;
        }
    }
}
