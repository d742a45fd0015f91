#include "core/hub/exchange/exchange.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/hub/exchange/exchange_internal.h"
#include "core/hub/exchange/peer_request.h"

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    struct peer *p = context;

    (void)fd;
    (void)what;
    if (p->has_heads) {
        exchange_fetch(p);
    } else {
        exchange_begin(p);
    }
}

static void drop_peer(struct peer *p)
{
    peer_client_cancel(&p->call);
    for (unsigned i = 0; i < EXCHANGE_FETCHES; i++) {
        peer_client_cancel(&p->fetches[i].call);
    }
    exchange_forget(p);
    buf_fini(&p->bytes);
    if (p->timer != NULL) {
        event_free(p->timer);
    }
    free(p);
}

/* ---- whom to call ---- */

static bool is_self(const struct exchange *x, const struct manifest_member *m)
{
    return memcmp(m->origin.b, x->node->self.origin.b, OBJECT_ID_BYTES) == 0;
}

static bool is_callable(const struct exchange *x, const struct manifest_member *m)
{
    char host[HTTP_ADDRESS_MAX];
    unsigned port = 0;

    return m->state == MEMBER_ACTIVE && !is_self(x, m) && m->address[0] != '\0' &&
           http_address_split(slice_str(m->address), host, &port);
}

static bool is_named(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->hub.connect.n; i++) {
        if (strcmp(c->hub.connect.v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Logs the names in hub.connect that cannot be called, once for each set of names. */
static void tell_unknown(struct exchange *x, const struct config *c, bool by_names)
{
    char names[sizeof(x->unknown)] = "";
    size_t n = 0;

    for (size_t i = 0; i < c->hub.connect.n; i++) {
        const struct manifest_member *m =
            manifest_find_name(&x->node->manifest, slice_str(c->hub.connect.v[i]));

        if ((m == NULL || !(is_self(x, m) || is_callable(x, m))) &&
            n < sizeof(names) - 1) {
            n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
                                  n > 0 ? " " : "", c->hub.connect.v[i]);
        }
    }
    if (strcmp(names, x->unknown) == 0) {
        return;
    }
    memcpy(x->unknown, names, sizeof(names));
    if (names[0] == '\0') {
        log_info("event=connect state=known manifest=%llu: all that hub.connect names "
                 "can be called now",
                 (unsigned long long)x->node->manifest.version);
        return;
    }
    log_warn("event=connect state=unknown names=\"%s\" manifest=%llu: hub.connect "
             "names what is no active member with an address; %s",
             names, (unsigned long long)x->node->manifest.version,
             by_names ? "the others that it names are called"
                      : "all members that have an address are called meanwhile");
}

/* False if hub.connect names no member that can be called. A server that calls no member would
 * never get a newer manifest. */
static bool goes_by_names(const struct exchange *x, const struct config *c)
{
    const struct manifest *m = &x->node->manifest;

    for (unsigned i = 0; i < m->nmembers; i++) {
        if (is_callable(x, &m->members[i]) && is_named(c, m->members[i].name)) {
            return true;
        }
    }
    return false;
}

/* ---- peers ---- */

static struct peer *new_peer(struct exchange *x, const struct manifest_member *m)
{
    struct peer *p = calloc(1, sizeof(*p));

    if (p == NULL) {
        return NULL;
    }
    p->timer = evtimer_new(x->base, on_timer, p);
    if (p->timer == NULL) {
        free(p);
        return NULL;
    }
    p->x = x;
    p->stat.origin = m->origin;
    (void)snprintf(p->name, sizeof(p->name), "%s", m->name);
    (void)snprintf(p->address, sizeof(p->address), "%s", m->address);
    p->pins = (struct tls_pins){.node = x->node, .origin = &p->stat.origin};
    buf_init(&p->bytes, HEADS_ANSWER_MAX);
    return p;
}

/* Finds the former state of a peer, so that its counters survive new connections. */
static struct peer *find_peer(struct peer *const *v, unsigned n,
                              const struct object_id *origin)
{
    for (unsigned i = 0; i < n; i++) {
        if (memcmp(v[i]->stat.origin.b, origin->b, OBJECT_ID_BYTES) == 0) {
            return v[i];
        }
    }
    return NULL;
}

static void on_look_timer(evutil_socket_t fd, short what, void *context)
{
    static const struct timeval next = {EXCHANGE_LOOK_S, 0};
    struct exchange *x = context;
    struct peer *chosen = NULL;
    uint32_t nidle = 0;

    (void)fd;
    (void)what;
    /* who was looked at longest ago; of equals each as likely as any other */
    for (unsigned i = 0; i < x->npeers; i++) {
        struct peer *p = x->peers[i];
        uint32_t random = 0;

        if (!p->is_idle || (chosen != NULL && p->looked_us > chosen->looked_us)) {
            continue;
        }
        nidle = chosen != NULL && p->looked_us < chosen->looked_us ? 1 : nidle + 1;
        random_bytes(&random, sizeof(random));
        chosen = random % nidle == 0 ? p : chosen;
    }
    if (chosen != NULL) {
        chosen->looked_us = clock_mono_us();
        exchange_look(chosen);
        (void)event_add(x->look, &next);
    }
}

static void add_member(struct exchange *x, const struct manifest_member *m,
                       bool is_called, const struct peer *before)
{
    struct peer *p = new_peer(x, m);

    if (p == NULL) {
        log_error("event=exchange peer=%s error=memory", m->name);
        return;
    }
    if (before != NULL) {
        p->stat = before->stat;
        p->has_asked = before->has_asked;
        p->has_failed = before->has_failed;
        p->looked_us = before->looked_us;
        memcpy(p->logged_until_us, before->logged_until_us, sizeof(p->logged_until_us));
    }
    p->stat.wants = 0;
    p->is_idle = !is_called && is_callable(x, m);
    p->stat.is_called = is_called;
    p->stat.is_connected = is_called && p->stat.is_connected;
    x->peers[x->npeers++] = p;
    if (p->stat.is_called) {
        exchange_rest(p, 0);
    } else {
        p->is_done = true;
    }
}

static void add_members(struct exchange *x, const struct config *config,
                        struct peer **before, unsigned nbefore)
{
    const struct manifest *m = &x->node->manifest;
    bool by_names = goes_by_names(x, config);
    static const struct timeval soon = {1, 0};

    tell_unknown(x, config, by_names);
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_member *member = &m->members[i];

        if (member->state == MEMBER_ACTIVE && !is_self(x, member)) {
            add_member(x, member,
                       is_callable(x, member) &&
                           (!by_names || is_named(config, member->name)),
                       find_peer(before, nbefore, &member->origin));
        }
    }
    if (!x->is_once && by_names) {
        (void)event_add(x->look, &soon);
    }
}

enum err exchange_renew(struct exchange *x, const struct config *config,
                        struct errinfo *reterr)
{
    struct peer *before[MANIFEST_MEMBERS_MAX];
    unsigned n = x->npeers;
    enum err e = ERR_OK;

    for (unsigned i = 0; i < n; i++) {
        before[i] = x->peers[i];
    }
    x->npeers = 0;
    if (x->node->is_open) {
        x->begun_us = x->begun_us != 0 ? x->begun_us : clock_mono_us();
    }
    for (unsigned i = 0; i < n; i++) { /* calls end before their client */
        peer_client_cancel(&before[i]->call);
        for (unsigned j = 0; j < EXCHANGE_FETCHES; j++) {
            peer_client_cancel(&before[i]->fetches[j].call);
        }
    }
    peer_client_free(&x->client);
    if (x->node->is_open) {
        e = peer_client_new(x->base, x->node->dir, &x->client, reterr);
    }
    if (e == ERR_OK && x->node->is_open) {
        add_members(x, config, before, n);
    }
    for (unsigned i = 0; i < n; i++) {
        drop_peer(before[i]);
    }
    return e;
}

enum err exchange_new(struct event_base *base, struct node *node,
                      const struct exchange_hooks *hooks, bool is_once,
                      struct exchange **ret, struct errinfo *reterr)
{
    struct exchange *x = calloc(1, sizeof(*x));

    if (x == NULL || (x->look = evtimer_new(base, on_look_timer, x)) == NULL) {
        free(x);
        return errinfo_nomem(reterr, "exchange");
    }
    x->base = base;
    x->node = node;
    x->hooks = *hooks;
    x->is_once = is_once;
    *ret = x;
    return ERR_OK;
}

void exchange_free(struct exchange **x)
{
    if (*x == NULL) {
        return;
    }
    while ((*x)->npeers > 0) {
        drop_peer((*x)->peers[--(*x)->npeers]);
    }
    peer_client_free(&(*x)->client);
    event_free((*x)->look);
    free(*x);
    *x = NULL;
}

bool exchange_may_publish(const struct exchange *x, struct exchange_sources others)
{
    unsigned called = others.called;
    unsigned asked = others.asked;
    unsigned open = others.open;

    for (unsigned i = 0; i < x->npeers; i++) {
        const struct peer *p = x->peers[i];

        called += p->stat.is_called ? 1 : 0;
        asked += p->stat.is_called && p->has_asked ? 1 : 0;
        open += p->stat.is_called && !p->has_asked && !p->has_failed ? 1 : 0;
    }
    return called == 0 || (asked > 0 && open == 0) ||
           clock_mono_us() - x->begun_us > EXCHANGE_ASK_S * 1000000ULL;
}

bool exchange_is_done(const struct exchange *x, unsigned *retfailed)
{
    *retfailed = 0;
    for (unsigned i = 0; i < x->npeers; i++) {
        if (!x->peers[i]->is_done) {
            return false;
        }
        *retfailed += x->peers[i]->has_failed ? 1 : 0;
    }
    return true;
}

const struct exchange_peer *exchange_peer(const struct exchange *x,
                                          const struct object_id *origin)
{
    const struct peer *p = find_peer(x->peers, x->npeers, origin);

    return p != NULL ? &p->stat : NULL;
}
