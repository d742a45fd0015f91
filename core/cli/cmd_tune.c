/* cmd_tune - `gillnet tune`: settings of the state folder, which stand above gillnet.conf. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/feed/feed.h"
#include "core/verdict/journal/tuning_values.h"
#include "core/verdict/rule/rule.h"

enum { WORDS_MAX = 64 << 10, VERSION_MAX = 40 };

/* ---- show ---- */

static void print_setting(const struct tuning_setting *s)
{
    char was[TUNING_VALUE_MAX];

    (void)printf("%s", s->text);
    if (s->is_gone) {
        (void)puts("  (no effect: the configuration has no such rule)");
    } else {
        (void)printf("  (gillnet.conf: %s)\n", tuning_configured(s, was));
    }
}

static void print_tuning(const struct tuning *t)
{
    char at[TEXT_TIME_MAX];
    struct buf lines;

    (void)printf("version %llu of %s by ", (unsigned long long)t->version,
                 text_time(t->at_s, at));
    text_show(stdout, t->who);
    (void)fputs(*t->why != '\0' ? ": " : "", stdout);
    text_show(stdout, t->why);
    (void)putchar('\n');
    for (size_t i = 0; i < t->n; i++) {
        print_setting(&t->v[i]);
    }
    if (t->n == 0) {
        (void)puts("no setting: gillnet.conf alone is in force");
        return;
    }
    buf_init(&lines, TUNING_FILE_BYTES);
    tuning_conf_lines(t, &lines);
    (void)printf("as lines for gillnet.conf:\n%.*s", SLICE_ARGS(buf_slice(&lines)));
    buf_fini(&lines);
}

static int show_tuning(struct cli *cli, int argc, char **argv)
{
    int status =
        cli_arguments(CLI_WORDS("tune", 0, 0, "show: takes no words"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    if (cli->json) {
        return json_status(tuning_json(cli->config));
    }
    if (cli->config->tuning_fault != NULL) {
        return EX_CONFIG; /* it was printed when the file was loaded */
    }
    if (cli->config->tuning == NULL) {
        (void)puts("nothing was tuned: gillnet.conf alone is in force");
        return CLI_CLEAN;
    }
    print_tuning(cli->config->tuning);
    return CLI_CLEAN;
}

/* ---- set_tuning, undo ---- */

static int fail_change(enum err e, struct config_errors *errors)
{
    int status = EX_OSERR;

    for (size_t i = 0; i < errors->n; i++) {
        status = cli_fail(&errors->v[i]);
    }
    config_errors_free(errors);
    return e == ERR_EXISTS ? EX_TEMPFAIL : status;
}

static const char *reload_name(enum tuning_reload r)
{
    switch (r) {
    case TUNING_RELOADED:
        return "reloaded";
    case TUNING_NOT_RUNNING:
        return "not running";
    case TUNING_REFUSED:
        return "refused";
    case TUNING_UNKNOWN:
        break;
    }
    return "unknown";
}

static int print_tuned(const struct cli *cli, const struct tuning_result *r,
                       const struct buf *words)
{
    if (cli->json) {
        return json_status(
            json_pack("{s:I, s:I, s:s, s:o}", "version", (json_int_t)r->version,
                      "of_version", (json_int_t)r->of_version, "reload",
                      reload_name(r->reload), "words", json_text(buf_slice(words))));
    }
    (void)printf("version %llu is in force\n%.*s", (unsigned long long)r->version,
                 SLICE_ARGS(buf_slice(words)));
    return CLI_CLEAN;
}

static void note_tuning(struct cli *cli, const struct tuning_request *q,
                        const struct tuning_result *r)
{
    char after[VERSION_MAX];

    (void)snprintf(after, sizeof(after), "version %llu",
                   (unsigned long long)r->version);
    cli_note(cli, &(struct change){
                      .kind = q->is_undo ? CHANGE_tuning_undo : CHANGE_tuning,
                      .object = SLICE_LIT("tuning"),
                      .after = change_state(slice_str(after)),
                      .reason = slice_str(q->why),
                      .values = q->settings,
                      .nvalues = q->nsettings < CHANGES_VALUES_MAX ? q->nsettings
                                                                   : CHANGES_VALUES_MAX,
                      .count = q->nsettings});
}

static int change(struct cli *cli, struct tuning_request *q)
{
    static struct config_types types;
    struct tuning_result result;
    struct config_errors errors;
    char name[CLI_AUTHOR_BYTES];
    struct buf words;

    types = *rule_config_types();
    types.is_format = feed_format_is_known;
    q->config_file = cli->config_file;
    q->types = &types;
    q->state_dir = cli->config->state_dir;
    q->who = cli_author(name).p;
    q->why = q->why != NULL ? q->why : "";
    q->reload = tuning_reload_programs;
    q->context = cli->config;
    buf_init(&words, WORDS_MAX);
    enum err e = tuning_apply(q, &result, &words, &errors);
    if (e == ERR_OK) {
        note_tuning(cli, q, &result);
    }
    int status =
        e == ERR_OK ? print_tuned(cli, &result, &words) : fail_change(e, &errors);
    buf_fini(&words);
    return status;
}

/* "7". False after a message. */
static bool read_version(const char *text, struct tuning_request *q)
{
    q->has_version = text != NULL;
    if (q->has_version && !slice_to_u64(slice_str(text), 10, INT64_MAX, &q->version)) {
        (void)cli_usage("tune", "--if-version needs the number that `show` prints");
        return false;
    }
    return true;
}

static int set_tuning(struct cli *cli, int argc, char **argv)
{
    struct tuning_request q = {.is_undo = false};
    struct slice settings[CLI_VALUES_MAX];
    const char *version = NULL;
    const struct cli_option table[] = {{"--why", &q.why, NULL, NULL},
                                       {"--if-version", &version, NULL, NULL}};
    int status = cli_arguments(CLI_FORM("tune", table, 1, CLI_VALUES_MAX,
                                        "set: give KEY=VALUE, or KEY= to take one out"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    if (!read_version(version, &q)) {
        return EX_USAGE;
    }
    for (int i = 1; i < argc; i++) {
        settings[i - 1] = slice_str(argv[i]);
    }
    q.settings = settings;
    q.nsettings = (size_t)argc - 1;
    return change(cli, &q);
}

static int undo_tuning(struct cli *cli, int argc, char **argv)
{
    struct tuning_request q = {.is_undo = true};
    const char *version = NULL;
    const struct cli_option table[] = {{"--why", &q.why, NULL, NULL},
                                       {"--if-version", &version, NULL, NULL}};
    int status = cli_arguments(
        CLI_FORM("tune", table, 0, 0, "undo: takes options only"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    return read_version(version, &q) ? change(cli, &q) : EX_USAGE;
}

int cmd_tune(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner table[] = {
        {"show", show_tuning}, {"set", set_tuning}, {"undo", undo_tuning}};

    return cli_subcommand(cli, "tune", table, LENGTH(table), argc, argv);
}
