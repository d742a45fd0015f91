/* cmd_peer - `gillnet peer`: the subcommands, and their shared functions. */
#include <sys/socket.h>
#include <sys/time.h>

#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/cli/change_note.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/ring/trust/peer_file.h"

enum {
    HUB_WAIT_S = 20,
    STATE_MODE = 02750,
    US_PER_MS = 1000,
    MS_PER_S = 1000,
    OBJECT_MAX = 256
};

const char peer_kind_usage[] =
    "--kind: own (servers of one owner) or federation (of several)";

uint64_t peer_now_ms(void)
{
    return clock_wall_us() / US_PER_MS;
}

unsigned peer_small_number(const char *text)
{
    uint64_t n = 0;

    (void)slice_to_u64(slice_str(text), 10, 999, &n);
    return (unsigned)n;
}

/* ---- the folder ---- */

int peer_dir(struct cli *cli, char ret[FILE_PATH_MAX])
{
    struct errinfo why = {.code = ERR_OK};
    int status = cli_config(cli);

    return status != 0
               ? status
               : cli_status(path_make(ret, &why, "%s/peers", cli->config->state_dir),
                            &why);
}

/* Asks a running hub to pause while the connection is open. */
static enum err ask_hub(const char *path, int *retfd, struct errinfo *reterr)
{
    struct timeval wait = {.tv_sec = HUB_WAIT_S};
    char answer[160];
    ssize_t n = 0;
    enum err e = control_connect(path, retfd, reterr);

    if (e == ERR_NOT_FOUND) {
        *retfd = -1;
        return ERR_OK;
    }
    if (e != ERR_OK) {
        *retfd = -1;
        return e;
    }
    (void)setsockopt(*retfd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    if (send(*retfd, "pause\n", 6, MSG_NOSIGNAL) == 6) {
        n = recv(*retfd, answer, sizeof(answer), 0);
    }
    if (n >= 2 && memcmp(answer, "ok", 2) == 0) {
        return ERR_OK;
    }
    if (n > 6 && memcmp(answer, "error ", 6) == 0) {
        struct slice why = slice_trim(slice_of(answer + 6, (size_t)n - 6));
        return errinfo_set(reterr, ERR_TIMEOUT, path, 0, "%.*s", SLICE_ARGS(why));
    }
    return errinfo_set(reterr, ERR_TIMEOUT, path, 0,
                       "the hub does not pause; see its log, or stop it first");
}

int peer_hold_take(struct cli *cli, bool make, struct peer_hold *ret)
{
    struct errinfo why = {.code = ERR_OK};
    char lock[FILE_PATH_MAX];
    enum err e = ERR_OK;

    ret->fd = -1;
    ret->lock.fd = -1;
    ret->admin_key = cli->admin_key;
    int status = peer_dir(cli, ret->dir);
    if (status != 0) {
        return status;
    }
    if (make) {
        e = file_make_dir(cli->config->state_dir, STATE_MODE, &why);
        THEN(e, peer_file_make_dir(ret->dir, &why));
    } else if (access(ret->dir, F_OK) != 0) {
        e = errinfo_set(&why, ERR_NOT_FOUND, ret->dir, 0,
                        "this server has no identity yet; make one with `gillnet peer "
                        "init`, or with `gillnet peer ring create`");
    }
    THEN(e, ask_hub(cli->config->hub.control_socket, &ret->fd, &why));
    THEN(e, path_make(lock, &why, "%s/LOCK", ret->dir));
    if (e == ERR_OK && access(lock, F_OK) != 0) { /* for the folder's user */
        e = peer_file_write(ret->dir, "LOCK", SLICE_NONE, PEER_FILE_MODE, &why);
    }
    THEN(e, filelock_take(&ret->lock, lock, &why));
    return cli_status(e, &why);
}

void peer_hold_drop(struct peer_hold *h)
{
    filelock_drop(&h->lock);
    fd_close(&h->fd);
}

int peer_load(const char *dir, struct identity *retself, struct manifest *retm)
{
    struct errinfo why = {.code = ERR_OK};

    if (identity_load(dir, retself, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (manifest_load(dir, retm, &why) != ERR_OK) {
        identity_wipe(retself);
        return cli_fail(&why);
    }
    return 0;
}

/* ---- outcomes ---- */

void peer_print_outcome(const struct ring_outcome *o, const char *dir, const char *what)
{
    if (o->is_in_force) {
        (void)printf("%s: version %" PRIu64
                     " of the ring is in force, and other members "
                     "take it within seconds while the hubs run.\n",
                     what, o->version);
        return;
    }
    (void)printf(
        "%s as soon as version %" PRIu64 " of the ring is in force: it has %u of %u "
        "signatures.\n"
        "It waits in %s/manifest.next. Send that file to another administrator, who "
        "runs\n"
        "  gillnet peer manifest sign FILE\n"
        "and sends it back, then run here\n"
        "  gillnet peer manifest accept FILE\n"
        "With an administrator's key that is kept elsewhere, run here\n"
        "  gillnet peer manifest sign --admin-key FILE\n",
        what, o->version, o->signatures, o->needed, dir);
}

static void print_member_changes(FILE *to, const struct manifest_member *was,
                                 const struct manifest_member *is)
{
    if (was == NULL) {
        (void)fprintf(to, "  member %s joins (%s), address %s\n", is->name,
                      member_state_name(is->state),
                      is->address[0] != '\0' ? is->address : "none");
        return;
    }
    if (strcmp(was->name, is->name) != 0) {
        (void)fprintf(to, "  member %s is called %s\n", was->name, is->name);
    }
    if (was->state != is->state) {
        (void)fprintf(to, "  member %s is %s (was %s)\n", is->name,
                      member_state_name(is->state), member_state_name(was->state));
    }
    if (strcmp(was->address, is->address) != 0) {
        (void)fprintf(to, "  member %s: address \"%s\" (was \"%s\")\n", is->name,
                      is->address, was->address);
    }
    if (was->nkeys != is->nkeys ||
        memcmp(was->keys, is->keys, is->nkeys * sizeof(is->keys[0])) != 0) {
        (void)fprintf(to, "  member %s: its signing keys change\n", is->name);
    }
    if (was->cap != is->cap || was->records_per_day != is->records_per_day) {
        (void)fprintf(to, "  member %s: cap or quota changes\n", is->name);
    }
}

void peer_print_changes(FILE *to, const struct manifest *old,
                        const struct manifest *next)
{
    char when[TEXT_TIME_MAX];

    (void)fprintf(to, "version %" PRIu64 ", good until %s:\n", next->version,
                  text_time(next->expires_ms / MS_PER_S, when));
    for (unsigned i = 0; i < next->nmembers; i++) {
        const struct manifest_member *is = &next->members[i];
        print_member_changes(to, old != NULL ? manifest_find(old, &is->origin) : NULL,
                             is);
    }
    for (unsigned i = 0; old != NULL && i < old->nmembers; i++) {
        if (manifest_find(next, &old->members[i].origin) == NULL) {
            (void)fprintf(to, "  member %s leaves\n", old->members[i].name);
        }
    }
    if (old == NULL || old->nadmins != next->nadmins ||
        old->threshold != next->threshold ||
        memcmp(old->admins, next->admins, sizeof(old->admins)) != 0) {
        (void)fprintf(to, "  administrators: %u, of whom %u must sign\n", next->nadmins,
                      next->threshold);
        for (unsigned i = 0; i < next->nadmins; i++) {
            char hex[2 * OBJECT_KEY_BYTES + 1];
            hex_print(next->admins[i], OBJECT_KEY_BYTES, hex);
            (void)fprintf(to, "    %s\n", hex);
        }
    }
    if (old != NULL && (old->nring_keys != next->nring_keys ||
                        memcmp(old->ring_keys, next->ring_keys,
                               next->nring_keys * sizeof(next->ring_keys[0])) != 0)) {
        (void)fprintf(to, "  the digest key changes\n");
    }
    if (old == NULL || old->kind != next->kind) {
        (void)fprintf(to, "  kind %s\n", ring_kind_name(next->kind));
    }
    if (old != NULL &&
        (old->default_cap != next->default_cap || old->quorum != next->quorum ||
         old->default_records_per_day != next->default_records_per_day)) {
        (void)fprintf(to, "  cap %" PRIu64 ", quorum %u, records a day %" PRIu64 "\n",
                      next->default_cap, next->quorum, next->default_records_per_day);
    }
}

/* ---- the subcommands ---- */

/* Takes --admin-key FILE or --admin-key=FILE, an option of all commands that sign, out of argv. */
static int take_admin_key(struct cli *cli, int *argc, char **argv)
{
    static const char option[] = "--admin-key";
    const size_t n = sizeof(option) - 1;
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        if (strncmp(argv[i], option, n) != 0 ||
            (argv[i][n] != '\0' && argv[i][n] != '=')) {
            argv[kept++] = argv[i];
            continue;
        }
        if (argv[i][n] == '=') {
            cli->admin_key = argv[i] + n + 1;
        } else {
            cli->admin_key = i + 1 < *argc ? argv[++i] : "";
        }
        if (cli->admin_key[0] == '\0') {
            return cli_usage("peer", "--admin-key: the file of the key");
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return 0;
}

/* Notes what a subcommand changed: its name and the word behind it, which is a server or another
 * name. That of join is a secret. */
static void note_peer(struct cli *cli, const char *command, const char *word)
{
    static const char *const readers[] = {"list", "status"};
    static const char *const mute[] = {"join", "init", "renew", "admin-key"};
    const bool is_bare = word == NULL || *word == '-' ||
                         name_index(slice_str(command), mute, LENGTH(mute)) >= 0;
    char object[OBJECT_MAX];

    if (cli->config == NULL ||
        name_index(slice_str(command), readers, LENGTH(readers)) >= 0 ||
        (!is_bare && strcmp(word, "show") == 0)) {
        return;
    }
    (void)snprintf(object, sizeof(object), "%s%s%s", command, is_bare ? "" : " ",
                   is_bare ? "" : word);
    cli_note(cli, &(struct change){.kind = CHANGE_peer, .object = slice_str(object)});
}

int cmd_peer(struct cli *cli, int argc, char **argv)
{
    static const char *const unsigned_commands[] = {"invite", "join", "list", "status"};
    static const struct cli_runner commands[] = {
        {"init", peer_cmd_init},
        {"ring", peer_cmd_ring},
        {"admin-key", peer_cmd_admin_key},
        {"invite", peer_cmd_invite},
        {"join", peer_cmd_join},
        {"list", peer_cmd_list},
        {"status", peer_cmd_status},
        {"drop", peer_cmd_drop},
        {"rotate", peer_cmd_rotate},
        {"revoke-key", peer_cmd_revoke_key},
        {"manifest", peer_cmd_manifest},
        {"renew", peer_cmd_renew},
        {"set", peer_cmd_set},
    };
    int status = take_admin_key(cli, &argc, argv);

    if (status == 0 && cli->admin_key != NULL && argc > 1 &&
        name_index(slice_str(argv[1]), unsigned_commands, LENGTH(unsigned_commands)) >=
            0) {
        status = cli_usage("peer", "--admin-key: this command signs nothing");
    }
    const char *command = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : NULL;
    THEN(status, cli_subcommand(cli, "peer", commands, LENGTH(commands), argc, argv));
    if (status == 0) {
        note_peer(cli, command, word);
    }
    return status;
}
