/*
 * peer_commands - the subcommands of `gillnet peer`, and what they share; private to this room.
 *
 * Each gets argv with argv[0] its own name and returns an exit status. Threads: one.
 */
#ifndef CORE_CLI_PEER_COMMANDS_H
#define CORE_CLI_PEER_COMMANDS_H

#include "core/base/file.h"
#include "core/cli/cli.h"
#include "core/ring/trust/ring.h"

enum { PEER_PORT = 8894 }; /* of an address that nobody gave */

int peer_cmd_init(struct cli *cli, int argc, char **argv);
int peer_cmd_ring(struct cli *cli, int argc, char **argv);
int peer_cmd_admin_key(struct cli *cli, int argc, char **argv);
int peer_cmd_invite(struct cli *cli, int argc, char **argv);
int peer_cmd_join(struct cli *cli, int argc, char **argv);
int peer_cmd_list(struct cli *cli, int argc, char **argv);
int peer_cmd_status(struct cli *cli, int argc, char **argv);
int peer_cmd_drop(struct cli *cli, int argc, char **argv);
int peer_cmd_rotate(struct cli *cli, int argc, char **argv);
int peer_cmd_revoke_key(struct cli *cli, int argc, char **argv);
int peer_cmd_manifest(struct cli *cli, int argc, char **argv);
int peer_cmd_set(struct cli *cli, int argc, char **argv);
int peer_cmd_renew(struct cli *cli, int argc, char **argv);

/* The usage of `gillnet peer` with this reason. */
int peer_cmd_usage(const char *why);
extern const char peer_kind_usage[];

/* STATE/peers for one command that changes it: a hub that runs is asked to stand aside first. */
struct peer_hold {
    int fd; /* to the hub; -1: none runs */
    struct filelock lock;
    char dir[FILE_PATH_MAX];
    const char
        *admin_key; /* the file to sign with; NULL: dir/admin.key, where that is */
};
/* make: STATE and STATE/peers are made where they are not. Returns 0 or an exit status after a message; in either case
 * peer_hold_drop is due. */
int peer_hold_take(struct cli *cli, bool make, struct peer_hold *ret);
/* The hub, if one stood aside, goes on with what is there now. */
void peer_hold_drop(struct peer_hold *h);
/* STATE/peers alone, for who only reads. */
int peer_dir(struct cli *cli, char ret[FILE_PATH_MAX]);

/* Loads both, or gives an exit status after a message. Free with manifest_fini, identity_wipe. */
int peer_load(const char *dir, struct identity *retself, struct manifest *retm);

/* ring_change, signed with hold->admin_key too where that is given. A key that is none of the ring's administrators' is
 * refused before anything is changed. */
enum err peer_change(const struct peer_hold *hold, ring_edit_fn *edit, void *context,
                     struct manifest *io, struct ring_outcome *ret,
                     struct errinfo *reterr);
/* Signs what waits with hold->admin_key; NULL: with the key of the folder. *ret is untouched after a failure. */
enum err peer_sign_waiting(const struct peer_hold *hold, struct ring_outcome *ret,
                           struct errinfo *reterr);

/* Says what became of a change: in force, or what must be done for it. what: "b is dropped", without full stop. */
void peer_print_outcome(const struct ring_outcome *o, const char *dir,
                        const char *what);
/* What is different in next, line by line. */
void peer_print_changes(FILE *to, const struct manifest *old,
                        const struct manifest *next);

/* Up to three digits; 0 when it is no such number. */
unsigned peer_small_number(const char *text);
/* Now, in ms since 1970. */
uint64_t peer_now_ms(void);

#endif
