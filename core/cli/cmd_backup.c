/* cmd_backup - `gillnet backup`: the state folder as one file, while everything runs. */
#include <sysexits.h>

#include "core/backup/bundle.h"
#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/verdict/user/user_file.h"
#include "core/verdict/user/user_table.h"

enum {
    BACKUP_MODE = 0600, /* it holds the keys */
    LOCK_WAIT_S = 600,
    LOCK_STEP_NS = 50 * 1000 * 1000,
    US_PER_S = 1000000
};

struct backup {
    struct cli *cli;
    const char *file; /* "-": standard output */
    struct snapshot snapshot;
    struct file_out out;
    struct progress progress;
};

static void show_progress(void *context, const char *what, double share)
{
    struct backup *b = context;

    progress_show(&b->progress, what, share);
}

static enum err to_file(void *context, struct slice bytes)
{
    struct backup *b = context;

    file_out_add(&b->out, bytes);
    return b->out.failed;
}

static enum err to_stdout(void *context, struct slice bytes)
{
    (void)context;
    return fwrite(bytes.p, 1, bytes.n, stdout) == bytes.n ? ERR_OK
                                                          : err_of_errno(errno);
}

/* ---- what must be of one moment ---- */

/* Takes lists, feeds and reports under the lock of lists, so that they are of one moment. */
static int take_lists(struct backup *b)
{
    const struct timespec step = {.tv_nsec = LOCK_STEP_NS};
    const uint64_t end_us = clock_mono_us() + LOCK_WAIT_S * (uint64_t)US_PER_S;
    struct filelock lock = {.fd = -1};
    struct errinfo why = {.code = ERR_OK};
    char path[FILE_PATH_MAX];
    bool is_told = false;

    if (path_make(path, NULL, "%s/lists/LOCK", b->snapshot.state_dir) != ERR_OK) {
        return EX_SOFTWARE;
    }
    enum err e = ERR_OK;
    while (access(path, F_OK) == 0 && /* else nobody ever wrote a list */
           (e = filelock_take(&lock, path, &why)) == ERR_LOCKED &&
           clock_mono_us() < end_us) {
        if (!is_told) {
            cli_say("the lists are being changed; waiting for the end of it");
            is_told = true;
        }
        (void)nanosleep(&step, NULL);
    }
    THEN(e, snapshot_take(&b->snapshot, "reports", &why));
    THEN(e, snapshot_take(&b->snapshot, "feeds", &why));
    THEN(e, snapshot_take(&b->snapshot, "lists", &why));
    filelock_drop(&lock);
    return cli_status(e, &why);
}

/* The settings of users, while no command changes them. */
static int take_users(struct backup *b, const struct config *c)
{
    struct filelock lock = {.fd = -1};
    struct errinfo why = {.code = ERR_OK};
    char path[FILE_PATH_MAX];

    if (path_make(path, NULL, "%s/%s", c->state_dir, STATE_USERS_DIR) != ERR_OK ||
        access(path, F_OK) != 0) {
        return 0; /* nobody ever set one */
    }
    enum err e = users_file_lock(c, &lock, &why);
    THEN(e, snapshot_take(&b->snapshot, STATE_USERS_DIR, &why));
    filelock_drop(&lock);
    return cli_status(e, &why);
}

/* The name of this server in its ring. */
static void name_node(struct contents *c, const char *dir)
{
    struct identity self;
    struct manifest m;
    const struct manifest_member *member = NULL;
    char origin[2 * OBJECT_ID_BYTES + 1];

    if (identity_load(dir, &self, NULL) != ERR_OK) {
        return;
    }
    hex_print(self.origin.b, OBJECT_ID_BYTES, origin);
    const bool has_ring = manifest_load(dir, &m, NULL) == ERR_OK;
    if (has_ring) {
        member = manifest_find(&m, &self.origin);
    }
    (void)snprintf(c->node, sizeof(c->node), "%s %s",
                   member != NULL ? member->name : "?", origin);
    if (has_ring) {
        manifest_fini(&m);
    }
    identity_wipe(&self);
}

/* The hub publishes its counts, and pauses while the links are made. */
static int take_peers(struct backup *b)
{
    struct peer_hold hold = PEER_HOLD_NONE;
    struct errinfo why = {.code = ERR_OK};
    char dir[FILE_PATH_MAX];
    int status = peer_dir(b->cli, dir);

    if (status != 0 || access(dir, F_OK) != 0) {
        return status;
    }
    status = peer_hold_take(b->cli, false, &hold);
    if (status == 0) {
        b->snapshot.contents.is_shared = hold.fd >= 0;
        name_node(&b->snapshot.contents, dir);
        status = cli_status(snapshot_take(&b->snapshot, "peers", &why), &why);
    }
    peer_hold_drop(&hold);
    return status;
}

static int take_snapshot(struct backup *b)
{
    struct errinfo why = {.code = ERR_OK};
    int status = take_lists(b);

    THEN(status, cli_status(snapshot_take(&b->snapshot, "counts", &why), &why));
    THEN(status, cli_status(snapshot_take(&b->snapshot, "identity", &why), &why));
    THEN(status, cli_status(snapshot_take(&b->snapshot, "journal", &why), &why));
    THEN(status, take_users(b, b->cli->config));
    THEN(status, take_peers(b));
    THEN(status, cli_status(snapshot_take(&b->snapshot, "keys", &why), &why));
    if (status == 0 && b->snapshot.contents.n == 0) {
        (void)errinfo_set(&why, ERR_NOT_FOUND, b->snapshot.state_dir, 0,
                          "there is nothing in it to back up; is state_dir right?");
        return cli_fail(&why);
    }
    if (status == 0 && b->snapshot.nleft_out > 0) {
        cli_say("skipped %zu files that do not belong to gillnet, first: %s",
                b->snapshot.nleft_out, b->snapshot.left_out);
    }
    return status;
}

/* ---- the file ---- */

/* bytes: of the packed file, 0: not known. */
static int print_done(struct backup *b, FILE *to, const struct contents *c,
                      uint64_t bytes, const char *what)
{
    char time[TEXT_TIME_MAX];

    progress_clear(&b->progress);
    if (b->cli->json && to == stdout) {
        return json_status(json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:I, s:b}", "file", b->file, "state", what,
            "node", c->node, "time_s", (json_int_t)c->time_s, "files", (json_int_t)c->n,
            "bytes", (json_int_t)c->bytes, "counts", c->has_counts ? 1 : 0));
    }
    (void)fprintf(to, "%s: %s, %zu files, %" PRIu64 " bytes", b->file, what, c->n,
                  c->bytes);
    if (bytes > 0) {
        (void)fprintf(to, " (%" PRIu64 " packed)", bytes);
    }
    (void)fprintf(to, ", of %s, server %s%s\n", text_time(c->time_s, time), c->node,
                  c->has_counts ? "" : ", without counts");
    return 0;
}

static int write_file(struct backup *b)
{
    const bool is_stdout = strcmp(b->file, "-") == 0;
    struct errinfo why = {.code = ERR_OK};
    struct stat st;
    enum err e = ERR_OK;

    if (!is_stdout && lstat(b->file, &st) == 0 && S_ISFIFO(st.st_mode)) {
        e = errinfo_set(&why, ERR_UNSUPPORTED, b->file, 0,
                        "a pipe, which would be replaced by a file; write to standard "
                        "output: gillnet backup - > %s",
                        b->file);
    } else if (!is_stdout) {
        e = file_out_open(&b->out, b->file, BACKUP_MODE, &why);
    }
    if (e == ERR_OK) {
        e = bundle_write(&b->snapshot, is_stdout ? to_stdout : to_file, b,
                         show_progress, b, &why);
        if (!is_stdout && (e == ERR_OK || b->out.failed != ERR_OK)) {
            e = file_out_commit(&b->out, &why); /* its text names the file */
        } else if (!is_stdout) {
            file_out_abort(&b->out);
        }
    }
    if (e == ERR_OK && is_stdout && fflush(stdout) != 0) {
        e = errinfo_errno(&why, "standard output", "cannot write the backup");
    }
    progress_clear(&b->progress);
    return e == ERR_OK ? print_done(b, is_stdout ? stderr : stdout,
                                    &b->snapshot.contents, b->out.written, "complete")
                       : cli_fail(&why);
}

static int back_up(struct backup *b, bool with_counts)
{
    struct errinfo why = {.code = ERR_OK};
    int status = cli_config(b->cli);

    if (status == 0 && strcmp(b->file, "-") == 0 && isatty(STDOUT_FILENO) == 1) {
        return cli_usage("backup",
                         "a backup holds keys and is no text: name a file, or let "
                         "another program read it");
    }
    if (status != 0) {
        return status;
    }
    const uint64_t now_s = clock_wall_us() / US_PER_S;
    if (snapshot_open(b->cli->config->state_dir, with_counts, &b->snapshot, &why) !=
        ERR_OK) {
        status = cli_fail(&why);
    } else {
        b->snapshot.contents.time_s = now_s;
        status = take_snapshot(b);
        THEN(status, write_file(b));
    }
    snapshot_close(&b->snapshot);
    return status;
}

static int verify(struct backup *b)
{
    const struct bundle_taker taker = {.progress = show_progress, .context = b};
    struct errinfo why = {.code = ERR_OK};
    struct contents c;
    const bool is_stdin = strcmp(b->file, "-") == 0;
    const int fd = is_stdin ? STDIN_FILENO : open(b->file, O_RDONLY | O_CLOEXEC);
    int status = 0;

    if (fd < 0) {
        (void)errinfo_errno(&why, b->file, "cannot open the backup");
        return cli_fail(&why);
    }
    contents_init(&c);
    enum err e = bundle_read(fd, b->file, &taker, &c, &why);
    progress_clear(&b->progress);
    status = e == ERR_OK ? print_done(b, stdout, &c, 0, "whole, every checksum holds")
                         : cli_fail(&why);
    contents_fini(&c);
    if (!is_stdin) {
        (void)close(fd);
    }
    return status;
}

int cmd_backup(struct cli *cli, int argc, char **argv)
{
    struct backup b = {.cli = cli, .out = {.fd = -1}};
    bool no_counts = false;
    bool is_verify = false;
    const struct cli_option table[] = {{"--no-counts", NULL, &no_counts, NULL},
                                       {"--verify", NULL, &is_verify, NULL}};
    int status = cli_options(cli_command("backup"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 2 || (no_counts && is_verify)) {
        return cli_usage("backup", "name the file of the backup, or - alone");
    }
    b.file = argv[1];
    progress_init(&b.progress);
    return is_verify ? verify(&b) : back_up(&b, !no_counts);
}
