/* list_age - `gillnet list age`: periods of lists without hits for long are dropped. */

#include "core/base/clock.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/list/lookup_stats.h"
#include "core/list/retention.h"

/* gillnetd's counters of one list. */
struct met {
    struct hits_view *view; /* NULL: there are none */
    struct slice list;
    uint64_t now_s;
};

/* The time of the last possible hit of an entry of the period. Time before gillnetd counted, and
 * time in which it did not run, does not make a period older. */
static uint64_t last_met(void *context, uint64_t period_s)
{
    const struct met *m = context;
    struct lookup_stats_counts c;
    if (!m->view || !lookup_stats_view_find(m->view, m->list, period_s, &c)) {
        return m->now_s;
    }
    uint64_t alive_s = lookup_stats_view_alive_s(m->view);
    uint64_t away_s = m->now_s > alive_s ? m->now_s - alive_s : 0;
    return (c.last_hit_s > c.since_s ? c.last_hit_s : c.since_s) + away_s;
}

int list_cmd_drop_periods(struct cli *cli, struct list_writer *w, const char *name)
{
    struct met m = {.list = slice_str(name), .now_s = clock_wall_us() / 1000000};
    struct list_aged aged;
    struct errinfo info = {.code = ERR_OK};
    m.view = state_hits(cli->config); /* without it nothing is dropped */
    enum err e = list_age(w, last_met, &m, m.now_s, &aged, &info);
    lookup_stats_view_free(&m.view);
    if (aged.periods > 0) {
        cli_say("list %s: %u periods that nobody met were dropped with %" PRIu64
                " entries; %" PRIu64 " of theirs that a person listed or revoked stay",
                name, aged.periods, aged.entries, aged.kept);
    }
    return cli_status(e, &info);
}

static int age_one(struct cli *cli, const char *name)
{
    struct list_writer *w = NULL;
    int status = list_cmd_check_name(name);
    THEN(status, list_cmd_open_writer(cli, name, false, &w));
    if (status == 0) {
        status = list_cmd_drop_periods(cli, w, name);
        list_writer_close(&w);
    }
    return status;
}

int list_cmd_age(struct cli *cli, int argc, char **argv)
{
    int status =
        cli_arguments(CLI_WORDS("list", 1, CLI_MANY, "age: name a list"), &argc, argv);

    if (status != 0) {
        return status;
    }
    for (int i = 1; i < argc; i++) {
        int one = age_one(cli, argv[i]);
        THEN(status, one);
    }
    return status;
}
