/* count_verify - `gillnet count verify`: every run and write-ahead log, and each that is damaged
 * named. */
#include <dirent.h>
#include <sysexits.h>

#include "core/cli/count_commands.h"
#include "core/cli/print.h"
#include "core/count/live.h"
#include "core/count/runset.h"

enum { LINE_MAX_BYTES = ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32 };

struct tally {
    struct cli *cli;
    uint64_t runs;
    uint64_t journals;
    uint64_t records;
    uint64_t bytes;
    uint64_t damaged;
    uint64_t foreign; /* of another digest key */
};

static bool report_damage(struct tally *t, const struct errinfo *why)
{
    char line[LINE_MAX_BYTES];

    t->damaged++;
    if (t->cli->json) {
        return json_line(json_pack("{s:s, s:o, s:o}", "type", "damage", "file",
                                   json_text(slice_str(why->source)), "text",
                                   json_text(slice_str(why->text))));
    }
    (void)printf("%s\n", errinfo_format(why, line, sizeof(line)));
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
    return e == ERR_OK || report_damage(t, &why);
}

static bool verify_journal(struct tally *t, const char *path)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e = live_verify_journal(path, &why);

    t->journals += e != ERR_NOT_FOUND;
    return e == ERR_OK || e == ERR_NOT_FOUND || report_damage(t, &why);
}

static int is_journal(const struct dirent *entry)
{
    return live_is_journal(entry->d_name);
}

static int is_run(const struct dirent *entry)
{
    return slice_has_suffix_nocase(slice_str(entry->d_name), SLICE_LIT(".run"));
}

typedef bool verify_fn(struct tally *t, const char *path);
typedef int select_fn(const struct dirent *entry);

/* Each file of the folder that select takes. Returns 0 or an exit status. */
static int verify_all(struct tally *t, const char *dir, select_fn *select,
                      verify_fn *verify)
{
    struct errinfo why = {.code = ERR_OK};
    struct dirent **names = NULL;
    char path[FILE_PATH_MAX];
    bool ok = true;
    int n = scandir(dir, &names, select, alphasort);

    if (n < 0 && errno == ENOENT) {
        return 0; /* nothing was counted yet */
    }
    if (n < 0) {
        errinfo_errno(&why, dir, "cannot be read");
        return cli_fail(&why);
    }
    for (int i = 0; i < n; i++) {
        if (ok && path_make(path, NULL, "%s/%s", dir, names[i]->d_name) == ERR_OK) {
            ok = verify(t, path);
        }
        free(names[i]);
    }
    free((void *)names);
    return ok ? 0 : EX_OSERR;
}

static bool print_tally(const struct tally *t)
{
    if (t->cli->json) {
        return json_line(json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "sum", "runs",
            (json_int_t)t->runs, "wals", (json_int_t)t->journals, "records",
            (json_int_t)t->records, "bytes", (json_int_t)t->bytes, "damaged",
            (json_int_t)t->damaged, "other_ring_key", (json_int_t)t->foreign));
    }
    printf("%" PRIu64 " runs with %" PRIu64 " keys in %" PRIu64 " bytes, and %" PRIu64
           " write-ahead logs: %" PRIu64 " damaged\n",
           t->runs, t->records, t->bytes, t->journals, t->damaged);
    if (t->foreign > 0) {
        printf("%" PRIu64
               " runs were made with a digest key that is not here; they are "
               "not asked\n",
               t->foreign);
    }
    return true;
}

int count_cmd_verify(struct cli *cli, int argc, char **argv)
{
    struct tally t = {.cli = cli};
    char runs[FILE_PATH_MAX];
    char counts[FILE_PATH_MAX];

    int status = cli_arguments(CLI_WORDS("count", 0, 0, "verify takes no arguments"),
                               &argc, argv);

    THEN(status, cli_keys(cli, false));
    THEN(status, count_cmd_runs_dir(cli, runs));
    if (status == 0 &&
        path_make(counts, NULL, "%s/counts", cli->config->state_dir) == ERR_OK) {
        status = verify_all(&t, counts, is_journal, verify_journal);
    }
    THEN(status, verify_all(&t, runs, is_run, verify_one));
    if (status == 0 && !print_tally(&t)) {
        status = EX_OSERR;
    }
    return status == 0 && t.damaged > 0 ? EX_DATAERR : status;
}
