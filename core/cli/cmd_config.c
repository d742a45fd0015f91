/* cmd_config - `gillnet config check|dump`. */
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/config/advice.h"

enum { DUMP_MAX = 64 << 20 };

/* To standard error: the configuration is valid. */
static void print_advice(const struct config *c)
{
    struct config_advice a;

    for (size_t i = 0; config_advice(c, i, &a); i++) {
        cli_say("warning: %s%s%s%s; %s", a.kind, a.name, *a.name == '\0' ? "" : ": ",
                a.what, a.todo);
    }
}

/* To standard error: files beside those of conf.d that are not read. */
static enum err say_ignored(const struct config *c, struct errinfo *reterr)
{
    const char *slash = strrchr(c->file, '/');
    char dir[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%.*sconf.d",
                           slash == NULL ? 0 : (int)(slash - c->file) + 1, c->file);

    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);

    while (dir_walk_next(&w)) {
        if (!config_reads_file(w.name)) {
            cli_say("warning: %s/%s is not read; the name of a file in conf.d begins "
                    "with no dot and ends in .conf",
                    dir, w.name);
        }
    }
    return dir_walk_end(&w, ERR_OK, reterr);
}

static int check_config_file(struct cli *cli)
{
    const struct config *c = cli->config;
    struct errinfo why = {.code = ERR_OK};

    print_advice(c);
    if (c->tuning_fault != NULL && cli_may_look(cli)) { /* printed at the load */
        return EX_CONFIG;
    }
    if (*c->file != '\0' && say_ignored(c, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (cli->json) {
        return json_status(json_pack("{s:s, s:b}", "file", c->file, "ok", 1));
    }
    (void)printf("%s: ok\n", *c->file != '\0' ? c->file : "built-in defaults");
    return CLI_CLEAN;
}

/* Whether a word names the key or the group of the line; every line, if there are no words. */
static bool is_wanted(struct slice line, bool json, int nwords, char **words)
{
    struct slice key = slice_from(line, json ? strlen("{\"key\": \"") : 0);

    for (int i = 0; i < nwords; i++) {
        struct slice word = slice_str(words[i]);
        struct slice after = slice_from(key, word.n);

        if (slice_has_prefix(key, word) && after.n > 0 &&
            strchr(" .\"", *after.p) != NULL) {
            return true;
        }
    }
    return nwords == 0;
}

/* Prints the keys that the words name. False: there are none. */
static bool print_wanted(struct slice text, bool json, int nwords, char **words)
{
    bool is_found = false;

    while (text.n > 0) {
        struct slice line = slice_cut(&text, '\n');

        if (is_wanted(line, json, nwords, words)) {
            (void)printf("%.*s\n", SLICE_ARGS(line));
            is_found = true;
        }
    }
    return is_found;
}

static int dump(struct cli *cli, int nwords, char **words)
{
    struct buf text;
    int status = CLI_CLEAN;

    buf_init(&text, DUMP_MAX);
    config_dump(cli->config, cli->json, &text);
    if (buf_failed(&text)) {
        status = cli_nomem();
    } else {
        if (!print_wanted(buf_slice(&text), cli->json, nwords, words)) {
            status = cli_usage("config",
                               "there is no such key; `gillnet config dump` shows all");
        }
    }
    buf_fini(&text);
    return status;
}

int cmd_config(struct cli *cli, int argc, char **argv)
{
    bool is_check = argc == 2 && strcmp(argv[1], "check") == 0;
    bool is_dump = argc >= 2 && strcmp(argv[1], "dump") == 0;
    int status = 0;

    if (!is_check && !is_dump) {
        return cli_usage("config", "say check or dump");
    }
    status = is_check ? cli_rules(cli) : cli_config(cli);
    if (status != 0) {
        return status;
    }
    if (!cli_may_look(cli)) {
        config_print_tuning_fault("gillnet", cli->config);
    }
    return is_check ? check_config_file(cli) : dump(cli, argc - 2, argv + 2);
}
