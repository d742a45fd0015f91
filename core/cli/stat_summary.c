/* stat_summary - the first lines of `gillnet stat`. */
#include "core/cli/feed_commands.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/stat.h"
#include "core/store/origins.h"

enum { TROUBLE_SHOWN = 400, HEADLINE_TEXT_MAX = 512 };

/* ---- number of faults ---- */

static bool is_old(const struct config *c, const struct list_reader *r)
{
    return config_list_find(c, slice_str(list_reader_name(r)))->enabled &&
           list_is_old(c, r);
}

static unsigned feeds_in_trouble(json_t *feeds)
{
    json_t *row = NULL;
    size_t i = 0;
    unsigned n = 0;

    json_array_foreach(feeds, i, row)
    {
        n += *feed_row_trouble(row) != '\0';
    }
    return n;
}

static void count_serious(void *context, bool is_serious, const char *text,
                          const char *advice)
{
    unsigned *n = context;
    (void)text;
    (void)advice;
    *n += is_serious;
}

static unsigned troubles(const struct cli *cli, const struct stat_found *f)
{
    unsigned n = feeds_in_trouble(f->feeds) + (unsigned)json_array_size(f->alerts);

    n += f->lists->status != 0;
    n += f->daemon != NULL && f->daemon->is_running ? f->daemon->stats.nfaults : 1;
    for (size_t i = 0; i < f->lists->n; i++) {
        n += list_reader_fault(f->lists->v[i]) != NULL;
        n += i < f->lists->nown && is_old(cli->config, f->lists->v[i]);
    }
    count_numbers_troubles(f->counts, count_serious, &n);
    return n;
}

/* ---- the lines ---- */

/* The things that need the administrator are those that stand below. */
static void print_headline(const struct cli *cli, const struct stat_found *f,
                           unsigned ntroubles)
{
    struct headline h;
    struct buf text;

    stat_headline(cli, f, &h);
    h.needs = ntroubles;
    buf_init(&text, HEADLINE_TEXT_MAX);
    headline_print(&h, h.at_s, &text);
    (void)printf("%.*s\n", SLICE_ARGS(buf_slice(&text)));
    buf_fini(&text);
}

static void print_daemon(const struct daemon_view *d)
{
    char when[TEXT_TIME_MAX];

    if (!d->has_page) {
        return;
    }
    text_time(d->stats.value[STAT_start_time], when);
    if (!d->is_running) {
        (void)printf("the last start of gillnetd was %s\n", when);
        return;
    }
    (void)printf("gillnetd runs as process %" PRIu64 " since %s\n",
                 d->stats.value[STAT_pid], when);
    if (d->stats.value[STAT_sessions] == 0) {
        (void)puts("no MTA has connected yet (`gillnet doctor` tries the socket as the "
                   "MTA's user)");
    }
}

static void print_head(const struct cli *cli, const struct stat_found *f)
{
    if (f->daemon == NULL) {
        (void)puts("the state of gillnetd is not known");
        return;
    }
    print_headline(cli, f, troubles(cli, f));
    print_daemon(f->daemon);
}

static void print_lists(const struct state_lists *lists)
{
    char number[HUMANIZE_MAX];
    char when[TEXT_TIME_MAX];
    uint64_t entries = 0;
    uint64_t changed_s = 0;
    size_t followed = lists->n - lists->nown;

    for (size_t i = 0; i < lists->nown; i++) {
        uint64_t listed = 0;
        uint64_t revoked = 0;
        uint64_t at_s = list_reader_changed_s(lists->v[i]);
        list_reader_totals(lists->v[i], &listed, &revoked);
        entries += listed;
        changed_s = at_s > changed_s ? at_s : changed_s;
    }
    if (lists->nown > 0) {
        (void)printf("lists: %zu with %s entries, last changed %s", lists->nown,
                     humanize_count(entries, number), text_time(changed_s, when));
    } else if (lists->status != 0) {
        (void)fputs("lists: not known, none can be opened", stdout);
    } else if (followed > 0) {
        (void)fputs("lists: none of our own", stdout);
    } else {
        (void)fputs("lists: none yet; make one with `gillnet list import`", stdout);
    }
    if (followed > 0) {
        (void)printf("; and %zu of others", followed);
    }
    (void)putchar('\n');
}

static void print_feeds(json_t *feeds)
{
    json_t *row = NULL;
    size_t i = 0;
    size_t n = 0;
    const json_t *oldest = NULL;
    char when[TEXT_TIME_MAX];

    json_array_foreach(feeds, i, row)
    {
        if (json_is_true(json_object_get(row, "enabled"))) {
            n++;
            if (oldest == NULL ||
                json_number_of(row, "good_s") < json_number_of(oldest, "good_s")) {
                oldest = row;
            }
        }
    }
    if (oldest == NULL) {
        (void)puts("feeds: none");
        return;
    }
    (void)printf("feeds: %zu; the oldest is %s, last good %s\n", n,
                 feed_row_name(oldest),
                 text_time(json_number_of(oldest, "good_s"), when));
}

static void print_counts(const struct count_numbers *c)
{
    char a[HUMANIZE_MAX];

    if (c->value[STAT_count_messages_per_day] == 0) {
        bool is_kept = c->is_of_disk && (c->running_since_s != 0 ||
                                         c->value[STAT_count_disk_bytes] != 0);
        (void)puts(is_kept
                       ? "counting: gillnetd does not count now; the counts are kept"
                       : "counting: off, or not begun");
        return;
    }
    double fill =
        c->doorkeeper_fill > c->cells_fill ? c->doorkeeper_fill : c->cells_fill;
    (void)printf("counting: sized for %s messages a day, %.0f %% full\n",
                 humanize_count(c->value[STAT_count_messages_per_day], a), fill * 100);
}

static void print_others(const struct cli *cli)
{
    struct origins o;
    unsigned n = 0;

    enum err e = origins_read(cli->config->state_dir, &o, NULL);

    if (e != ERR_OK) {
        (void)puts(e == ERR_NOT_FOUND ? "peers: none" : "peers: not known");
        return;
    }
    for (unsigned i = 0; i < o.n; i++) {
        n += o.v[i].state == ORIGIN_ACTIVE &&
             memcmp(o.v[i].origin, o.self, ORIGIN_BYTES) != 0;
    }
    origins_fini(&o);
    (void)printf("peers: %u share lists or counts; `gillnet peer status`\n", n);
}

/* ---- faults and advice ---- */

static void print_count_trouble(void *context, bool is_serious, const char *text,
                                const char *advice)
{
    (void)context;
    (void)printf("%s: %s; %s\n", is_serious ? "fault: counts" : "advice", text, advice);
}

static void print_list_faults(const struct cli *cli, const struct state_lists *lists)
{
    if (lists->status != 0) {
        (void)puts(
            "fault: some lists cannot be opened; `gillnet stat --all` and `gillnet "
            "doctor` say why");
    }
    for (size_t i = 0; i < lists->n; i++) {
        const char *name = list_reader_name(lists->v[i]);
        const char *fault = list_reader_fault(lists->v[i]);
        if (fault != NULL) {
            (void)printf("fault: list %s: %s; `gillnet list verify %s`\n", name, fault,
                         name);
        }
        if (i < lists->nown && is_old(cli->config, lists->v[i])) {
            (void)printf("fault: list %s: older than its max_age; see to the feed or "
                         "import that fills it\n",
                         name);
        }
    }
}

static void print_feed_faults(json_t *feeds)
{
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(feeds, i, row)
    {
        const char *trouble = feed_row_trouble(row);
        if (*trouble != '\0') {
            (void)printf("fault: feed:%s ", feed_row_name(row));
            text_print(stdout, slice_str(trouble), TROUBLE_SHOWN);
            (void)putchar('\n');
        }
    }
}

static void print_alerts(json_t *alerts)
{
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(alerts, i, row)
    {
        (void)printf("alert %s (%s): %s; %s\n", json_text_of(row, "name"),
                     json_text_of(row, "severity"), json_text_of(row, "message"),
                     json_text_of(row, "action"));
    }
}

static void print_faults(const struct cli *cli, const struct stat_found *f)
{
    for (unsigned i = 0; f->daemon != NULL && i < f->daemon->stats.nfaults; i++) {
        (void)printf("fault: %s\n", f->daemon->stats.fault[i]);
    }
    print_alerts(f->alerts);
    print_list_faults(cli, f->lists);
    print_feed_faults(f->feeds);
    count_numbers_troubles(f->counts, print_count_trouble, NULL);
}

void stat_summary_print(struct cli *cli, const struct stat_found *f)
{
    print_head(cli, f);
    (void)stat_day_show(cli);
    print_lists(f->lists);
    print_feeds(f->feeds);
    print_counts(f->counts);
    print_others(cli);
    print_faults(cli, f);
}
