/* exchange_round - one round with one peer: its heads, what to do when it fails, manifests and
 * digest keys on the way. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/hub/exchange/exchange_internal.h"
#include "core/hub/http/rate_limit.h"
#include "core/ring/trust/digest_key.h"

enum { ANSWER_S = 300 };

/* ---- time ---- */

void exchange_rest(struct peer *p, unsigned ms)
{
    struct timeval t = {.tv_sec = ms / 1000,
                        .tv_usec = (suseconds_t)(ms % 1000) * 1000};

    (void)event_add(p->timer, &t);
}

void exchange_forget(struct peer *p)
{
    if (p->has_heads) {
        heads_fini(&p->heads);
        p->has_heads = false;
    }
    buf_clear(&p->bytes);
    p->nwants = 0;
    p->next_want = 0;
    p->stat.wants = 0;
}

void exchange_end(struct peer *p, unsigned rest_ms)
{
    p->stat.round_ms = (clock_mono_us() - p->begun_us) / 1000;
    p->has_asked = true;
    if (p->x->is_once) {
        p->is_done = true;
        return;
    }
    exchange_rest(p, rest_ms);
}

void exchange_fail(struct peer *p, const char *what, const char *why, unsigned retry_s)
{
    uint32_t random = 0;
    bool was_connected = p->stat.is_connected || p->failures == 0;

    random_bytes(&random, sizeof(random));
    exchange_forget(p);
    p->after = 0;
    p->failures++;
    p->stat.failures++;
    p->stat.is_connected = false;
    p->has_failed = true;
    (void)snprintf(p->stat.last_failure, sizeof(p->stat.last_failure), "%s: %s", what,
                   why);
    if (was_connected || p->x->is_once) {
        log_warn("event=peer name=%s state=lost address=%s what=%s reason=\"%s\"",
                 p->name, p->address, what, why);
    }
    if (p->x->is_once) {
        p->is_done = true;
        return;
    }
    exchange_rest(p, retry_s > 0 ? retry_s * 1000U
                                 : backoff_ms(p->failures,
                                              p->is_unheard ? BACKOFF_UNHEARD_MS
                                                            : BACKOFF_MOST_MS,
                                              random));
}

/* True if the answer can be used. False: the round has ended. */
static bool is_good(struct peer *p, const struct peer_client_answer *a,
                    const char *what)
{
    char why[64];

    p->stat.bytes_in += a->body.n;
    if (a->manifest > p->manifest_seen) {
        p->manifest_seen = a->manifest;
    }
    if (a->status == 200 || a->status == 304 || a->status == 404) {
        return true;
    }
    (void)snprintf(why, sizeof(why), "status %u", a->status);
    p->is_unheard = a->status == 0;
    exchange_fail(
        p, what, a->status == 0 ? a->why : why,
        a->status == 429 || a->status == 503 ? (a->retry_s > 0 ? a->retry_s : 1) : 0);
    return false;
}

enum err exchange_call(struct peer *p, const char *path, struct peer_client_request r,
                       struct client_call **ret)
{
    char url[HTTP_ADDRESS_MAX + PATH_MAX_HERE];
    struct errinfo why;

    (void)snprintf(url, sizeof(url), "https://%s%s", p->address, path);
    r.url = url;
    r.pins = &p->pins;
    r.timeout_s = ANSWER_S;
    enum err e = peer_client_start(p->x->client, &r, ret, &why);

    if (e != ERR_OK) {
        log_error("event=exchange peer=%s error=\"%s\"", p->name, why.text);
    }
    return e;
}

/* ---- manifest and digest keys ---- */

/* Handles the manifest of a peer. */
static void take_manifest(struct peer *p, const struct peer_client_answer *a)
{
    struct exchange *x = p->x;
    struct errinfo why = {.text = ""};
    enum err e =
        a->status == 200 ? node_take_manifest(x->node, a->body, &why) : ERR_NOT_FOUND;

    if (e == ERR_OK) {
        log_info("event=manifest version=%llu from=%s members=%u",
                 (unsigned long long)x->node->manifest.version, p->name,
                 x->node->manifest.nmembers);
        x->hooks.manifest(x->hooks.context);
    } else if (e != ERR_EXISTS && p->manifest_refused != p->manifest_seen) {
        log_warn("event=manifest result=refused version=%llu from=%s reason=\"%s\"",
                 (unsigned long long)p->manifest_seen, p->name, why.text);
    }
    p->manifest_refused = p->manifest_seen;
}

static void on_manifest(void *context, const struct peer_client_answer *a)
{
    struct peer *p = context;

    p->call = NULL;
    if (is_good(p, a, "manifest")) {
        take_manifest(p, a);
        exchange_end(p, EXCHANGE_GAP_MS);
    }
}

static void on_look(void *context, const struct peer_client_answer *a)
{
    struct peer *p = context;

    p->call = NULL;
    p->stat.bytes_in += a->body.n;
    if (a->status == 200) {
        p->manifest_seen = a->manifest;
        take_manifest(p, a);
    }
}

static bool ask_for_manifest(struct peer *p, peer_client_done_fn *done)
{
    return exchange_call(
               p, "/v1/manifest",
               (struct peer_client_request){
                   .max_bytes = MANIFEST_BYTES_MAX + 65536, .done = done, .context = p},
               &p->call) == ERR_OK;
}

void exchange_look(struct peer *p)
{
    if (p->call == NULL) {
        (void)ask_for_manifest(p, on_look);
    }
}

static void on_ring_key(void *context, const struct peer_client_answer *a)
{
    struct peer *p = context;
    struct exchange *x = p->x;
    struct errinfo why = {.text = ""};

    p->call = NULL;
    if (!is_good(p, a, "digest_key")) {
        return;
    }
    if (a->status == 200) {
        struct hashkey key;
        enum err e = digest_key_parse(a->body, p->ring_key, &key, &why);

        THEN(e, digest_key_put(x->node->state_dir, &key, false, &why));
        if (e == ERR_OK) {
            log_info("event=digest_key id=%08x from=%s: the keyring has it",
                     p->ring_key, p->name);
            x->hooks.ring_key(x->hooks.context);
        } else {
            log_error("event=digest_key id=%08x from=%s error=\"%s\"", p->ring_key,
                      p->name, why.text);
        }
    }
    exchange_end(p, EXCHANGE_GAP_MS);
}

/* Requests a key that the manifest names and the keyring lacks. False: there is none, or the last
 * request is less than EXCHANGE_SKIP_S old. */
static bool ask_for_ring_key(struct peer *p)
{
    const struct node *n = p->x->node;
    char path[PATH_MAX_HERE];

    if (p->ring_key_us > clock_mono_us() ||
        !digest_key_wanted(&n->manifest, &n->keys, clock_wall_us() / 1000,
                           &p->ring_key)) {
        return false;
    }
    p->ring_key_us = clock_mono_us() + EXCHANGE_SKIP_S * 1000000ULL;
    (void)snprintf(path, sizeof(path), "/v1/ringkey/%u", p->ring_key);
    return exchange_call(p, path,
                         (struct peer_client_request){.max_bytes = DIGEST_KEY_TEXT_MAX,
                                                      .done = on_ring_key,
                                                      .context = p},
                         &p->call) == ERR_OK;
}

bool exchange_ask(struct peer *p)
{
    if (p->manifest_seen > p->x->node->manifest.version &&
        p->manifest_seen != p->manifest_refused) {
        return ask_for_manifest(p, on_manifest);
    }
    return ask_for_ring_key(p);
}

/* ---- heads ---- */

/* Reports a bad heartbeat or proof among the heads. */
static void on_heard(void *context, enum sync_result r, const struct errinfo *why)
{
    if (r != SYNC_APPLIED && r != SYNC_DUPLICATE) {
        exchange_refused(context, r, NULL, why);
    }
}

/* Only a valid answer counts as a sign of life. */
static void greet(struct peer *p)
{
    if (!p->stat.is_connected) {
        log_info("event=peer name=%s state=connected address=%s", p->name, p->address);
    }
    p->failures = 0;
    p->stat.is_connected = true;
    p->stat.last_failure[0] = '\0';
}

static void on_heads(void *context, const struct peer_client_answer *a)
{
    struct peer *p = context;
    struct exchange *x = p->x;
    struct errinfo why = {.text = ""};

    p->call = NULL;
    if (!is_good(p, a, "heads")) {
        return;
    }
    p->stat.answered_ms = clock_wall_us() / 1000;
    if (a->status == 304) {
        greet(p);
        if (!exchange_ask(p)) {
            exchange_end(p, EXCHANGE_GAP_MS);
        }
        return;
    }
    buf_clear(&p->bytes);
    buf_add(&p->bytes, a->body);
    if (a->status != 200 || buf_failed(&p->bytes) ||
        heads_parse(buf_slice(&p->bytes), &p->heads, &why) != ERR_OK) {
        exchange_fail(p, "heads", a->status != 200 ? "not found" : why.text, 0);
        return;
    }
    greet(p);
    p->has_heads = true;
    if (p->after == 0) {
        p->stat.heads = p->heads.n;
        p->whole_us = clock_mono_us() + EXCHANGE_WHOLE_S * 1000000ULL;
    }
    if (sync_hear(x->node->sync, &p->heads, on_heard, p) > 0) {
        x->hooks.changed(x->hooks.context);
    }
    if (p->after == 0 && !sync_knows_itself(x->node->sync, &p->heads)) {
        log_warn("event=restored peer=%s: the peer has newer objects of this server "
                 "than the local state (restored from a backup?); fetching them",
                 p->name);
    }
    exchange_fetch(p);
}

void exchange_begin(struct peer *p)
{
    char path[PATH_MAX_HERE];

    if (!p->x->node->is_open) {
        return; /* exchange_renew starts again */
    }
    if (p->whole_us <= clock_mono_us()) {
        p->after = 0;
    }
    p->begun_us = clock_mono_us();
    p->has_progress = p->is_failing = p->is_blamed = p->is_troubled = p->misses = false;
    p->is_unheard = false;
    p->defers = 0;
    (void)snprintf(path, sizeof(path), "/v1/heads?after=%llu",
                   (unsigned long long)p->after);
    if (exchange_call(p, path,
                      (struct peer_client_request){.max_bytes = HEADS_ANSWER_MAX,
                                                   .done = on_heads,
                                                   .context = p},
                      &p->call) != ERR_OK) {
        exchange_fail(p, "heads", "no request can be made", 0);
    }
}
