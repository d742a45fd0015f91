/* feed_test - `gillnet feed test`: the result of an update, and the good mail that its entries
 * would hit. */
#include <sysexits.h>

#include "core/cli/feed_commands.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/feed/local.h"
#include "core/feed/show.h"
#include "core/list/listset.h"
#include "core/message/feature/feature_json.h"

enum { LINES_MAX = 2000, HIT_SHOWN = 200, PERCENT = 100 };

struct options {
    const char *ham;
    const char *format;
    const char *column;
    const char *type;
};

/* ---- good mail ---- */

struct ham {
    const struct feed_try *t;
    const struct listset *set;
    uint64_t messages;
    uint64_t hit;
    bool broken;
};

static bool is_hit(const struct ham *h, const struct list_hit *hit)
{
    return hit->answer == LIST_CONFIRMED &&
           strcmp(list_reader_name(listset_reader(h->set, hit->list)),
                  h->t->feed.list) == 0 &&
           listset_origin(h->set, hit->list) == NULL;
}

static void print_hit(struct ham *h, const struct message *m,
                      const struct list_hit *hit)
{
    const char *type = feature_type_name(hit->report_type);

    if (h->t->cli.json) {
        h->broken =
            !json_line(json_pack("{s:o, s:s, s:o}", "file", json_text(m->file), "type",
                                 type, "value", json_text(hit->value))) ||
            h->broken;
        return;
    }
    text_print(stdout, m->file, FILENAME_MAX);
    (void)printf(": %s ", type);
    text_print(stdout, hit->value, HIT_SHOWN);
    (void)putchar('\n');
}

static int on_message(void *context, struct arena *arena, const struct message *m)
{
    struct ham *h = context;
    struct list_hits hits = {.n = 0};
    bool was_hit = false;

    h->messages++;
    (void)listset_lookup(h->set, m->features, 0, arena,
                         &hits); /* fewer hits at worst */
    for (size_t i = 0; i < hits.n; i++) {
        if (is_hit(h, &hits.v[i])) {
            was_hit = true;
            print_hit(h, m, &hits.v[i]);
        }
    }
    h->hit += was_hit ? 1 : 0;
    return was_hit ? CLI_HIT : CLI_CLEAN;
}

static int print_ham(const struct ham *h)
{
    double share = h->messages > 0 ? (double)h->hit * PERCENT / (double)h->messages : 0;

    if (h->t->cli.json) {
        return json_status(json_pack("{s:I, s:I, s:f}", "ham", (json_int_t)h->messages,
                                     "hit", (json_int_t)h->hit, "share",
                                     share / PERCENT));
    }
    (void)printf("%" PRIu64 " messages, %" PRIu64 " hit (%.3f %%)\n", h->messages,
                 h->hit, share);
    return 0;
}

static int look_at_ham(struct feed_try *t, const char *dir)
{
    char folder[FILE_PATH_MAX];
    char *paths[] = {folder, NULL};
    struct messages_envelope envelope = {.client = NULL};
    struct ham h = {.t = t};
    struct errinfo why = {.code = ERR_OK};
    struct list_manager *hold = list_manager_new(t->dir, &t->cli.keys);

    if (hold == NULL || path_make(folder, NULL, "%s", dir) != ERR_OK) {
        list_manager_free(&hold);
        return EX_OSERR;
    }
    int status =
        list_manager_refresh(hold, &t->config, &why) == ERR_OK ? 0 : cli_fail(&why);
    if (status == 0) {
        envelope.lists = hold;
        h.set = list_manager_acquire(hold);
        status = messages_each(&t->cli, &envelope, paths, on_message, &h);
        list_manager_release(hold, &h.set);
        if (status <= CLI_HIT) {
            int printed = print_ham(&h);
            status = printed != 0 || h.broken ? EX_OSERR : status;
        }
    }
    list_manager_free(&hold);
    return status;
}

/* ---- a body ---- */

static void on_line(void *context, const struct update_line *line)
{
    json_t *lines = context;

    if (json_array_size(lines) < LINES_MAX) {
        (void)json_array_append_new(lines, feed_line_json(line));
    }
}

static enum err check_body(struct feed_work *w, struct errinfo *reterr)
{
    struct feed_local local;
    enum err e =
        feed_local_read(w->feed, "", update_incoming(w->stage), &local, reterr);
    const struct update_body body = {
        .etag = "", .last_modified = "", .only_checks = *(const bool *)w->context};

    THEN(e, update_update(w->stage, &body, on_line, w->lines, &w->report, reterr));
    return e;
}

/* Prints what an update with the feed's local body would do, or does unless it only checks. */
static int test_body(struct cli *cli, const struct config_feed *feed, bool only_checks)
{
    return feed_cmd_here(cli, feed, check_body, &only_checks, json_array());
}

static char *text_or(const char *given, char *usual)
{
    static char copy[3][FILENAME_MAX];
    static unsigned n;

    if (given == NULL) {
        return usual;
    }
    n = (n + 1) % 3;
    (void)snprintf(copy[n], sizeof(copy[n]), "%s", given);
    return copy[n];
}

static int try_file(struct cli *cli, const struct config_feed *feed, const char *file,
                    const struct options *o)
{
    struct feed_try t = {.dir = ""};
    int status = feed_try_begin(cli, feed, file, &t);

    if (status != 0) {
        return status;
    }
    t.feed.format = text_or(o->format, t.feed.format);
    t.feed.column = text_or(o->column, t.feed.column);
    t.feed.type = text_or(o->type, t.feed.type);
    status = test_body(&t.cli, &t.feed, o->ham == NULL);
    if (status == 0 && o->ham != NULL) {
        status = look_at_ham(&t, o->ham);
    }
    feed_try_end(&t);
    return status;
}

/* ---- a feed ---- */

/* The body of the current version, or the feed's local file. */
static int body_of(struct cli *cli, const struct config_feed *feed,
                   char ret[FILE_PATH_MAX])
{
    const char *local = feed_local_path(feed->url);
    struct update_state state;
    struct feed_update *s = NULL;
    struct progress p;

    if (local != NULL) {
        (void)path_make(ret, NULL, "%s", local);
        return 0;
    }
    int status = feed_cmd_open(cli, feed, &p, &s);
    if (status != 0) {
        return status;
    }
    update_get_state(s, &state);
    update_close(&s);
    if (state.version == 0 ||
        path_make(ret, NULL, "%s/feeds/%s/body.%" PRIu64, cli->config->state_dir,
                  feed->name, state.version) != ERR_OK) {
        return cli_error(EX_UNAVAILABLE, "%s: nothing good came of this feed yet",
                         feed->name);
    }
    return 0;
}

static int test_feed(struct cli *cli, const struct config_feed *feed,
                     const struct options *o)
{
    char body[FILE_PATH_MAX];
    json_t *result = NULL;
    int status = 0;

    if (o->ham != NULL) {
        status = body_of(cli, feed, body);
        return status == 0 ? try_file(cli, feed, body, o) : status;
    }
    status =
        feed->enabled ? feed_cmd_job(cli, "feed-test", feed->name, "", &result) : -1;
    if (status == 0) {
        return feed_cmd_print(cli, result);
    }
    if (status > 0) {
        return status;
    }
    if (feed_local_path(feed->url) == NULL) {
        return cli_error(
            EX_UNAVAILABLE,
            "%s: only the hub fetches this feed; start gillnet-hub and enable the "
            "feed, or test a file of it: gillnet feed test FILE",
            feed->name);
    }
    return test_body(cli, feed, true);
}

int feed_cmd_test(struct cli *cli, int argc, char **argv)
{
    struct options o = {.ham = NULL};
    const struct cli_option table[] = {{"--ham", &o.ham, NULL, NULL},
                                       {"--format", &o.format, NULL, NULL},
                                       {"--column", &o.column, NULL, NULL},
                                       {"--type", &o.type, NULL, NULL}};
    int status = cli_arguments(
        CLI_FORM("feed", table, 1, 1, "test: name a feed or a file"), &argc, argv);

    if (status != 0) {
        return status;
    }
    for (size_t i = 0; i < cli->config->nfeeds; i++) {
        if (strcmp(cli->config->feeds[i].name, argv[1]) == 0) {
            return test_feed(cli, &cli->config->feeds[i], &o);
        }
    }
    if (access(argv[1], F_OK) != 0) {
        (void)feed_cmd_find(cli, argv[1]);
        return EX_USAGE;
    }
    return try_file(cli, NULL, argv[1], &o);
}
