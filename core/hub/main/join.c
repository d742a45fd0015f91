/* join - one request to the server that invited. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/hub/exchange/node.h"
#include "core/hub/exchange/peer_client.h"
#include "core/hub/main/hub.h"
#include "core/ring/trust/invite.h"

enum { JOIN_S = 60 };

struct join {
    struct node node; /* its folders */
    struct invite_token token;
    struct identity self;
    struct buf request;
    struct buf response;
    unsigned status;
    char why[256];
};

static void on_answer(void *context, const struct peer_client_answer *a)
{
    struct join *j = context;

    j->status = a->status;
    (void)snprintf(j->why, sizeof(j->why), "%s", a->why);
    buf_add(&j->response, a->body);
}

static int complain(const struct errinfo *why, int status)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    (void)fprintf(stderr, "gillnet-hub: %s\n", errinfo_format(why, text, sizeof(text)));
    return status;
}

static enum err send_request(struct join *j, struct errinfo *reterr)
{
    struct event_base *base = event_base_new();
    struct tls_pins pins = {.key = j->token.server_key};
    struct peer_client *client = NULL;
    struct client_call *call = NULL;
    const struct peer_client_request r = {.url = "https://" TLS_JOIN_NAME "/v1/join",
                                          .connect_to = j->token.address,
                                          .pins = &pins,
                                          .post = buf_slice(&j->request),
                                          .max_bytes = INVITE_RESPONSE_MAX,
                                          .timeout_s = JOIN_S,
                                          .done = on_answer,
                                          .context = j};
    enum err e = ERR_NOMEM;

    if (base != NULL) {
        e = peer_client_new(base, j->node.dir, &client, reterr);
    }
    THEN(e, peer_client_start(client, &r, &call, reterr));
    if (e == ERR_OK) {
        (void)event_base_dispatch(base); /* ends when nothing is left to wait for */
    }
    peer_client_free(&client);
    if (base != NULL) {
        event_base_free(base);
    }
    return e;
}

static int accept_answer(struct join *j, const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct filelock lock = {.fd = -1};
    struct invite_answer answer;
    struct errinfo why = {.text = ""};
    enum err e = file_path(path, "%s/LOCK", j->node.dir);

    THEN(e, filelock_take(&lock, path, &why));
    THEN(e, invite_accept(config->state_dir, &j->token, &j->self,
                          buf_slice(&j->response), &answer, &why));
    filelock_drop(&lock);
    if (e != ERR_OK) {
        return complain(&why, e == ERR_EXISTS ? EX_UNAVAILABLE : EX_DATAERR);
    }
    if (!answer.is_member) {
        printf("The request is in; other administrators of the ring must sign version "
               "%llu of its manifest.\nThen: the same command with the same token.\n",
               (unsigned long long)answer.version);
        return EX_TEMPFAIL;
    }
    printf(
        "This server is %s in the ring now (version %llu of its manifest).\n"
        "Restart gillnetd (systemctl restart gillnetd): it counts with the digest key "
        "from then on.\nStart gillnet-hub if it does not run.\n",
        answer.name, (unsigned long long)answer.version);
    return EX_OK;
}

static int finish_join(struct join *j, const struct config *config)
{
    char text[LOG_STR_MAX];
    struct errinfo why;

    if (j->status == 200) {
        return accept_answer(j, config);
    }
    if (j->status == 0) {
        errinfo_set(&why, ERR_IO, j->token.address, 0,
                    "cannot ask there: %s; is gillnet hub running on the server that "
                    "invited, and is the invitation still open?",
                    j->why);
        return complain(&why, EX_UNAVAILABLE);
    }
    for (size_t i = 0; i < j->response.n;
         i++) { /* words, not bytes, go to a terminal */
        if ((unsigned char)j->response.p[i] < ' ' ||
            (unsigned char)j->response.p[i] >= 0x7f) {
            j->response.p[i] = '?';
        }
    }
    (void)snprintf(text, sizeof(text), "%.200s",
                   j->response.n > 0 ? j->response.p : "no reason given");
    errinfo_set(&why, ERR_DENIED, j->token.address, 0, "refused (%u): %s", j->status,
                text);
    return complain(&why, j->status == 503 ? EX_TEMPFAIL : EX_NOPERM);
}

/* Checks for a ring. A server may join its own ring again while its hub is stopped. */
static enum err check_ring(const struct join *j, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct filelock lock = {.fd = -1};
    struct manifest m = {.version = 0};
    const struct manifest_key *key = NULL;
    enum err e = file_path(path, "%s/LOCK", j->node.dir);

    if (manifest_load(j->node.dir, &m, NULL) != ERR_OK) {
        return ERR_OK; /* no readable manifest: invite_accept checks the answer */
    }
    if (manifest_find_key(&m, object_key_id(j->token.server_key),
                          clock_wall_us() / 1000, &key) == NULL) {
        e = errinfo_set(reterr, ERR_EXISTS, j->node.dir, 0,
                        "this server is in a ring already, whose members do not have "
                        "the key in the token; to leave it let this server be dropped "
                        "there, then move the files manifest and manifest.next away");
    } else if (e == ERR_OK && filelock_take(&lock, path, NULL) != ERR_OK) {
        e = errinfo_set(reterr, ERR_LOCKED, j->node.dir, 0,
                        "this server is in that ring already; to join again stop "
                        "gillnet-hub first");
    }
    filelock_drop(&lock);
    manifest_fini(&m);
    return e;
}

static enum err prepare_join(struct join *j, const struct config *config,
                             const char *token, struct errinfo *reterr)
{
    struct ring_self self;
    enum err e = node_init(&j->node, config->state_dir, reterr);

    THEN(e, invite_parse(slice_str(token), &j->token, reterr));
    THEN(e, check_ring(j, reterr));
    THEN(e, identity_load(j->node.dir, &j->self, reterr));
    THEN(e, ring_self_load(j->node.dir, HUB_PORT, &self, reterr));
    THEN(e, invite_request(&j->token, &j->self, self.address, &j->request));
    return e;
}

int join_run(const struct config *config, const char *token)
{
    struct join j = {.status = 0};
    struct errinfo why = {.text = ""};
    enum err e;
    int status = EX_OSERR;

    buf_init(&j.request, INVITE_REQUEST_MAX);
    buf_init(&j.response, INVITE_RESPONSE_MAX);
    e = prepare_join(&j, config, token, &why);
    if (e != ERR_OK) {
        status = complain(&why, e == ERR_SYNTAX   ? EX_USAGE
                                : e == ERR_EXISTS ? EX_UNAVAILABLE
                                : e == ERR_LOCKED ? EX_TEMPFAIL
                                                  : EX_CONFIG);
    } else if (send_request(&j, &why) != ERR_OK) {
        status = complain(&why, EX_OSERR);
    } else {
        status = finish_join(&j, config);
    }
    identity_wipe(&j.self);
    buf_fini(&j.request);
    buf_fini(&j.response);
    return status;
}
