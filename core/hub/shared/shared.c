/* shared - the connection, and the turns of its parts. */
#include "core/hub/shared/shared.h"

#include <event2/event.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/size.h"
#include "core/hub/shared/shared_counts.h"
#include "core/hub/shared/shared_distinct.h"
#include "core/hub/shared/shared_lines.h"
#include "core/hub/shared/shared_objects.h"
#include "core/hub/shared/shared_verify.h"
#include "core/hub/shared/shared_view.h"
#include "core/hub/shared/shared_watch.h"

enum { SERVERS_MAX = REDIS_SERVERS_MAX, TURN_US = 250000, US_PER_S = 1000000 };
_Static_assert((int)STORE_SERVERS_MAX == (int)REDIS_SERVERS_MAX, "none is left out");
#define TROUBLE_US UINT64_C(60000000) /* between lines of one failure */
#define OPEN_US    UINT64_C(3000000)  /* after a tick the ring is taken for open */

struct shared {
    const struct config *config;
    struct node *node;
    struct redis *redis;
    struct event_base *base;
    struct shared_watch *watch;
    struct shared_verify *verify; /* the last one */
    uint64_t verify_job;
    struct shared_counts *counts; /* while the ring is open */
    struct shared_objects *objects;
    struct shared_lines *lines; /* NULL: its socket failed */
    char prefix[STORE_PREFIX_MAX + 1];
    uint64_t changes;   /* of the connection, as seen last */
    uint64_t ticked_us; /* clock_mono_us of the last tick; 0: the ring is closed */
    struct event *turn; /* several times a second */
    struct shared_view *view;
    struct shared_distinct *distinct;
};

/* ---- the connection ---- */

static const char *text_or_null(const char *text)
{
    return *text != '\0' ? text : NULL;
}

static struct redis_options options_of(const struct config_store *c,
                                       const char *servers[SERVERS_MAX])
{
    static const enum redis_kind kinds[] = {[STORE_SINGLE] = REDIS_SINGLE,
                                            [STORE_SENTINEL] = REDIS_SENTINEL,
                                            [STORE_CLUSTER] = REDIS_CLUSTER};
    struct redis_options o = {
        .kind = kinds[c->mode],
        .servers = servers,
        .nservers = c->servers.n < SERVERS_MAX ? c->servers.n : SERVERS_MAX,
        .master = c->master,
        .login = {c->user, text_or_null(c->password_file)},
        .sentinel_login = {c->sentinel_user, text_or_null(c->sentinel_password_file)},
        .has_tls = c->tls,
        .ca_file = text_or_null(c->tls_ca),
        .name = text_or_null(c->tls_name),
        .cert_file = text_or_null(c->tls_cert),
        .key_file = text_or_null(c->tls_key)};

    for (size_t i = 0; i < o.nservers; i++) {
        const char *address = c->servers.v[i];

        servers[i] = strncmp(address, "unix:", 5) == 0 ? address + 5 : address;
    }
    return o;
}

/* Counts that others ask for must be there within two seconds, so four times a second. */
static void on_turn(evutil_socket_t fd, short what, void *context)
{
    struct shared *s = context;

    (void)fd;
    (void)what;
    if (s->ticked_us == 0 || clock_mono_us() - s->ticked_us > OPEN_US) {
        return;
    }
    if (s->counts != NULL) {
        shared_counts_tick(s->counts);
    }
    shared_view_tick(s->view);
}

static bool own_of(void *context, uint64_t start_s, uint64_t key, uint64_t *ret)
{
    const struct shared *s = context;

    return s->counts != NULL && shared_counts_own(s->counts, start_s, key, ret);
}

static enum err make_parts(struct shared *s, struct event_base *base,
                           struct errinfo *reterr)
{
    static const struct timeval turn = {0, TURN_US};
    const struct shared_view_options view = {
        .shared = s, .own = own_of, .own_context = s};

    s->view = shared_view_new(&view);
    s->distinct = s->view == NULL ? NULL : shared_distinct_new(s, s->view);
    s->turn = event_new(base, -1, EV_PERSIST, on_turn, s);
    return s->distinct != NULL && s->turn != NULL && event_add(s->turn, &turn) == 0
               ? ERR_OK
               : errinfo_nomem(reterr, "store");
}

enum err shared_new(struct event_base *base, const struct config *config,
                    struct node *node, const struct exchange *exchange,
                    struct shared **ret, struct errinfo *reterr)
{
    const char *servers[SERVERS_MAX];
    const struct redis_options options = options_of(&config->store, servers);
    struct shared *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return errinfo_nomem(reterr, "store");
    }
    s->base = base;
    s->config = config;
    s->node = node;
    (void)snprintf(s->prefix, sizeof(s->prefix), "%s", config->store.prefix);
    enum err e = redis_new(base, &options, &s->redis, reterr);
    THEN(e, make_parts(s, base, reterr));
    THEN(e, shared_objects_new(s, exchange, &s->objects, reterr));
    if (e == ERR_OK) {
        s->watch = shared_watch_new(s->redis, s->prefix);
        e = s->watch != NULL ? ERR_OK : errinfo_nomem(reterr, "store");
    }
    if (e != ERR_OK) {
        shared_free(&s);
        return e;
    }
    struct errinfo why;
    if (shared_lines_new(base, s, &s->lines, &why) != ERR_OK) {
        log_errinfo("store_lines", &why);
    }
    *ret = s;
    return ERR_OK;
}

void shared_free(struct shared **s)
{
    if (*s != NULL) {
        shared_pause(*s);
        shared_lines_stop((*s)->lines);
        if ((*s)->turn != NULL) {
            event_free((*s)->turn);
        }
        redis_free(&(*s)->redis); /* first: it answers the open calls of the parts */
        shared_lines_free(&(*s)->lines);
        shared_watch_free(&(*s)->watch);
        shared_verify_free(&(*s)->verify);
        shared_objects_free(&(*s)->objects);
        shared_distinct_free(&(*s)->distinct);
        shared_view_free(&(*s)->view);
        free(*s);
        *s = NULL;
    }
}

void shared_renew(struct shared *s, const struct config *config)
{
    if (s != NULL) {
        s->config = config;
        if (s->counts != NULL) {
            shared_counts_set_spool(s->counts, config->store.spool);
        }
    }
}

/* ---- turns ---- */

/* Keys that all servers together are expected to count. */
static void plan_keys(const struct shared *s, struct shared_counts_options *o)
{
    struct count_size size;
    uint64_t nservers = 0;

    for (unsigned i = 0; i < s->node->manifest.nmembers; i++) {
        nservers += s->node->manifest.members[i].state == MEMBER_ACTIVE ? 1 : 0;
    }
    if (count_size_for(s->config->count.messages_per_day, &size) == ERR_OK) {
        o->bucket_keys = nservers * size.bucket_keys;
        o->day_keys = nservers * size.day_keys;
    }
}

static void open_counts(struct shared *s)
{
    static struct clock_pace pace;
    struct errinfo why = {.text = ""};
    struct shared_counts_options o = {.shared = s,
                                      .state_dir = s->node->state_dir,
                                      .keys = &s->node->keys,
                                      .origin = &s->node->self.origin,
                                      .spool = s->config->store.spool,
                                      .heard = shared_view_heard,
                                      .context = s->view};

    plan_keys(s, &o);
    if (shared_counts_new(&o, &s->counts, &why) != ERR_OK &&
        clock_take_turn(&pace, TROUBLE_US)) {
        log_errinfo("store", &why);
    }
}

/* A member that others know, with the ring's digest key: its keys mean the same as theirs. */
static bool is_of_ring(const struct shared *s)
{
    return node_self(s->node) != NULL &&
           manifest_has_ring_key(&s->node->manifest, s->node->keys.ring[0].id);
}

static void tick_counts(struct shared *s)
{
    if (!is_of_ring(s)) {
        return;
    }
    s->ticked_us = clock_mono_us();
    if (s->counts == NULL) {
        open_counts(s);
    }
    if (redis_changes(s->redis) != s->changes) {
        s->changes = redis_changes(s->redis);
        shared_distinct_doubt(s->distinct);
    }
    shared_distinct_tick(s->distinct);
}

void shared_tick(struct shared *s)
{
    struct shared_counts_status counts = {.state = SHARED_COUNTS_ASKING};

    if (s == NULL) {
        return;
    }
    tick_counts(s);
    if (s->counts != NULL) {
        shared_counts_status(s->counts, &counts);
    }
    shared_watch_tick(s->watch, counts.state == SHARED_COUNTS_REFUSED);
    shared_objects_tick(s->objects);
}

void shared_look(struct shared *s)
{
    if (s != NULL) {
        shared_watch_look(s->watch);
    }
}

void shared_pause(struct shared *s)
{
    if (s->verify != NULL) {
        shared_verify_stop(s->verify);
    }
    s->ticked_us = 0;
    if (s->counts != NULL && s->node->is_open && is_of_ring(s)) {
        shared_counts_flush(s->counts);
    }
    shared_counts_free(&s->counts);
    if (s->objects != NULL) {
        shared_objects_pause(s->objects);
    }
    if (s->view != NULL) {
        shared_view_pause(s->view);
    }
    if (s->distinct != NULL) {
        shared_distinct_pause(s->distinct);
    }
}

struct exchange_sources shared_source(const struct shared *s)
{
    return shared_objects_source(s->objects);
}

const struct shared_counts *shared_counts_of(const struct shared *s)
{
    return s->counts;
}

/* ---- comparing ---- */

enum err shared_check(struct shared *s, bool is_repair, uint64_t *retjob)
{
    if (s->verify != NULL && !shared_verify_is_done(s->verify)) {
        return ERR_LOCKED;
    }
    if (s->counts == NULL) {
        return ERR_NOT_FOUND;
    }
    if (is_repair) {
        shared_counts_doubt(s->counts);
    }
    shared_verify_free(&s->verify);
    s->verify = shared_verify_new(s->base, s, s->counts);
    *retjob = ++s->verify_job;
    return s->verify != NULL ? ERR_OK : ERR_NOMEM;
}

enum err shared_checked(const struct shared *s, uint64_t job, json_t **ret)
{
    if (s->verify == NULL || job != s->verify_job) {
        return ERR_NOT_FOUND;
    }
    if (!shared_verify_is_done(s->verify)) {
        return ERR_LOCKED;
    }
    *ret = shared_verify_report(s->verify);
    return ERR_OK;
}

/* ---- status ---- */

static void counts_status(const struct shared_counts *c,
                          struct shared_status_counts *ret)
{
    static const enum shared_flow flows[] = {
        [SHARED_COUNTS_ASKING] = SHARED_FLOW_ASKING,
        [SHARED_COUNTS_SENDING] = SHARED_FLOW_SENDING,
        [SHARED_COUNTS_WAITING] = SHARED_FLOW_WAITING,
        [SHARED_COUNTS_REFUSED] = SHARED_FLOW_REFUSED};
    struct shared_counts_status s;

    shared_counts_status(c, &s);
    *ret = (struct shared_status_counts){.flow = flows[s.state],
                                         .number = s.last,
                                         .lag_s = s.lag_s,
                                         .cells_behind = s.waiting,
                                         .spool_bytes = s.log_bytes,
                                         .spool_limit = s.log_max,
                                         .updates = s.sent,
                                         .batches = s.batches,
                                         .batches_repeated = s.repeated,
                                         .updates_lost = s.dropped,
                                         .incarnations = s.incarnations};
    memcpy(ret->why, s.why, sizeof(ret->why));
}

static void put_view_status(const struct shared_view *v, struct shared_status_view *ret)
{
    struct shared_view_status s;
    uint64_t age_us = 0;

    shared_view_status(v, &s);
    age_us = clock_mono_us() - s.answered_us;
    *ret = (struct shared_status_view){
        .answered_s = s.answered_us != 0 ? (clock_wall_us() - age_us) / US_PER_S : 0,
        .heard = s.heard,
        .hot_named = s.named,
        .hot_read = s.read,
        .histories = s.told};
}

static void put_objects_status(const struct shared_objects *o,
                               struct shared_status_objects *ret)
{
    struct shared_objects_status s;

    shared_objects_status(o, &s);
    *ret = (struct shared_status_objects){.is_current = s.is_current,
                                          .put = s.put,
                                          .put_again = s.put_again,
                                          .applied = s.applied,
                                          .missing = s.missing};
    for (unsigned i = 0; i < SYNC_RESULTS; i++) {
        ret->refused += s.refused[i];
    }
}

static void put_lines_status(const struct shared_lines *l,
                             struct shared_status_lines *ret)
{
    struct shared_lines_status s;

    shared_lines_status(l, &s);
    *ret = (struct shared_status_lines){.filters = s.filters,
                                        .complete = s.complete,
                                        .lines = s.lines,
                                        .cached = s.cached,
                                        .late = s.late,
                                        .lost = s.lost};
}

void shared_get_status(const struct shared *s, struct shared_status *ret)
{
    *ret = (struct shared_status){.watch = {.state = SHARED_NO_RING}};
    if (s == NULL) {
        return;
    }
    shared_watch_status(s->watch, &ret->watch);
    if (s->counts != NULL) {
        counts_status(s->counts, &ret->counts);
    }
    put_view_status(s->view, &ret->view);
    put_objects_status(s->objects, &ret->objects);
    put_lines_status(s->lines, &ret->lines);
    if (!s->node->is_open || s->node->manifest.kind != RING_OWN || !is_of_ring(s)) {
        ret->watch.state = SHARED_NO_RING;
    }
}

/* ---- names, and what the parts need ---- */

unsigned shared_cell_of(uint64_t key)
{
    return (unsigned)(key / (UINT64_MAX / SHARED_CELLS + 1));
}

struct shared_name shared_name(const struct shared *s, const char *tag,
                               const char *rest)
{
    struct shared_name name;

    (void)snprintf(name.text, sizeof(name.text), "%s{%s}%s", s->prefix, tag, rest);
    return name;
}

struct redis *shared_redis(struct shared *s)
{
    return s->redis;
}

struct node *shared_node(struct shared *s)
{
    return s->node;
}

const struct config *shared_config(const struct shared *s)
{
    return s->config;
}
