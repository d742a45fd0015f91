/* shared - the connection, and the turns of its parts. */
#include "core/hub/shared/shared.h"

#include "core/base/log.h"
#include "core/hub/shared/shared_lines.h"
#include "core/hub/shared/shared_objects.h"

enum { SERVERS_MAX = REDIS_SERVERS_MAX };

struct shared {
    const struct config *config;
    struct node *node;
    struct redis *redis;
    struct shared_objects *objects;
    struct shared_lines *lines; /* NULL: its socket failed */
    char prefix[STORE_PREFIX_MAX + 1];
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
    s->config = config;
    s->node = node;
    (void)snprintf(s->prefix, sizeof(s->prefix), "%s", config->store.prefix);
    enum err e = redis_new(base, &options, &s->redis, reterr);
    THEN(e, shared_objects_new(s, exchange, &s->objects, reterr));
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
        shared_lines_stop((*s)->lines);
        redis_free(&(*s)->redis); /* answers all calls */
        shared_lines_free(&(*s)->lines);
        shared_objects_free(&(*s)->objects);
        free(*s);
        *s = NULL;
    }
}

void shared_renew(struct shared *s, const struct config *config)
{
    if (s != NULL) {
        s->config = config;
    }
}

/* ---- turns ---- */

void shared_tick(struct shared *s)
{
    shared_objects_tick(s->objects);
}

void shared_pause(struct shared *s)
{
    shared_objects_pause(s->objects);
}

struct exchange_sources shared_source(const struct shared *s)
{
    return shared_objects_source(s->objects);
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
