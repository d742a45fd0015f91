/* count_verify - `gillnet count verify`: every run, and each that is damaged named. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "core/cli/count_commands.h"
#include "core/cli/json.h"
#include "core/count/runset.h"

enum { LINE_MAX_BYTES = ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32 };

struct tally {
    struct cli *cli;
    uint64_t runs;
    uint64_t records;
    uint64_t bytes;
    uint64_t damaged;
    uint64_t foreign; /* of another ring key */
};

static bool report(struct tally *t, const struct errinfo *why)
{
    char line[LINE_MAX_BYTES];

    t->damaged++;
    if (t->cli->json) {
        return json_line(json_pack("{s:s, s:o, s:o}", "type", "damage", "file",
                                   json_text(slice_str(why->source)), "text",
                                   json_text(slice_str(why->text))));
    }
    (void)printf("%s\n", errinfo_format(why, line, sizeof line));
    return true;
}

static bool verify_one(struct tally *t, const char *path)
{
    struct errinfo why = {.code = ERR_OK};
    struct run *run = NULL;
    enum err e = run_open(path, &run, &why);

    if (e == ERR_NOT_FOUND) {
        return true; /* gillnetd has just removed it */
    }
    t->runs++;
    if (e == ERR_OK) {
        t->records += run_records(run);
        t->bytes += run_bytes(run);
        t->foreign += keyring_find(&t->cli->keys, run_id(run)->key_id) == NULL;
        e = run_verify(run, &why);
    }
    run_close(&run);
    return e == ERR_OK || report(t, &why);
}

static int is_run(const struct dirent *entry)
{
    return slice_has_suffix_nocase(slice_str(entry->d_name), SLICE_LIT(".run"));
}

static bool verify_all(struct tally *t, const char *dir, struct dirent **names, int n)
{
    char path[FILE_PATH_MAX];
    bool ok = true;

    for (int i = 0; i < n; i++) {
        if (ok && file_path(path, "%s/%s", dir, names[i]->d_name) == ERR_OK) {
            ok = verify_one(t, path);
        }
        free(names[i]);
    }
    free((void *)names);
    return ok;
}

static bool print_tally(const struct tally *t)
{
    if (t->cli->json) {
        return json_line(
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "type", "sum", "runs",
                      (json_int_t)t->runs, "records", (json_int_t)t->records, "bytes",
                      (json_int_t)t->bytes, "damaged", (json_int_t)t->damaged,
                      "other_ring_key", (json_int_t)t->foreign));
    }
    printf("%" PRIu64 " runs with %" PRIu64 " keys in %" PRIu64 " bytes: %" PRIu64
           " damaged\n",
           t->runs, t->records, t->bytes, t->damaged);
    if (t->foreign > 0) {
        printf("%" PRIu64 " runs were made with a ring key that is not here; they are "
               "not asked\n",
               t->foreign);
    }
    return true;
}

int count_cmd_verify(struct cli *cli, int argc, char **argv)
{
    struct tally t = {.cli = cli};
    struct errinfo why = {.code = ERR_OK};
    struct dirent **names = NULL;
    char dir[FILE_PATH_MAX];

    (void)argv;
    if (argc != 1) {
        return count_cmd_usage("verify takes no arguments");
    }
    int status = cli_keys(cli, false);
    status = status != 0 ? status : count_cmd_runs_dir(cli, dir);
    if (status != 0) {
        return status;
    }
    int n = scandir(dir, &names, is_run, alphasort);
    if (n < 0 && errno == ENOENT) {
        n = 0; /* nothing was counted yet */
    }
    if (n < 0) {
        errinfo_errno(&why, dir, "cannot be read");
        return cli_fail(&why);
    }
    if (!verify_all(&t, dir, names, n) || !print_tally(&t)) {
        return EX_OSERR;
    }
    return t.damaged > 0 ? EX_DATAERR : CLI_CLEAN;
}
