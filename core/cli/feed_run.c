/* feed_run - `gillnet feed update` and `rollback`: by the hub where it runs. */
#include <sysexits.h>

#include "core/cli/feed_commands.h"
#include "core/cli/options.h"
#include "core/feed/local.h"
#include "core/feed/show.h"

/* Files of this machine need no hub. */
static int update_here(struct cli *cli, const struct config_feed *feed, bool is_forced)
{
    struct update_report report = {.entries = 0};
    struct errinfo why = {.code = ERR_OK};
    struct feed_local local;
    struct update_state state;
    struct feed_update *s = NULL;
    struct progress p;

    if (feed_local_path(feed->url) == NULL) {
        (void)fprintf(stderr,
                      "gillnet: the hub, which fetches feeds, does not run: systemctl "
                      "start gillnet-hub, or gillnet hub --once\n");
        return EX_UNAVAILABLE;
    }
    int status = feed_cmd_open(cli, feed, &p, &s);
    if (status != 0) {
        return status;
    }
    update_get_state(s, &state);
    enum err e = feed_local_read(feed, is_forced || state.is_pinned ? "" : state.etag,
                                 update_incoming(s), &local, &why);
    if (e == ERR_OK && local.is_same) {
        e = update_unchanged(s, &why);
        update_get_state(s, &state);
        report.is_same = true;
        report.entries = state.entries;
        report.counts.format = state.format;
    } else if (e == ERR_OK) {
        const struct update_body body = {.etag = local.tag,
                                         .last_modified = "",
                                         .is_by_hand = is_forced || state.is_pinned};
        e = update_update(s, &body, NULL, NULL, &report, &why);
        progress_clear(&p);
    }
    update_close(&s);
    return feed_cmd_print(cli, feed_cmd_result(feed->name, e, &why, &report, NULL));
}

static int update(struct cli *cli, const struct config_feed *feed, bool is_forced)
{
    json_t *result = NULL;
    int status = feed_cmd_job(cli, is_forced ? "feed-force" : "feed-update", feed->name,
                              "", &result);

    return status < 0    ? update_here(cli, feed, is_forced)
           : status == 0 ? feed_cmd_print(cli, result)
                         : status;
}

int feed_cmd_update(struct cli *cli, int argc, char **argv)
{
    bool is_forced = false;
    const struct cli_option table[] = {{"--force", NULL, &is_forced, NULL}};
    int status = cli_options(cli_command("feed"), table, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc < 2) {
        return feed_cmd_usage("update: name feeds");
    }
    for (int i = 1; i < argc; i++) {
        const struct config_feed *feed = feed_cmd_find(cli, argv[i]);
        int one = feed == NULL ? EX_USAGE : update(cli, feed, is_forced);

        status = one > status ? one : status;
    }
    return status;
}

static int rollback_here(struct cli *cli, const struct config_feed *feed,
                         uint64_t version)
{
    struct update_report report = {.entries = 0};
    struct errinfo why = {.code = ERR_OK};
    struct feed_update *s = NULL;
    struct progress p;
    int status = feed_cmd_open(cli, feed, &p, &s);

    if (status != 0) {
        return status;
    }
    enum err e = update_rollback(s, version, &report, &why);
    progress_clear(&p);
    update_close(&s);
    return feed_cmd_print(cli, feed_cmd_result(feed->name, e, &why, &report, NULL));
}

int feed_cmd_rollback(struct cli *cli, int argc, char **argv)
{
    char *end = NULL;
    json_t *result = NULL;
    uint64_t version = 0;

    if (argc != 2 && argc != 3) {
        return feed_cmd_usage("rollback: name a feed, and a version or none");
    }
    errno = 0;
    version = argc == 3 ? strtoull(argv[2], &end, 10) : 0;
    if (argc == 3 && (argv[2][0] < '0' || argv[2][0] > '9' || *end != '\0' ||
                      errno != 0 || version > INT64_MAX)) {
        return feed_cmd_usage("rollback: a version is a number (gillnet feed list)");
    }
    const struct config_feed *feed = feed_cmd_find(cli, argv[1]);
    if (feed == NULL) {
        return EX_USAGE;
    }
    int status = feed->enabled ? feed_cmd_job(cli, "feed-rollback", feed->name,
                                              argc == 3 ? argv[2] : "", &result)
                               : -1;
    status = status < 0    ? rollback_here(cli, feed, version)
             : status == 0 ? feed_cmd_print(cli, result)
                           : status;
    if (status == 0 && !cli->json) {
        (void)printf("%s went back and stays there; gillnet feed update %s takes what "
                     "is new again\n",
                     feed->name, feed->name);
    }
    return status;
}
