/* feed_ham - `gillnet feed ham`: good mail of the site, which no feed may list. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/feed_commands.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/feed/exclude.h"
#include "core/message/feature/ham_keys.h"

enum { US_PER_S = 1000000, FOLDER_MODE = 02750 };

struct giving {
    struct ham_log *ham_log;
    const struct hashkey *key;
    uint64_t messages;
};

static int on_message(void *context, struct arena *arena, const struct message *m)
{
    struct giving *g = context;
    uint32_t now_s = (uint32_t)(clock_wall_us() / US_PER_S);

    /* a message with more keys than a record holds becomes several */
    for (size_t at = 0; at < featureset_count(m->features);) {
        struct ham_log_message kept = {.time_s = now_s, .is_good = true};

        at = ham_keys_gather(m->features, at, g->key, arena, &kept);
        ham_log_add(g->ham_log, &kept);
    }
    g->messages++;
    return CLI_CLEAN;
}

static int fail_with_errno(const char *path, const char *what)
{
    int errnum = errno;

    return cli_error(EX_IOERR, "%s: %s: %s", path, what,
                     err_text(err_of_errno(errnum)));
}

static int print(const struct cli *cli, const struct giving *g)
{
    if (cli->json) {
        return json_status(json_pack("{s:I}", "messages", (json_int_t)g->messages));
    }
    (void)printf("%" PRIu64
                 " messages are good mail from now on: no feed can list their values\n",
                 g->messages);
    if (g->messages > HAM_LOG_SLOTS) {
        (void)printf("more than the last %d are not kept\n", HAM_LOG_SLOTS);
    }
    return 0;
}

/* Writes the new log beside the old one, and renames it. */
static int replace_ham_log(struct cli *cli, const char *path, char **paths)
{
    struct messages_envelope envelope = {.client = NULL};
    struct giving g = {.key = &cli->keys.ring[0]};
    struct errinfo why = {.code = ERR_OK};
    char fresh[FILE_PATH_MAX];

    if (path_make(fresh, NULL, "%s.given", path) != ERR_OK) {
        return EX_USAGE;
    }
    (void)unlink(fresh); /* of a run that was broken off */
    if (ham_log_open(fresh, g.key->id, &g.ham_log, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    int status = messages_each(cli, &envelope, paths, on_message, &g);
    ham_log_close(&g.ham_log);
    if (g.messages == 0 && status <= CLI_HIT) {
        cli_say("feed ham: no message was found there; the former good mail stays");
        status = EX_NOINPUT;
    }
    if (status > CLI_HIT) {
        (void)unlink(fresh);
        return status;
    }
    return rename(fresh, path) == 0 ? print(cli, &g)
                                    : fail_with_errno(path, "cannot be put in place");
}

int feed_cmd_ham(struct cli *cli, int argc, char **argv)
{
    bool forgets = false;
    const struct cli_option table[] = {{"--forget", NULL, &forgets, NULL}};
    struct errinfo why = {.code = ERR_OK};
    char path[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    int status = cli_options(cli_command("feed"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if ((argc == 1) != forgets) {
        return cli_usage("feed",
                         "ham: name files or folders of good mail, or --forget");
    }
    if (path_make(folder, NULL, "%s/feeds", cli->config->state_dir) != ERR_OK ||
        path_make(path, NULL, "%s/%s", cli->config->state_dir, STATE_HAM_FILE) !=
            ERR_OK) {
        return EX_USAGE;
    }
    if (forgets) {
        return unlink(path) == 0 || errno == ENOENT
                   ? 0
                   : fail_with_errno(path, "cannot be removed");
    }
    status = cli_keys(cli, true);
    THEN(status, cli_status(file_make_dir(folder, FOLDER_MODE, &why), &why));
    return status == 0 ? replace_ham_log(cli, path, argv + 1) : status;
}
