#include "core/hub/shared/shared_json.h"

struct row {
    const char *name;
    uint64_t v;
};

static json_t *numbers(const struct row *rows, size_t n)
{
    json_t *all = json_object();

    for (size_t i = 0; i < n; i++) {
        (void)json_object_set_new(all, rows[i].name,
                                  json_integer((json_int_t)rows[i].v));
    }
    return all;
}

/* ---- servers ---- */

static const char *role_name(enum shared_role role)
{
    static const char *const names[] = {[SHARED_ROLE_UNKNOWN] = "unknown",
                                        [SHARED_MASTER] = "master",
                                        [SHARED_REPLICA] = "replica",
                                        [SHARED_SENTINEL] = "sentinel"};

    return names[role];
}

static json_t *choice(enum shared_choice c)
{
    return c == SHARED_UNKNOWN ? json_null() : json_boolean(c == SHARED_YES);
}

static json_t *server(const struct shared_server_status *s)
{
    const struct row rows[] = {{"answered_s", s->answered_s},
                               {"memory_bytes", s->memory_bytes},
                               {"memory_limit", s->memory_limit},
                               {"replicas", s->nreplicas},
                               {"listpack_entries", s->listpack_entries},
                               {"evicted", s->evicted}};
    json_t *row = numbers(rows, LENGTH(rows));

    (void)json_object_set_new(row, "address", json_string(s->address));
    (void)json_object_set_new(row, "role", json_string(role_name(s->role)));
    (void)json_object_set_new(row, "product", json_string(s->product));
    (void)json_object_set_new(row, "version", json_string(s->version));
    (void)json_object_set_new(row, "fault", json_string(redis_fault_name(s->fault)));
    (void)json_object_set_new(row, "why", json_string(s->why));
    (void)json_object_set_new(row, "clock_ms", json_integer((json_int_t)s->clock_ms));
    (void)json_object_set_new(row, "policy", json_string(s->policy));
    (void)json_object_set_new(row, "persistent", choice(s->is_persistent));
    (void)json_object_set_new(row, "can_write", choice(s->can_write));
    (void)json_object_set_new(row, "denied", json_string(s->denied));
    return row;
}

static json_t *servers(const struct shared_watch_status *w)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < w->nservers; i++) {
        (void)json_array_append_new(rows, server(&w->servers[i]));
    }
    return rows;
}

/* The masters together. Without a limit on one of them there is none. */
static json_t *memory(const struct shared_watch_status *w)
{
    uint64_t used = 0;
    uint64_t limit = 0;
    bool has_limit = true;

    for (size_t i = 0; i < w->nservers; i++) {
        if (w->servers[i].role == SHARED_MASTER) {
            used += w->servers[i].memory_bytes;
            limit += w->servers[i].memory_limit;
            has_limit = has_limit && w->servers[i].memory_limit > 0;
        }
    }
    const struct row rows[] = {{"bytes", used}, {"limit", has_limit ? limit : 0}};
    return numbers(rows, LENGTH(rows));
}

/* ---- the parts ---- */

static json_t *counts(const struct shared_status_counts *c)
{
    static const char *const flows[SHARED_FLOWS] = {
        [SHARED_FLOW_NONE] = "none",       [SHARED_FLOW_ASKING] = "asking",
        [SHARED_FLOW_SENDING] = "sending", [SHARED_FLOW_WAITING] = "waiting",
        [SHARED_FLOW_REFUSED] = "refused",
    };
    const struct row rows[] = {{"number", c->number},
                               {"lag_s", c->lag_s},
                               {"cells_behind", c->cells_behind},
                               {"spool_bytes", c->spool_bytes},
                               {"spool_limit", c->spool_limit},
                               {"updates", c->updates},
                               {"batches", c->batches},
                               {"batches_repeated", c->batches_repeated},
                               {"updates_lost", c->updates_lost},
                               {"incarnations", c->incarnations}};
    json_t *all = numbers(rows, LENGTH(rows));

    (void)json_object_set_new(all, "flow", json_string(flows[c->flow]));
    (void)json_object_set_new(all, "why", json_string(c->why));
    return all;
}

static json_t *view(const struct shared_status_view *v)
{
    const struct row rows[] = {{"answered_s", v->answered_s},
                               {"heard", v->heard},
                               {"hot_named", v->hot_named},
                               {"hot_read", v->hot_read},
                               {"histories", v->histories}};

    return numbers(rows, LENGTH(rows));
}

static json_t *objects(const struct shared_status_objects *o)
{
    const struct row rows[] = {{"put", o->put},
                               {"put_again", o->put_again},
                               {"applied", o->applied},
                               {"missing", o->missing},
                               {"refused", o->refused}};
    json_t *all = numbers(rows, LENGTH(rows));

    (void)json_object_set_new(all, "current", json_boolean(o->is_current));
    return all;
}

static json_t *lines(const struct shared_status_lines *l)
{
    const struct row rows[] = {{"filters", l->filters}, {"complete", l->complete},
                               {"lines", l->lines},     {"cached", l->cached},
                               {"late", l->late},       {"lost", l->lost}};

    return numbers(rows, LENGTH(rows));
}

json_t *shared_status_json(const struct shared_status *s, const char *mode)
{
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "state",
        shared_state_name(s->watch.state), "mode", mode, "since_s",
        (json_int_t)s->watch.since_s, "bytes_in", (json_int_t)s->watch.bytes_in,
        "bytes_out", (json_int_t)s->watch.bytes_out, "memory", memory(&s->watch),
        "servers", servers(&s->watch), "counts", counts(&s->counts), "view",
        view(&s->view), "lists", objects(&s->objects), "lines", lines(&s->lines));
}
