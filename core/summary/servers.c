#include "core/summary/servers.h"

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/trust/manifest.h"

const char *server_state_name(enum server_state s)
{
    static const char *const names[SERVER_STATES] = {"current", "stale", "unheard",
                                                     "refused"};
    return names[s];
}

/* Sets state and age of another server by the result of summary_read. */
static void settle(struct server *s, enum err e, uint64_t now_s,
                   const struct errinfo *why)
{
    uint64_t at_s = s->headline.at_s;

    if (e != ERR_OK) {
        s->headline = (struct headline){.at_s = 0};
        s->state = e == ERR_NOT_FOUND ? SERVER_UNHEARD : SERVER_REFUSED;
        (void)snprintf(s->why, sizeof(s->why), "%s",
                       e == ERR_NOT_FOUND ? "" : why->text);
        return;
    }
    s->age_s = now_s > at_s ? now_s - at_s : 0;
    s->state = s->age_s > SUMMARY_STALE_S ? SERVER_STALE : SERVER_CURRENT;
}

static void read_other(const struct servers_ask *ask, const struct keyring *keys,
                       const struct origin_row *row, struct server *ret,
                       struct period_view *view)
{
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];
    struct errinfo why = {.text = ""};

    *ret = (struct server){.state = SERVER_UNHEARD};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", row->name);
    hex_print(row->origin, ORIGIN_BYTES, hex);
    period_view_init(view, ask->period, ask->now_s);
    enum err e = path_make(folder, &why, "%s/peers/lists/%s", ask->state_dir, hex);
    THEN(e, summary_read(folder, keys, ask->now_s, view, &ret->headline, &why));
    settle(ret, e, ask->now_s, &why);
    if (ret->state == SERVER_UNHEARD || ret->state == SERVER_REFUSED) {
        period_view_init(view, ask->period, ask->now_s);
    }
}

/* Sets the name that this server has in its ring. */
static void find_name(const struct servers_ask *ask, const struct origins *o,
                      struct server *ret)
{
    char dir[FILE_PATH_MAX];
    struct manifest m;
    struct object_id self;
    const struct manifest_member *member = NULL;

    (void)snprintf(ret->name, sizeof(ret->name), "%s", SERVER_ALONE);
    if (path_make(dir, NULL, "%s/peers", ask->state_dir) == ERR_OK &&
        manifest_load(dir, &m, NULL) == ERR_OK) {
        memcpy(self.b, o->self, OBJECT_ID_BYTES);
        member = manifest_find(&m, &self);
        if (member != NULL) {
            (void)snprintf(ret->name, sizeof(ret->name), "%s", member->name);
        }
        manifest_fini(&m);
    }
}

static void read_self(const struct servers_ask *ask, const struct origins *o,
                      struct server *ret, struct period_view *view)
{
    *ret = (struct server){
        .is_self = true, .state = SERVER_CURRENT, .headline = *ask->self};
    find_name(ask, o, ret);
    (void)period_read(ask->state_dir, ask->period, ask->now_s, view, NULL);
}

static bool is_other(const struct origins *o, const struct origin_row *row)
{
    return row->state == ORIGIN_ACTIVE && row->is_same_owner && origin_is_own(row) &&
           memcmp(row->origin, o->self, ORIGIN_BYTES) != 0;
}

/* Room for one server at a time. */
struct servers_room {
    struct server server;
    struct period_view view;
};

static void show_all(const struct servers_ask *ask, const struct origins *o,
                     const struct keyring *keys, struct servers_room *room,
                     servers_fn *fn, void *context)
{
    read_self(ask, o, &room->server, &room->view);
    bool goes_on = fn(context, &room->server, &room->view);

    for (unsigned i = 0; i < o->n && goes_on; i++) {
        if (is_other(o, &o->v[i])) {
            read_other(ask, keys, &o->v[i], &room->server, &room->view);
            goes_on = fn(context, &room->server, &room->view);
        }
    }
}

enum err servers_each(const struct servers_ask *ask, servers_fn *fn, void *context,
                      struct errinfo *reterr)
{
    struct servers_room *room = malloc(sizeof(*room));
    struct origins o = {.n = 0};
    struct keyring keys = {.n = 0};

    if (room == NULL) {
        return errinfo_nomem(reterr, "servers");
    }
    enum err e = origins_read(ask->state_dir, &o, reterr);
    if (e == ERR_NOT_FOUND) { /* no ring: this server alone */
        e = ERR_OK;
    } else if (e == ERR_OK) {
        e = keyring_load(ask->state_dir, &keys, reterr);
    }
    if (e == ERR_OK) {
        show_all(ask, &o, &keys, room, fn, context);
    }
    explicit_bzero(&keys, sizeof(keys));
    origins_fini(&o);
    free(room);
    return e;
}
