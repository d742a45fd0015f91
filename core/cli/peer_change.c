/* peer_change - `gillnet peer drop`, `rotate`, `revoke-key` and `renew`: changes of an existing
 * ring. */
#include <sysexits.h>

#include "core/base/random.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite.h"

enum {
    MS_PER_S = 1000,
    BUCKET_MS = OBJECT_BUCKET_S * MS_PER_S,
    OVERLAP_MS = 3600 * MS_PER_S, /* both signing keys are good */
    WHAT_MAX = 128
};

/* ---- drop ---- */

static int drop_member(struct peer_change *c, const char *name)
{
    struct ring_state edit = {name, MEMBER_DROPPED, peer_now_ms()};
    char what[WHAT_MAX];
    const struct manifest_member *member = manifest_find_name(&c->m, slice_str(name));
    bool was_invited = invite_withdraw(c->hold.dir, name, NULL) == ERR_OK;

    if (member == NULL && was_invited) {
        (void)printf("The invitation of %s is revoked.\n", name);
        return 0;
    }
    if (member != NULL &&
        memcmp(&member->origin, &c->self.origin, sizeof(c->self.origin)) == 0) {
        return cli_error(EX_USAGE,
                         "this is the server itself; let it be dropped on another "
                         "member's");
    }
    (void)snprintf(what, sizeof(what), "%.64s is dropped", name);
    int status = peer_change_make(c, ring_edit_state, &edit, what);
    if (status == 0 && c->outcome.is_in_force) {
        (void)puts(
            "Its lists and counts are removed, here at once, elsewhere with the new "
            "version. It still knows the digest key: `gillnet peer "
            "rotate --digest-key` makes another.");
    }
    return status;
}

int peer_cmd_drop(struct cli *cli, int argc, char **argv)
{
    struct peer_change c = PEER_CHANGE_NONE;
    int status = cli_arguments(CLI_WORDS("peer", 1, 1, "drop whom"), &argc, argv);

    THEN(status, peer_change_begin(&c, cli));
    THEN(status, drop_member(&c, argv[1]));
    peer_change_end(&c);
    return status;
}

/* ---- the signing key of this server ---- */

static int rotate_alone(struct peer_hold *h)
{
    struct errinfo why = {.code = ERR_OK};
    struct identity self;

    if (identity_load(h->dir, &self, &why) != ERR_OK ||
        identity_rotate(h->dir, &self, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    identity_wipe(&self);
    (void)puts(
        "This server signs with a new key; it is in no ring, so nobody else needs "
        "to know.");
    return 0;
}

/* Goes over to the new key if the ring knows it and its time has come; reports when it will. */
static int turn(struct peer_change *c, uint64_t not_before_ms, bool is_now)
{
    struct errinfo why = {.code = ERR_OK};
    char when[TEXT_TIME_MAX];
    bool changed = false;

    if (ring_turn_identity(c->hold.dir, &c->m, &c->self, peer_now_ms(), &changed,
                           &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (changed) {
        (void)puts("This server signs with the new key now. A member that is not "
                   "reached by the new version otherwise needs it by hand: `gillnet "
                   "peer manifest show >FILE`, there `gillnet peer manifest accept "
                   "FILE`.");
    } else if (is_now) {
        (void)puts("The hub goes over to the new key when that version is in force.");
    } else {
        (void)printf(
            "The hub goes over to the new key at %s; until then the old one is "
            "used. A member that is switched off all that time needs the new "
            "version by hand: `gillnet peer manifest show >FILE`, there "
            "`gillnet peer manifest accept FILE`.\n",
            text_time(not_before_ms / MS_PER_S, when));
    }
    return 0;
}

static int rotate_signing(struct peer_change *c, uint64_t not_before_ms, bool is_now,
                          bool is_leaked)
{
    struct errinfo why = {.code = ERR_OK};
    uint64_t now_ms = peer_now_ms();
    struct ring_rotation edit = {.origin = c->self.origin,
                                 .until_ms =
                                     is_now ? now_ms : not_before_ms + OVERLAP_MS,
                                 .now_ms = now_ms,
                                 .is_leaked = is_leaked};

    if (identity_prepare(c->hold.dir, &c->self, is_now ? now_ms : not_before_ms,
                         &edit.binding, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    int status =
        peer_change_make(c, ring_edit_rotate, &edit,
                         is_leaked ? "The former signing keys of this server are "
                                     "revoked, a new one is made"
                                   : "This server has a new signing key");
    return status == 0 ? turn(c, not_before_ms, is_now) : status;
}

/* ---- the digest key ---- */

static int rotate_ring_key(struct peer_change *c, uint64_t from_ms)
{
    struct errinfo why = {.code = ERR_OK};
    struct manifest trial = {.version = 0};
    struct hashkey key;
    uint8_t bytes[HASHKEY_BYTES];
    char when[TEXT_TIME_MAX];
    const char *state_dir = c->cli->config->state_dir;

    random_bytes(bytes, sizeof(bytes));
    keyring_key_of(bytes, &key);
    explicit_bzero(bytes, sizeof(bytes));
    from_ms = (from_ms + BUCKET_MS - 1) / BUCKET_MS * BUCKET_MS;
    struct manifest_ring_key edit = {key.id, from_ms};
    /* on a copy first, before a file changes */
    enum err e = manifest_copy(&c->m, &trial) == ERR_OK
                     ? ring_edit_ring_key(&trial, &edit, &why)
                     : errinfo_nomem(&why, "ring");
    manifest_fini(&trial);
    THEN(e, digest_key_put(state_dir, &key, false, &why));
    explicit_bzero(key.bytes, sizeof(key.bytes));
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    int status =
        peer_change_make(c, ring_edit_ring_key, &edit, "The ring has a new key");
    if (status == 0) {
        (void)printf("It is used from %s on; the hubs fetch it before. After that "
                     "restart gillnetd on every server (a reload is not enough), so "
                     "that it counts with it; until then `gillnet doctor` says so. "
                     "Lists made under the old key stay readable.\n",
                     text_time(from_ms / MS_PER_S, when));
    }
    return status;
}

int peer_cmd_rotate(struct cli *cli, int argc, char **argv)
{
    bool is_ring_key = false;
    bool is_now = false;
    const char *after = NULL;
    uint32_t at_s = 0;
    struct peer_change c = PEER_CHANGE_NONE;
    const struct cli_option table[] = {
        {"--digest-key", NULL, &is_ring_key, NULL},
        {"--now", NULL, &is_now, NULL},
        {"--after", &after, NULL, NULL},
    };
    int status = cli_options(cli_command("peer"), table, 3, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 1 || (is_now && (is_ring_key || after != NULL))) {
        return cli_usage("peer",
                         "rotate: --now or --after, and --digest-key takes --after");
    }
    if (!cli_expiry(after != NULL ? after : is_ring_key ? "1d" : "1h", &at_s)) {
        return cli_usage("peer", "--after: a time such as 1h or 2d");
    }
    c.cli = cli;
    status = peer_hold_take(cli, false, &c.hold);
    if (status == 0 && !is_ring_key) {
        struct manifest m;
        enum err e = manifest_load(c.hold.dir, &m, NULL);
        if (e == ERR_NOT_FOUND) {
            status = rotate_alone(&c.hold);
            peer_hold_drop(&c.hold);
            return status;
        }
        if (e == ERR_OK) {
            manifest_fini(&m);
        }
    }
    THEN(status, peer_load(c.hold.dir, &c.self, &c.m));
    if (status == 0) {
        uint64_t at_ms = (uint64_t)at_s * MS_PER_S;
        status = is_ring_key ? rotate_ring_key(&c, at_ms)
                             : rotate_signing(&c, at_ms, is_now, false);
    }
    peer_change_end(&c);
    return status;
}

/* ---- a key that leaked ---- */

/* 16 hexadecimal digits. */
static bool parse_key_id(const char *text, uint64_t *ret)
{
    return strlen(text) == 16 && slice_to_u64(slice_str(text), 16, UINT64_MAX, ret) &&
           *ret != 0;
}

static int revoke_key(struct peer_change *c, const char *name, uint64_t key_id)
{
    const struct manifest_member *own = manifest_find(&c->m, &c->self.origin);
    bool is_own = own != NULL && (name == NULL || strcmp(own->name, name) == 0);
    struct ring_revocation edit = {name, key_id};
    char what[WHAT_MAX];

    if (is_own && (key_id == 0 || key_id == object_key_id(c->self.signing.key))) {
        return rotate_signing(c, 0, true, true);
    }
    if (name == NULL) {
        edit.name = own != NULL ? own->name : "";
    }
    (void)snprintf(what, sizeof(what), "A signing key of %.64s is revoked", edit.name);
    int status = peer_change_make(c, ring_edit_revoke, &edit, what);
    if (status == 0) {
        (void)printf(
            "Everything that it signed is removed. That server needs a new key. Here: "
            "`gillnet peer drop %s`, `gillnet peer invite %s`. There: stop "
            "gillnet-hub, move peers/manifest and peers/manifest.next in the "
            "state folder away, `gillnet peer rotate`, `gillnet peer join "
            "TOKEN`, start it.\n",
            edit.name, edit.name);
    }
    return status;
}

int peer_cmd_revoke_key(struct cli *cli, int argc, char **argv)
{
    const char *key = NULL;
    uint64_t key_id = 0;
    struct peer_change c = PEER_CHANGE_NONE;
    const struct cli_option table[] = {{"--key", &key, NULL, NULL}};
    int status = cli_options(cli_command("peer"), table, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc > 2 || (key != NULL && !parse_key_id(key, &key_id))) {
        return cli_usage("peer",
                         "revoke-key [NAME] [--key ID], with an ID as `gillnet peer "
                         "list` shows it");
    }
    status = peer_change_begin(&c, cli);
    THEN(status, revoke_key(&c, argc == 2 ? argv[1] : NULL, key_id));
    peer_change_end(&c);
    return status;
}

/* ---- renew ---- */

int peer_cmd_renew(struct cli *cli, int argc, char **argv)
{
    struct peer_change c = PEER_CHANGE_NONE;
    char when[TEXT_TIME_MAX];
    char what[WHAT_MAX];
    int status =
        cli_arguments(CLI_WORDS("peer", 0, 0, "renew takes no arguments"), &argc, argv);

    THEN(status, peer_change_begin(&c, cli));
    if (status == 0) {
        uint64_t until_s =
            peer_now_ms() / MS_PER_S + MANIFEST_EXPIRY_DAYS * (uint64_t)86400;
        (void)snprintf(what, sizeof(what), "The ring's manifest is good until %s",
                       text_time(until_s, when));
        status = peer_change_make(&c, ring_edit_nothing, NULL, what);
    }
    peer_change_end(&c);
    return status;
}
