/* count_export - `gillnet count export`: the runs as text keys with their counts. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_commands.h"
#include "core/cli/print.h"
#include "core/count/runset.h"
#include "core/count/textkey.h"

enum { UNKNOWN_TYPE = 0 }; /* runs hold no types: they are part of the digest */

struct export
{
    struct cli *cli;
    const char *day_text; /* "2026-11-21", or NULL: all */
    const char *prefix;
    uint64_t first_s;
    uint64_t end_s;
    uint64_t foreign; /* runs of another digest key */
    enum err failed;  /* what ended it early */
    struct errinfo damage;
};

static void warn_damage(void *context, const struct errinfo *why)
{
    struct export *x = context;
    x->damage = *why;
    (void)cli_fail(why);
}

static bool print_record(struct export *x, struct textkey *key,
                         const struct run_record *record)
{
    char text[TEXTKEY_MAX];

    for (unsigned i = 0; i < TEXTKEY_HALF_BYTES; i++) {
        key->digest.b[i] = (uint8_t)(record->key >> (56 - 8 * i));
    }
    x->failed = textkey_print(key, text);
    if (x->failed != ERR_OK) {
        return false;
    }
    printf("%s %" PRIu64 "\n", text, record->count);
    if (ferror(stdout)) {
        x->failed = ERR_IO;
    }
    return x->failed == ERR_OK;
}

static bool print_run(void *context, const struct run *run)
{
    struct export *x = context;
    const struct run_id *id = run_id(run);
    bool is_day = id->len_s == COUNT_DAY_S;
    struct textkey key = {.prefix = slice_str(x->prefix),
                          .digest_bytes = TEXTKEY_HALF_BYTES,
                          .type = UNKNOWN_TYPE,
                          .period = is_day ? TEXTKEY_1D : TEXTKEY_10M,
                          .number = id->start_s / id->len_s};
    struct run_cursor cursor;
    struct run_record record;
    enum err e = ERR_OK;

    if (keyring_find(&x->cli->keys, id->key_id) != &x->cli->keys.ring[0]) {
        x->foreign++;
        return true;
    }
    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e != ERR_OK) {
            errinfo_set(&x->damage, ERR_CORRUPT, "", 0,
                        "a damaged block was left out; `gillnet count verify` names "
                        "its run");
            continue;
        }
        if (!print_record(x, &key, &record)) {
            return false;
        }
    }
    return true;
}

bool count_cmd_day(const char *text, uint64_t *ret)
{
    struct tm tm = {.tm_year = 0};
    char back[TEXT_TIME_MAX];

    if (strlen(text) != 10 || strptime(text, "%Y-%m-%d", &tm) == NULL ||
        tm.tm_year < 70) {
        return false;
    }
    *ret = (uint64_t)timegm(&tm);
    text_time(*ret == 0 ? 1 : *ret, back);
    return memcmp(back, text, 10) == 0; /* 2026-02-30 reads as another day */
}

static int print_runs(struct export *x, const char *dir)
{
    struct errinfo why = {.code = ERR_OK};
    struct runset *set = NULL;

    if (runset_open(dir, warn_damage, x, &set, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    runset_each(set, COUNT_DAY_S, x->first_s, x->end_s, print_run, x);
    if (x->failed == ERR_OK) {
        runset_each(set, COUNT_BUCKET_S, x->first_s, x->end_s, print_run, x);
    }
    runset_close(&set);
    if (x->foreign > 0) {
        cli_say("%" PRIu64 " runs of another digest key were left out", x->foreign);
    }
    if (x->failed == ERR_IO) {
        return EX_IOERR;
    }
    if (x->failed != ERR_OK) {
        errinfo_set(&why, x->failed, x->prefix, 0,
                    "this prefix or period cannot stand in a text key");
        return cli_fail(&why);
    }
    if (x->damage.code != ERR_OK) {
        (void)cli_fail(&x->damage);
        return EX_DATAERR;
    }
    return CLI_CLEAN;
}

int count_cmd_export(struct cli *cli, int argc, char **argv)
{
    struct export x = {.cli = cli, .end_s = UINT64_MAX};
    const struct cli_option table[] = {
        {"--day", &x.day_text, NULL, NULL},
        {"--prefix", &x.prefix, NULL, NULL},
    };
    char dir[FILE_PATH_MAX];
    int status =
        cli_arguments(CLI_FORM("count", table, 0, 0,
                               "export takes --day, --prefix, or --filter with its "
                               "sizes, and nothing else"),
                      &argc, argv);

    if (status != 0) {
        return status;
    }
    if (x.day_text != NULL) {
        if (!count_cmd_day(x.day_text, &x.first_s)) {
            return cli_usage("count", "--day: write a day (UTC) as 2026-11-21");
        }
        x.end_s = x.first_s + COUNT_DAY_S;
    }
    status = cli_keys(cli, false);
    THEN(status, count_cmd_runs_dir(cli, dir));
    if (status != 0) {
        return status;
    }
    x.prefix = x.prefix != NULL ? x.prefix : cli->config->count.prefix;
    return print_runs(&x, dir);
}
