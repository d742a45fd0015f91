/*
 * peer_commands - the subcommands of `gillnet peer`, and their shared functions.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_PEER_COMMANDS_H
#define CORE_CLI_PEER_COMMANDS_H

#include "core/cli/cli.h"
#include "core/ring/trust/ring.h"

enum { PEER_PORT = 8894 }; /* of an address without a port */

cli_run_fn peer_cmd_init, peer_cmd_ring, peer_cmd_admin_key, peer_cmd_invite,
    peer_cmd_join, peer_cmd_list, peer_cmd_status, peer_cmd_drop, peer_cmd_rotate,
    peer_cmd_revoke_key, peer_cmd_manifest, peer_cmd_set, peer_cmd_renew;

extern const char peer_kind_usage[];

/* STATE/peers for one command that changes it; a running hub pauses meanwhile. */
struct peer_hold {
    int fd; /* to the hub; -1: none runs */
    struct filelock lock;
    char dir[FILE_PATH_MAX];
    const char
        *admin_key; /* the file to sign with; NULL: dir/admin.key, if it exists */
};
#define PEER_HOLD_NONE ((struct peer_hold){.fd = -1, .lock = {-1}})
/* Takes the hold, which is PEER_HOLD_NONE. make: makes STATE and STATE/peers if they are missing.
 * Returns 0 or an exit status after a message; the caller calls peer_hold_drop in either case. */
int peer_hold_take(struct cli *cli, bool make, struct peer_hold *ret);
/* Lets a paused hub go on with the new state. */
void peer_hold_drop(struct peer_hold *h);
/* STATE/peers alone, for commands that only read. */
int peer_dir(struct cli *cli, char ret[FILE_PATH_MAX]);

/* Loads both, or returns an exit status after a message. Free with manifest_fini, identity_wipe. */
int peer_load(const char *dir, struct identity *retself, struct manifest *retm);

/* One change of the ring by a command. */
struct peer_change {
    struct cli *cli;
    struct peer_hold hold;
    struct identity self;
    struct manifest m;
    struct ring_outcome outcome;
};
#define PEER_CHANGE_NONE ((struct peer_change){.hold = PEER_HOLD_NONE})
/* Takes the hold, loads identity and manifest, into a change that is PEER_CHANGE_NONE. Returns 0 or
 * an exit status after a message; the caller calls peer_change_end in either case. */
int peer_change_begin(struct peer_change *c, struct cli *cli);
/* Makes the change and prints its outcome. what: "b is dropped", without full stop. */
int peer_change_make(struct peer_change *c, ring_edit_fn *edit, void *context,
                     const char *what);
void peer_change_end(struct peer_change *c);

/* ring_change, signed with hold->admin_key, too, if it is given. Refuses a key of no administrator
 * of the ring before anything is changed. */
enum err peer_sign_change(const struct peer_hold *hold, ring_edit_fn *edit,
                          void *context, struct manifest *io, struct ring_outcome *ret,
                          struct errinfo *reterr);
/* Signs the waiting version with hold->admin_key; NULL: with the key of the folder. *ret is
 * untouched after a failure. */
enum err peer_sign_waiting(const struct peer_hold *hold, struct ring_outcome *ret,
                           struct errinfo *reterr);

/* Prints whether a change is in force, or the steps that are left. what: as above. */
void peer_print_outcome(const struct ring_outcome *o, const char *dir,
                        const char *what);
/* Prints the differences of next from old, line by line. */
void peer_print_changes(FILE *to, const struct manifest *old,
                        const struct manifest *next);

/* A number of up to three digits; 0: text is none. */
unsigned peer_small_number(const char *text);
/* Now, in ms since 1970. */
uint64_t peer_now_ms(void);

#endif
