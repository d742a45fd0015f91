/* hub_status - the hub's answers about itself and its peers. */
#include <jansson.h>

#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/hub/main/hub_internal.h"
#include "core/hub/status/status_headline.h"
#include "core/summary/summary_json.h"

void hub_answer_ping(void *context, struct buf *ret)
{
    const struct hub *h = context;

    buf_printf(ret, "ok gillnet-hub %s pid=%ld ring=%s config=%08x\n", GILLNET_VERSION,
               (long)getpid(),
               h->is_paused      ? "paused"
               : h->node.is_open ? "open"
                                 : "none",
               (unsigned)h->config_id);
    if (h->nrestart_keys > 0) {
        buf_printf(ret, "restart %s\n", h->restart_keys);
    }
}

/* The hub's own numbers, in the order in which they are shown. */
static json_t *numbers(const struct hub *h)
{
    const struct peer_server_stats *s = peer_server_stats(h->server);
    const struct {
        const char *name;
        uint64_t v;
    } rows[] = {{"uptime", (clock_mono_us() - h->start_us) / 1000000},
                {"connections", s->http.accepted},
                {"connections_open", s->http.open},
                {"connections_refused", s->http.refused},
                {"connections_evicted", s->http.evicted},
                {"handshakes_refused", s->refused_handshake},
                {"requests", s->requests},
                {"requests_refused", s->refused_requests},
                {"requests_held", s->held},
                {"timeouts", s->http.timeouts},
                {"bytes_out", s->http.bytes_out},
                {"counts_published", count_publisher_published(h->counts)},
                {"config_id", h->config_id},
                {"config_restart_keys", h->nrestart_keys}};
    json_t *all = json_object();

    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)json_object_set_new(all, rows[i].name,
                                  json_integer((json_int_t)rows[i].v));
    }
    return all;
}

void hub_answer_stat(void *context, struct buf *ret)
{
    json_t *all = numbers(context);
    const char *name = NULL;
    json_t *v = NULL;

    buf_printf(ret, "ok gillnet-hub %s\n", GILLNET_VERSION);
    json_object_foreach(all, name, v)
    {
        buf_printf(ret, "%s %" JSON_INTEGER_FORMAT "\n", name, json_integer_value(v));
    }
    json_decref(all);
}

static const char *state_name(enum member_state s)
{
    switch (s) {
    case MEMBER_ACTIVE:
        return "active";
    case MEMBER_LEFT:
        return "left";
    case MEMBER_DROPPED:
        break;
    }
    return "dropped";
}

static void put_number(json_t *to, const char *name, uint64_t v)
{
    (void)json_object_set_new(to, name, json_integer((json_int_t)v));
}

void hub_add_lines(struct buf *ret, json_t *rows)
{
    size_t i = 0;
    json_t *row = NULL;

    json_array_foreach(rows, i, row)
    {
        char *text = json_dumps(row, JSON_COMPACT);

        if (text != NULL) {
            buf_add_str(ret, text);
            buf_add_char(ret, '\n');
        }
        free(text);
    }
    json_decref(rows);
}

static void add_refused(json_t *line, const struct exchange_peer *p,
                        const struct sync_origin_stat *s)
{
    json_t *refused = json_object();

    for (unsigned i = 0; i < SYNC_RESULTS; i++) {
        uint64_t n = p != NULL ? p->refused[i] : 0;

        if (s != NULL && s->refused[i] > n) {
            n = s->refused[i];
        }
        if (n > 0 && i != SYNC_APPLIED && i != SYNC_DUPLICATE && i != SYNC_GAP) {
            put_number(refused, sync_result_name((enum sync_result)i), n);
        }
    }
    (void)json_object_set_new(line, "refused", refused);
}

static uint64_t lag_s(uint64_t seen_ms)
{
    uint64_t now_ms = clock_wall_us() / 1000;

    return seen_ms == 0 || seen_ms > now_ms ? 0 : (now_ms - seen_ms) / 1000;
}

static void add_exchange(json_t *line, const struct exchange_peer *p)
{
    (void)json_object_set_new(line, "called", json_boolean(p->is_called));
    (void)json_object_set_new(line, "connected", json_boolean(p->is_connected));
    put_number(line, "answered_ms", p->answered_ms);
    put_number(line, "heads", p->heads);
    put_number(line, "wants", p->wants);
    put_number(line, "bytes_in", p->bytes_in);
    put_number(line, "objects", p->objects);
    put_number(line, "round_ms", p->round_ms);
    (void)json_object_set_new(line, "last_failure", json_string(p->last_failure));
    (void)json_object_set_new(line, "last_refusal", json_string(p->last_refusal));
}

static void add_origin(json_t *line, const struct sync_origin_stat *s)
{
    put_number(line, "streams", s->streams);
    put_number(line, "records", s->records);
    put_number(line, "stored_bytes", s->bytes);
    put_number(line, "applied", s->applied);
    put_number(line, "quota", s->quota);
    put_number(line, "quota_used", s->quota_used);
    put_number(line, "seen_ms", s->seen_ms);
    put_number(line, "lag_s", lag_s(s->seen_ms));
    (void)json_object_set_new(line, "is_stale", json_boolean(s->is_stale));
    (void)json_object_set_new(line, "is_distrusted", json_boolean(s->is_distrusted));
}

static const struct sync_origin_stat *stat_of(const struct sync_origin_stat *v,
                                              size_t n, const struct object_id *origin)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(v[i].origin.b, origin->b, OBJECT_ID_BYTES) == 0) {
            return &v[i];
        }
    }
    return NULL;
}

static json_t *member(const struct hub *h, const struct manifest_member *m,
                      const struct sync_origin_stat *s)
{
    const struct exchange_peer *p =
        h->exchange != NULL ? exchange_peer(h->exchange, &m->origin) : NULL;
    const struct peer_server_peer *served = peer_server_peer(h->server, &m->origin);
    bool is_self = memcmp(m->origin.b, h->node.self.origin.b, OBJECT_ID_BYTES) == 0;
    char origin[2 * OBJECT_ID_BYTES + 1];
    json_t *line = json_object();

    hex_print(m->origin.b, OBJECT_ID_BYTES, origin);
    (void)json_object_set_new(line, "name", json_string(m->name));
    (void)json_object_set_new(line, "origin", json_string(origin));
    (void)json_object_set_new(line, "state", json_string(state_name(m->state)));
    (void)json_object_set_new(line, "address", json_string(m->address));
    (void)json_object_set_new(line, "self", json_boolean(is_self));
    if (p != NULL) {
        add_exchange(line, p);
    }
    put_number(line, "bytes_out", served != NULL ? served->bytes_out : 0);
    put_number(line, "came_ms", served != NULL ? served->seen_ms : 0);
    if (s != NULL) {
        add_origin(line, s);
    }
    add_refused(line, p, s);
    return line;
}

/* Of an open ring; empty else. */
static json_t *members(const struct hub *h)
{
    const struct manifest *m = &h->node.manifest;
    struct sync_origin_stat *v = calloc(MANIFEST_MEMBERS_MAX, sizeof(*v));
    json_t *rows = json_array();
    size_t n = 0;

    if (v != NULL && h->node.is_open) {
        n = sync_stat(h->node.sync, v, MANIFEST_MEMBERS_MAX);
        for (unsigned i = 0; i < m->nmembers; i++) {
            (void)json_array_append_new(
                rows, member(h, &m->members[i], stat_of(v, n, &m->members[i].origin)));
        }
    }
    free(v);
    return rows;
}

void hub_answer_status(void *context, struct buf *ret)
{
    struct hub *h = context;
    const struct manifest *m = &h->node.manifest;
    unsigned long long now_ms = clock_wall_us() / 1000;

    if (h->node.is_open) {
        buf_printf(ret, "ok manifest=%llu members=%u expires_ms=%llu now_ms=%llu\n",
                   (unsigned long long)m->version, m->nmembers,
                   (unsigned long long)m->expires_ms, now_ms);
        hub_add_lines(ret, members(h));
    } else if (h->subscribe != NULL && !h->is_paused) {
        buf_printf(ret, "ok manifest=0 members=0 now_ms=%llu\n", now_ms);
    } else {
        buf_printf(ret, "error %s\n",
                   h->is_paused            ? "a command holds the ring's files"
                   : h->trouble[0] != '\0' ? h->trouble
                                           : "no ring yet: gillnet peer ring create, "
                                             "or gillnet peer join TOKEN");
        return;
    }
    hub_add_lines(ret, subscribe_rows(h->subscribe));
}

void hub_answer_alerts(void *context, struct buf *ret)
{
    const struct hub *h = context;
    json_t *rows = status_board_get(h->board, STATUS_BOARD_ALERTS);
    json_t *firing = json_array();
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(rows, i, row)
    {
        if (json_is_true(json_object_get(row, "firing"))) {
            (void)json_array_append(firing, row);
        }
    }
    buf_add_str(ret, "ok\n");
    hub_add_lines(ret, firing);
    json_decref(rows);
}

static json_t *ring(const struct hub *h)
{
    const struct manifest *m = &h->node.manifest;
    char hex[2 * OBJECT_ID_BYTES + 1];

    if (!h->node.is_open) {
        return json_null();
    }
    hex_print(m->ring.b, OBJECT_ID_BYTES, hex);
    return json_pack("{s:s, s:I, s:i, s:I}", "ring", hex, "version",
                     (json_int_t)m->version, "members", (int)m->nmembers, "expires_s",
                     (json_int_t)(m->expires_ms / 1000));
}

/* ---- feeds ---- */

static void answer_job(struct hub *h, struct slice name, struct slice job,
                       struct buf *ret)
{
    struct buf answer;
    uint64_t id = 0;
    enum err e = ERR_NOT_FOUND;

    buf_init(&answer, FEEDS_ANSWER_MAX);
    if (slice_to_u64(job, 10, INT64_MAX, &id)) {
        e = feeds_answer(h->feeds, name, id, &answer);
    }
    if (e == ERR_LOCKED) {
        buf_add_str(ret, "ok running\n");
        hub_add_lines(ret, status_board_get(h->board, STATUS_BOARD_TASKS));
    } else if (e == ERR_OK && !buf_failed(&answer)) {
        buf_add_str(ret, "ok done\n");
        buf_add(ret, buf_slice(&answer));
        buf_add_char(ret, '\n');
    } else {
        buf_add_str(ret, "error nothing is known of this\n");
    }
    buf_fini(&answer);
}

static void ask_feed(struct hub *h, struct slice what, struct slice name,
                     struct slice rest, struct buf *ret)
{
    static const char *const names[] = {[FEEDS_UPDATE] = "feed-update",
                                        [FEEDS_FORCE] = "feed-force",
                                        [FEEDS_TEST] = "feed-test",
                                        [FEEDS_ROLLBACK] = "feed-rollback"};
    struct errinfo why = {.text = ""};
    uint64_t version = 0;
    uint64_t job = 0;

    for (unsigned i = 0; i < LENGTH(names); i++) {
        if (!slice_eq(what, slice_str(names[i]))) {
            continue;
        }
        if (rest.n > 0 && !slice_to_u64(rest, 10, INT64_MAX, &version)) {
            buf_add_str(ret, "error no number of a version\n");
        } else if (feeds_ask(h->feeds, name, (enum feeds_what)i, version, &job, &why) ==
                   ERR_OK) {
            buf_printf(ret, "ok job=%llu\n", (unsigned long long)job);
        } else {
            buf_printf(ret, "error %s\n", why.text);
        }
        return;
    }
    buf_add_str(ret, "error unknown request of feeds\n");
}

void hub_answer_feed(void *context, struct slice line, bool may_change, struct buf *ret)
{
    struct hub *h = context;
    struct slice what = slice_cut(&line, ' ');
    struct slice name = slice_cut(&line, ' ');

    if (slice_eq(what, SLICE_LIT("feeds"))) {
        buf_add_str(ret, "ok feeds\n");
        hub_add_lines(ret, status_board_get(h->board, STATUS_BOARD_FEEDS));
    } else if (slice_eq(what, SLICE_LIT("feed-job"))) {
        answer_job(h, name, line, ret);
    } else if (!may_change) {
        buf_add_str(ret, "error only root and the hub's own user may do this\n");
    } else {
        ask_feed(h, what, name, line, ret);
    }
}

void hub_show_headline(struct hub *h)
{
    status_headline(h->board, h->config->state_dir, clock_wall_us() / 1000000,
                    &h->headline);
    status_board_put(h->board, STATUS_BOARD_NOW, headline_json(&h->headline));
}

void hub_show(struct hub *h)
{
    hub_show_headline(h);
    status_board_put(h->board, STATUS_BOARD_HUB, numbers(h));
    status_board_put(h->board, STATUS_BOARD_SUBSCRIPTIONS,
                     subscribe_rows(h->subscribe));
    if (!h->is_paused) { /* else what was seen last stays for the moment */
        status_board_put(h->board, STATUS_BOARD_RING, ring(h));
        status_board_put(h->board, STATUS_BOARD_PEERS, members(h));
        status_board_put(h->board, STATUS_BOARD_STORE, hub_shared_json(h));
    }
}
