/* peer_manifest - `gillnet peer manifest`: versions of the ring that several administrators
 * sign. */
#include <sysexits.h>

#include "core/base/hash256.h"
#include "core/cli/peer_commands.h"

enum { SIGNED_FILE_MODE = 0644, TEXT_MAX = MANIFEST_BYTES_MAX + 1 };

/* A file, or - for standard input. */
static int read_manifest_file(const char *path, struct buf *ret)
{
    struct errinfo why = {.code = ERR_OK};
    char chunk[4096];

    buf_init(ret, TEXT_MAX);
    if (strcmp(path, "-") != 0) {
        return file_read(path, ret, &why) == ERR_OK ? 0 : cli_fail(&why);
    }
    for (;;) {
        ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));
        if (n <= 0) {
            return n == 0 && !buf_failed(ret)
                       ? 0
                       : cli_error(EX_IOERR, "standard input: reading failed");
        }
        buf_add(ret, slice_of(chunk, (size_t)n));
    }
}

/* ---- show ---- */

static int show_manifest(struct cli *cli, int argc, char **argv)
{
    bool is_next = false;
    struct errinfo why = {.code = ERR_OK};
    struct manifest m = {.version = 0};
    struct manifest old = {.version = 0};
    char dir[FILE_PATH_MAX];
    const struct cli_option table[] = {{"--next", NULL, &is_next, NULL}};
    int status = cli_arguments(CLI_FORM("peer", table, 0, 0, "manifest show [--next]"),
                               &argc, argv);

    THEN(status, peer_dir(cli, dir));
    if (status != 0) {
        return status;
    }
    if ((is_next ? ring_next(dir, &m, &why) : manifest_load(dir, &m, &why)) != ERR_OK) {
        return cli_fail(&why);
    }
    bool has_old = is_next && manifest_load(dir, &old, NULL) == ERR_OK;
    if (is_next) {
        peer_print_changes(stderr, has_old ? &old : NULL, &m);
    }
    (void)fwrite(m.text, 1, m.text_len, stdout);
    manifest_fini(&old);
    manifest_fini(&m);
    return 0;
}

/* ---- sign ---- */

/* Signs the text of the file path; path NULL: of the waiting version. */
static int sign_text(const struct peer_hold *hold, const char *path, struct buf *text)
{
    const char *dir = hold->dir;
    struct errinfo why = {.code = ERR_OK};
    struct manifest m = {.version = 0};
    struct manifest old = {.version = 0};
    struct ring_outcome o = {.version = 0};
    bool has_old = manifest_load(dir, &old, NULL) == ERR_OK;
    enum err e = manifest_parse(buf_slice(text), &m, &why);

    if (e == ERR_OK && has_old && memcmp(&old.ring, &m.ring, sizeof(m.ring)) != 0) {
        manifest_fini(&old);
        has_old = false;
    }
    if (e == ERR_OK) {
        peer_print_changes(stderr, has_old ? &old : NULL, &m);
        if (!has_old) {
            (void)fputs(
                "This server is not in that ring, so what the version changes "
                "is not known here; the signature counts if the key here is one "
                "of its administrators'.\n",
                stderr);
        }
        e = ring_sign(dir, hold->admin_key, &m, has_old ? &old : NULL, text, &why);
    }
    if (e == ERR_OK && path != NULL) {
        e = file_write_atomic(path, buf_slice(text), SIGNED_FILE_MODE, &why);
    } else if (e == ERR_OK) {
        e = ring_accept(dir, buf_slice(text), &o, &why);
    }
    if (e == ERR_OK && path != NULL) {
        (void)printf("%s is signed. Send it back, or, if that was the last signature, "
                     "run on any member: gillnet peer manifest accept FILE\n",
                     path);
    } else if (e == ERR_OK) {
        peer_print_outcome(&o, dir, "The waiting version is signed");
    }
    manifest_fini(&m);
    manifest_fini(&old);
    return cli_status(e, &why);
}

static int sign_manifest(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct manifest next = {.version = 0};
    struct peer_hold h = PEER_HOLD_NONE;
    struct buf text;

    if (argc > 2) {
        return cli_usage("peer", "manifest sign [FILE]");
    }
    buf_init(&text, TEXT_MAX);
    int status = peer_hold_take(cli, false, &h);
    if (status == 0 && argc == 2) {
        status = read_manifest_file(argv[1], &text);
    } else if (status == 0 && ring_next(h.dir, &next, &why) != ERR_OK) {
        status = cli_fail(&why);
    } else if (status == 0) {
        buf_add(&text, slice_of(next.text, next.text_len));
        manifest_fini(&next);
    }
    THEN(status, sign_text(&h, argc == 2 ? argv[1] : NULL, &text));
    peer_hold_drop(&h);
    buf_fini(&text);
    return status;
}

/* ---- accept, discard ---- */

static int accept_file(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct ring_outcome o = {.version = 0};
    struct peer_hold h = PEER_HOLD_NONE;
    struct buf text;

    if (argc != 2) {
        return cli_usage("peer", "manifest accept FILE (- for standard input)");
    }
    int status = read_manifest_file(argv[1], &text);
    if (status == 0) {
        status = peer_hold_take(cli, false, &h);
        if (status == 0 && ring_accept(h.dir, buf_slice(&text), &o, &why) != ERR_OK) {
            status = cli_fail(&why);
        } else if (status == 0) {
            peer_print_outcome(&o, h.dir, "The manifest is taken");
        }
        peer_hold_drop(&h);
    }
    buf_fini(&text);
    return status;
}

static int discard(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct manifest next = {.version = 0};
    struct peer_hold h = PEER_HOLD_NONE;

    int status = cli_arguments(
        CLI_WORDS("peer", 0, 0, "manifest discard takes no arguments"), &argc, argv);

    THEN(status, peer_hold_take(cli, false, &h));
    if (status == 0 && (ring_next(h.dir, &next, &why) == ERR_NOT_FOUND ||
                        ring_discard(h.dir, &why) != ERR_OK)) {
        status = cli_fail(&why);
    } else if (status == 0) {
        (void)puts("The waiting version is discarded; the ring stays as it is.");
    }
    manifest_fini(&next);
    peer_hold_drop(&h);
    return status;
}

/* ---- administrators ---- */

static int set_admins(struct cli *cli, int argc, char **argv)
{
    uint8_t keys[MANIFEST_ADMINS_MAX][OBJECT_KEY_BYTES];
    struct ring_admins admins = {.keys = keys};
    const char *threshold = NULL;
    struct peer_change c = PEER_CHANGE_NONE;
    const struct cli_option table[] = {{"--threshold", &threshold, NULL, NULL}};
    int status = cli_options(cli_command("peer"), table, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (threshold == NULL || argc < 2 || argc - 1 > MANIFEST_ADMINS_MAX) {
        return cli_usage("peer", "manifest admins --threshold M KEY..., 1 to 16 keys");
    }
    for (int i = 1; i < argc; i++) {
        if (!hex_parse(slice_str(argv[i]), keys[admins.n++], OBJECT_KEY_BYTES)) {
            return cli_usage("peer",
                             "manifest admins: keys as `gillnet peer admin-key` "
                             "prints them");
        }
    }
    admins.threshold = peer_small_number(threshold);
    status = peer_change_begin(&c, cli);
    THEN(status, peer_change_make(&c, ring_edit_admins, &admins,
                                  "The ring has other administrators"));
    peer_change_end(&c);
    return status;
}

int peer_cmd_manifest(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {
        {"show", show_manifest}, {"sign", sign_manifest}, {"accept", accept_file},
        {"discard", discard},    {"admins", set_admins},
    };
    return cli_subcommand(cli, "peer", commands, LENGTH(commands), argc, argv);
}
