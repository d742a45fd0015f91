/* feed_run - `gillnet feed update` and `rollback`: by the hub, if it runs. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/feed_commands.h"
#include "core/feed/local.h"
#include "core/feed/show.h"

static enum err read_local(struct feed_work *w, struct errinfo *reterr)
{
    const bool is_forced = *(const bool *)w->context;
    struct feed_local local;
    struct update_state state;

    update_get_state(w->stage, &state);
    enum err e =
        feed_local_read(w->feed, is_forced || state.is_pinned ? "" : state.etag,
                        update_incoming(w->stage), &local, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (local.is_same) {
        e = update_unchanged(w->stage, reterr);
        update_get_state(w->stage, &state);
        w->report.is_same = true;
        w->report.entries = state.entries;
        w->report.counts.format = state.format;
        return e;
    }
    const struct update_body body = {.etag = local.tag,
                                     .last_modified = "",
                                     .is_by_hand = is_forced || state.is_pinned};
    return update_update(w->stage, &body, NULL, NULL, &w->report, reterr);
}

/* Files of this machine need no hub. */
static int update_here(struct cli *cli, const struct config_feed *feed, bool is_forced)
{
    if (feed_local_path(feed->url) == NULL) {
        return cli_error(EX_UNAVAILABLE,
                         "the hub, which fetches feeds, does not run: systemctl start "
                         "gillnet-hub, or gillnet hub --once");
    }
    return feed_cmd_here(cli, feed, read_local, &is_forced, NULL);
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
    int status = cli_arguments(
        CLI_FORM("feed", table, 1, CLI_MANY, "update: name feeds"), &argc, argv);

    if (status != 0) {
        return status;
    }
    for (int i = 1; i < argc; i++) {
        const struct config_feed *feed = feed_cmd_find(cli, argv[i]);
        int one = feed == NULL ? EX_USAGE : update(cli, feed, is_forced);

        if (one == 0) {
            cli_note(cli, &(struct change){.kind = CHANGE_feed_update,
                                           .object = slice_str(feed->name)});
        }

        status = one > status ? one : status;
    }
    return status;
}

static enum err roll_back(struct feed_work *w, struct errinfo *reterr)
{
    return update_rollback(w->stage, *(const uint64_t *)w->context, &w->report, reterr);
}

int feed_cmd_rollback(struct cli *cli, int argc, char **argv)
{
    json_t *result = NULL;
    uint64_t version = 0;

    if (argc != 2 && argc != 3) {
        return cli_usage("feed", "rollback: name a feed, and a version or none");
    }
    if (argc == 3 && !slice_to_u64(slice_str(argv[2]), 10, INT64_MAX, &version)) {
        return cli_usage("feed", "rollback: a version is a number (gillnet feed list)");
    }
    const struct config_feed *feed = feed_cmd_find(cli, argv[1]);
    if (feed == NULL) {
        return EX_USAGE;
    }
    int status = feed->enabled ? feed_cmd_job(cli, "feed-rollback", feed->name,
                                              argc == 3 ? argv[2] : "", &result)
                               : -1;
    status = status < 0    ? feed_cmd_here(cli, feed, roll_back, &version, NULL)
             : status == 0 ? feed_cmd_print(cli, result)
                           : status;
    if (status == 0) {
        cli_note(cli, &(struct change){.kind = CHANGE_feed_rollback,
                                       .object = slice_str(feed->name)});
    }
    if (status == 0 && !cli->json) {
        (void)printf("%s went back and stays there; gillnet feed update %s takes what "
                     "is new again\n",
                     feed->name, feed->name);
    }
    return status;
}
