/* peer_ring - `gillnet peer init`, `ring create`, `admin-key`, `invite`, `join`: creation and
 * growth of a ring. */
#include <sysexits.h>

#include "core/base/hash256.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite.h"

enum { MS_PER_S = 1000 };

/* ---- this server ---- */

struct self_options {
    const char *name;
    const char *address;
};

static bool set_text(const char *value, char *ret, size_t size)
{
    return value == NULL || (size_t)snprintf(ret, size, "%s", value) < size;
}

/* Loads or makes the identity, and stores name and address of this server. */
static enum err make_self(const char *dir, const struct self_options *o,
                          struct identity *ret, struct ring_self *retself,
                          bool *retis_new, struct errinfo *reterr)
{
    enum err e = identity_load(dir, ret, reterr);

    *retis_new = e == ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND) {
        e = identity_create(dir, ret, reterr);
    }
    THEN(e, ring_self_load(dir, PEER_PORT, retself, reterr));
    if (e == ERR_OK &&
        (!set_text(o->name, retself->name, sizeof(retself->name)) ||
         !set_text(o->address, retself->address, sizeof(retself->address)))) {
        e = errinfo_set(reterr, ERR_LIMIT, "name or address", 0, "it is too long");
    }
    return e == ERR_OK ? ring_self_store(dir, retself, reterr) : e;
}

static void print_self(const struct cli *cli, const struct identity *i,
                       const struct ring_self *s)
{
    char origin[2 * OBJECT_ID_BYTES + 1];
    char key[2 * OBJECT_KEY_BYTES + 1];

    hex_print(i->origin.b, OBJECT_ID_BYTES, origin);
    hex_print(i->signing.key, OBJECT_KEY_BYTES, key);
    if (cli->json) {
        (void)json_line(json_pack("{s:s, s:s, s:s, s:s}", "name", s->name, "origin",
                                  origin, "address", s->address, "key", key));
        return;
    }
    (void)printf("name     %s\norigin   %s\naddress  %s\n", s->name, origin,
                 s->address[0] != '\0' ? s->address : "none");
}

static void print_unreachable(const struct ring_self *s)
{
    if (s->address[0] == '\0') {
        (void)puts("Others cannot reach this server: give it an address with "
                   "`gillnet peer init --address HOST:PORT`.");
    }
}

/* Changes the server's address in the ring's manifest, if it is in a ring. */
static int change_address(const struct peer_hold *h, const struct identity *self,
                          const char *address)
{
    const char *dir = h->dir;
    struct errinfo why = {.code = ERR_OK};
    struct manifest m = {.version = 0};
    struct ring_outcome o = {.version = 0};
    struct ring_address edit = {self->origin, address};
    enum err e = manifest_load(dir, &m, &why);

    if (e == ERR_NOT_FOUND) {
        return 0;
    }
    if (e == ERR_OK) {
        const struct manifest_member *own = manifest_find(&m, &self->origin);
        if (own != NULL && strcmp(own->address, address) == 0) {
            manifest_fini(&m);
            return 0;
        }
        e = peer_sign_change(h, ring_edit_address, &edit, &m, &o, &why);
        manifest_fini(&m);
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    peer_print_outcome(&o, dir, "The address changes");
    return 0;
}

static int init(struct cli *cli, const struct self_options *o, struct peer_hold *h)
{
    struct errinfo why = {.code = ERR_OK};
    struct identity self;
    struct ring_self s = {.name = ""};
    bool is_new = false;

    if (make_self(h->dir, o, &self, &s, &is_new, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    print_self(cli, &self, &s);
    if (!cli->json) {
        (void)puts(is_new
                       ? "The identity is made. Keep a copy of identity.key in a safe "
                         "place. Next: `gillnet peer join TOKEN`, with a token that "
                         "a member's administrator made by `gillnet peer invite "
                         "NAME`; or `gillnet peer ring create`."
                       : "The identity was there already.");
        print_unreachable(&s);
    }
    int status = o->address != NULL ? change_address(h, &self, s.address) : 0;
    identity_wipe(&self);
    return status;
}

int peer_cmd_init(struct cli *cli, int argc, char **argv)
{
    struct self_options o = {NULL, NULL};
    const struct cli_option table[] = {
        {"--name", &o.name, NULL, NULL},
        {"--address", &o.address, NULL, NULL},
    };
    struct peer_hold h = PEER_HOLD_NONE;
    int status = cli_arguments(
        (struct cli_form){"peer", table, 2, 0, 0, "init takes options only"}, &argc,
        argv);

    THEN(status, peer_hold_take(cli, true, &h));
    THEN(status, init(cli, &o, &h));
    peer_hold_drop(&h);
    return status;
}

/* ---- the ring ---- */

static int parse_admins(const struct cli_values *keys, struct manifest *m)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (m->nadmins == MANIFEST_ADMINS_MAX ||
            !hex_parse(slice_str(keys->v[i]), m->admins[m->nadmins],
                       OBJECT_KEY_BYTES)) {
            return cli_usage("peer",
                             "--admin: a key as `gillnet peer admin-key` prints "
                             "it, at most 16 of them");
        }
        bool is_own =
            memcmp(m->admins[0], m->admins[m->nadmins], OBJECT_KEY_BYTES) == 0;
        m->nadmins += is_own ? 0 : 1;
    }
    return 0;
}

static void fill_ring(struct manifest *m, const struct identity *self,
                      const struct ring_self *s, uint32_t ring_key, enum ring_kind kind)
{
    struct manifest_member *own = m->members;

    *own = (struct manifest_member){
        .state = MEMBER_ACTIVE, .since_ms = peer_now_ms(), .nkeys = 1};
    memcpy(own->name, s->name, sizeof(own->name));
    memcpy(own->address, s->address, sizeof(own->address));
    memcpy(own->identity, self->public_key, OBJECT_KEY_BYTES);
    own->origin = self->origin;
    own->keys[0].binding = self->signing;
    m->nmembers = 1;
    m->ring_keys[0].id = ring_key;
    m->nring_keys = 1;
    m->kind = kind;
    m->default_cap = MANIFEST_CAP_DEFAULT;
    m->quorum = MANIFEST_QUORUM_DEFAULT;
    m->default_records_per_day = MANIFEST_RECORDS_DEFAULT;
}

struct ring_wish {
    struct self_options self;
    struct cli_values admins;
    unsigned threshold;
    enum ring_kind kind;
};

static void print_next(const struct peer_hold *h, enum ring_kind kind)
{
    (void)puts(kind == RING_OWN
                   ? "Its kind is own: the servers of one owner, whose counts add up. "
                     "For servers of several owners: gillnet peer set --ring --kind "
                     "federation"
                   : "Its kind is federation: a cap and a quorum bound what other "
                     "members' counts may do.");
    if (h->admin_key != NULL) {
        (void)printf(
            "The administrator's key is in %s. Take that file off this server "
            "and keep a copy: its holder decides who is in the ring. The hub runs "
            "without it. A server that joins waits until you sign: "
            "gillnet peer manifest sign --admin-key FILE\n",
            h->admin_key);
    } else {
        (void)puts(
            "The administrator's key is peers/admin.key, beside the hub: its holder "
            "decides who is in the ring. It may be moved off this "
            "server; then give each command that signs --admin-key FILE.");
    }
    (void)puts("Keep a copy of identity.key in a safe place. Next: start gillnet-hub, "
               "and `gillnet peer invite NAME` for each other server.");
}

static int create(struct cli *cli, const struct ring_wish *wish, struct peer_hold *h)
{
    struct errinfo why = {.code = ERR_OK};
    struct identity self;
    struct ring_self s = {.name = ""};
    struct manifest_member own;
    struct manifest m = {.threshold = wish->threshold, .nadmins = 1, .members = &own};
    struct ring_outcome o = {.version = 0};
    uint8_t admin[OBJECT_KEY_BYTES];
    bool is_new = false;
    int status = cli_keys(cli, true);

    if (status != 0) {
        return status;
    }
    enum err e = make_self(h->dir, &wish->self, &self, &s, &is_new, &why);
    if (e == ERR_OK) {
        e = ring_admin_key(h->dir, h->admin_key, true, admin, m.admins[0], &why);
        explicit_bzero(admin, sizeof(admin));
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    status = parse_admins(&wish->admins, &m);
    if (status == 0 && (m.threshold == 0 || m.threshold > m.nadmins)) {
        status =
            cli_usage("peer", "--threshold: a number from 1 to that of the "
                              "administrators' keys, this server's own among them");
    }
    if (status == 0) {
        fill_ring(&m, &self, &s, cli->keys.ring[0].id, wish->kind);
        e = ring_create(h->dir, &m, &o, &why);
        if (e == ERR_OK && h->admin_key != NULL && !o.is_in_force) {
            e = peer_sign_waiting(h, &o, &why);
        }
        status = e == ERR_OK ? 0 : cli_fail(&why);
    }
    if (status == 0) {
        print_self(cli, &self, &s);
        peer_print_outcome(&o, h->dir, "The ring is made, with this server in it");
        print_next(h, wish->kind);
        print_unreachable(&s);
    }
    identity_wipe(&self);
    return status;
}

/* A line of the terminal, without its end. False: there is none. */
static bool ask_terminal(const char *question, char *ret, size_t size)
{
    (void)fputs(question, stdout);
    (void)fflush(stdout);
    if (fgets(ret, (int)size, stdin) == NULL) {
        return false;
    }
    ret[strcspn(ret, "\n")] = '\0';
    return true;
}

/* Asks on a terminal for kind and key file, unless options name them. file: room for the name. */
static int ask_wishes(struct cli *cli, bool has_kind, struct ring_wish *io,
                      char file[FILE_PATH_MAX])
{
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 || cli->json) {
        return 0;
    }
    while (!has_kind) {
        if (!ask_terminal(
                "Whose servers will be in the ring? own: all of one owner, their "
                "counts add up. federation: of several owners, a cap and a quorum "
                "bound what others' counts may do. [own] ",
                file, FILE_PATH_MAX)) {
            return EX_NOINPUT;
        }
        has_kind = file[0] == '\0' || ring_kind_by_name(slice_str(file), &io->kind);
    }
    if (cli->admin_key == NULL) {
        if (!ask_terminal(
                "The holder of the administrator's key decides who is in the ring. "
                "Write it "
                "to which file, to be kept elsewhere? [none: it stays beside the hub] ",
                file, FILE_PATH_MAX)) {
            return EX_NOINPUT;
        }
        cli->admin_key = file[0] != '\0' ? file : NULL;
    }
    return 0;
}

int peer_cmd_ring(struct cli *cli, int argc, char **argv)
{
    struct ring_wish wish = {.threshold = 1, .kind = RING_OWN};
    const char *threshold = NULL;
    const char *kind = NULL;
    char file[FILE_PATH_MAX];
    const struct cli_option table[] = {
        {"--name", &wish.self.name, NULL, NULL},
        {"--address", &wish.self.address, NULL, NULL},
        {"--threshold", &threshold, NULL, NULL},
        {"--kind", &kind, NULL, NULL},
        {"--admin", NULL, NULL, &wish.admins},
    };
    struct peer_hold h = PEER_HOLD_NONE;
    int status = cli_options(cli_command("peer"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 2 || strcmp(argv[1], "create") != 0) {
        return cli_usage("peer", "what to do with the ring: create");
    }
    if (kind != NULL && !ring_kind_by_name(slice_str(kind), &wish.kind)) {
        return cli_usage("peer", peer_kind_usage);
    }
    wish.threshold = threshold != NULL ? peer_small_number(threshold) : 1;
    status = ask_wishes(cli, kind != NULL, &wish, file);
    THEN(status, peer_hold_take(cli, true, &h));
    THEN(status, create(cli, &wish, &h));
    peer_hold_drop(&h);
    return status;
}

int peer_cmd_admin_key(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t key[OBJECT_KEY_BYTES];
    char hex[2 * OBJECT_KEY_BYTES + 1];
    struct peer_hold h = PEER_HOLD_NONE;

    int status = cli_arguments(CLI_WORDS("peer", 0, 0, "admin-key takes no arguments"),
                               &argc, argv);

    THEN(status, peer_hold_take(cli, true, &h));
    THEN(status,
         cli_status(ring_admin_key(h.dir, h.admin_key, true, secret, key, &why), &why));
    peer_hold_drop(&h);
    explicit_bzero(secret, sizeof(secret));
    if (status == 0) {
        hex_print(key, sizeof(key), hex);
        (void)puts(hex);
    }
    return status;
}

/* ---- joining ---- */

static int invite(struct cli *cli, const char *name, uint32_t expires_s,
                  struct peer_hold *h)
{
    struct errinfo why = {.code = ERR_OK};
    struct identity self;
    struct manifest m;
    struct buf token;
    char when[TEXT_TIME_MAX];
    int status = cli_keys(cli, false);

    THEN(status, peer_load(h->dir, &self, &m));
    if (status != 0) {
        return status;
    }
    struct invite_server server = {h->dir, &self, &cli->keys};
    buf_init(&token, INVITE_TOKEN_MAX);
    if (invite_make(&server, &m, name, expires_s, &token, &why) != ERR_OK) {
        status = cli_fail(&why);
    } else if (cli->json) {
        status = json_status(json_pack("{s:s, s:s, s:I}", "name", name, "token",
                                       token.p, "expires", (json_int_t)expires_s));
    } else {
        (void)printf("%s\n", token.p);
        (void)fprintf(
            stderr,
            "Give this line to the administrator of %s over a way that nobody "
            "else reads; it can be used once, until %s. There:\n"
            "  gillnet peer init\n  gillnet peer join TOKEN\n"
            "The hub must run here meanwhile. To take the invitation back: "
            "gillnet peer drop %s\n",
            name, text_time(expires_s, when), name);
    }
    buf_fini(&token);
    manifest_fini(&m);
    identity_wipe(&self);
    return status;
}

int peer_cmd_invite(struct cli *cli, int argc, char **argv)
{
    const char *expires = "1d";
    uint32_t expires_s = 0;
    const struct cli_option table[] = {{"--expires", &expires, NULL, NULL}};
    struct peer_hold h = PEER_HOLD_NONE;
    int status = cli_arguments(
        CLI_FORM("peer", table, 1, 1, "invite whom: a name for the new member"), &argc,
        argv);

    if (status != 0) {
        return status;
    }
    if (!cli_expiry(expires, &expires_s)) {
        return cli_usage("peer", "--expires: a time such as 12h or 1d");
    }
    /* the file of invitations has a lock of its own, so the hub need not pause */
    status = peer_dir(cli, h.dir);
    return status == 0 ? invite(cli, argv[1], expires_s, &h) : status;
}

int peer_cmd_join(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct identity self;
    struct invite_token t;
    char dir[FILE_PATH_MAX];
    char command[] = "join";
    char *args[] = {command, NULL, NULL};

    if (argc != 2) {
        return cli_usage("peer", "join with which token (- for standard input)");
    }
    int status = peer_dir(cli, dir);
    if (status != 0) {
        return status;
    }
    if (identity_load(dir, &self, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    identity_wipe(&self);
    if (strcmp(argv[1], "-") != 0) {
        if (invite_parse(slice_str(argv[1]), &t, &why) != ERR_OK) {
            return cli_fail(&why);
        }
        if ((uint64_t)t.expires_s * MS_PER_S <= peer_now_ms()) {
            (void)errinfo_set(&why, ERR_TIMEOUT, "token", 0,
                              "it has expired; ask for a new invitation");
            return cli_fail(&why);
        }
    }
    args[1] = argv[1];
    return program_exec(cli, PROGRAM_HUB, args);
}
