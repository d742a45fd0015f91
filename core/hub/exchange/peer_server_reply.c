/* peer_server_reply - what a request is answered with. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/exchange/peer_server_internal.h"

static const struct bucket_rate request_rate = {.per_s = 50, .burst = 500};

static void refuse(struct peer_server_answer *ret, unsigned status, unsigned retry_s)
{
    buf_clear(&ret->body);
    ret->status = status;
    ret->retry_s = retry_s;
}

/* Of an err of sync: what a peer is told. */
static void settle(struct peer_server_answer *ret, enum err e, const char *what,
                   const struct errinfo *why)
{
    if (buf_failed(&ret->body)) {
        e = ERR_NOMEM;
    }
    if (e == ERR_OK) {
        ret->status = 200;
        return;
    }
    if (e == ERR_NOT_FOUND) {
        refuse(ret, 404, 0);
        return;
    }
    log_warn("event=serve what=%s error=%s %s", what, err_text(e),
             why != NULL ? why->text : "");
    refuse(ret, 503, 5);
}

static void answer_heads(struct peer_server *s, const struct http_request *request,
                         struct peer_server_answer *ret)
{
    if (request->from == sync_version(s->o.node->sync)) {
        ret->is_held = true;
        return;
    }
    settle(ret, sync_heads(s->o.node->sync, request->from, &ret->body), "heads", NULL);
}

static void answer_snap(struct peer_server *s, const struct http_request *request,
                        struct peer_server_answer *ret)
{
    struct errinfo why = {.text = ""};

    settle(
        ret,
        sync_snap(s->o.node->sync, &request->stream, request->from, &ret->body, &why),
        "snap", &why);
    ret->is_immutable = ret->status == 200;
}

static void answer_chain(struct peer_server *s, const struct http_request *request,
                         struct peer_server_answer *ret)
{
    settle(ret,
           sync_chain(s->o.node->sync, &request->stream, request->from, request->to,
                      PEER_SERVER_CHAIN_BYTES, &ret->body),
           "chain", NULL);
    /* beyond the end of now there will be more */
    ret->is_immutable = ret->status == 200 &&
                        sync_reaches(s->o.node->sync, &request->stream, request->to);
}

static void answer_manifest(struct peer_server *s, struct peer_server_answer *ret)
{
    const struct manifest *m = &s->o.node->manifest;

    buf_add(&ret->body, slice_of(m->text, m->text_len));
    settle(ret, ERR_OK, "manifest", NULL);
}

static void answer_join(struct peer_server *s, const struct peer_server_asker *asker,
                        struct slice body, struct peer_server_answer *ret)
{
    struct errinfo why = {.text = ""};
    enum err e = s->o.join(s->o.context, asker->key, body, &ret->body, &why);

    if (e == ERR_OK) {
        settle(ret, ERR_OK, "join", NULL);
        return;
    }
    buf_clear(&ret->body);
    if (e != ERR_DENIED && e != ERR_SYNTAX && e != ERR_EXISTS && e != ERR_TIMEOUT) {
        refuse(ret, 503, 5);
        return;
    }
    /* for the administrator at the other end; of a secret that is wrong nothing is told */
    buf_add_str(&ret->body, e == ERR_EXISTS || e == ERR_TIMEOUT
                                ? why.text
                                : "there is no such invitation, or it was "
                                  "used, or its time is over");
    ret->status = 403;
}

static bool may_ask(struct peer_server *s, const struct object_id *who,
                    struct peer_server_answer *ret)
{
    const struct bucket_rate bytes = {.per_s = (double)s->o.bytes_per_s,
                                      .burst = 4.0 * (double)s->o.bytes_per_s};
    unsigned at = 0;
    unsigned wait_s = 1;

    if (peer_server_peer_row(s, who, &at) == NULL) {
        refuse(ret, 503, 60);
        return false;
    }
    s->peers[at].requests++;
    /* what was sent is taken when it is known: here one must only not be in debt */
    if (!bucket_take(&s->requests[at], &request_rate, 1, clock_mono_us(), &wait_s) ||
        !bucket_take(&s->bytes[at], &bytes, 1, clock_mono_us(), &wait_s)) {
        s->stats.refused_requests++;
        refuse(ret, 429, wait_s);
        return false;
    }
    return true;
}

void serve_request(struct peer_server *s, const struct http_request *request,
                   struct slice body, const struct peer_server_asker *asker,
                   struct peer_server_answer *ret)
{
    *ret = (struct peer_server_answer){.status = 503, .retry_s = 2};
    buf_init(&ret->body, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    if (!s->o.node->is_open || s->pending > PEER_SERVER_PENDING_MAX) {
        return;
    }
    ret->retry_s = 0;
    ret->manifest = s->o.node->manifest.version;
    if ((asker->who == NULL) != (request->route == ROUTE_JOIN)) {
        refuse(ret, 403, 0);
        return;
    }
    if (request->route ==
        ROUTE_MEMBER) { /* a cache asks for each hit: costs nothing, and must not fail */
        settle(ret, ERR_OK, "member", NULL);
        return;
    }
    if (asker->who != NULL && !may_ask(s, asker->who, ret)) {
        return;
    }
    switch (request->route) {
    case ROUTE_HEADS:
        answer_heads(s, request, ret);
        break;
    case ROUTE_CHAIN:
        answer_chain(s, request, ret);
        break;
    case ROUTE_SNAP:
        answer_snap(s, request, ret);
        break;
    case ROUTE_MANIFEST:
        answer_manifest(s, ret);
        break;
    case ROUTE_RING_KEY:
        settle(ret, s->o.ring_key(s->o.context, (uint32_t)request->from, &ret->body),
               "digest_key", NULL);
        break;
    case ROUTE_MEMBER:
        break;
    case ROUTE_JOIN:
        answer_join(s, asker, body, ret);
        break;
    }
}
