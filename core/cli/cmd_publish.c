/* cmd_publish - `gillnet publish`: lists as signed files for any web server. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/config/unit.h"
#include "core/ring/publish/publish.h"

enum { VALID_DEFAULT_S = 2 * 86400, VALID_LEAST_S = 60, VALID_MOST_S = 90 * 86400 };

struct publishing_run {
    struct cli *cli;
    const char *place;
    struct identity self;
    struct progress progress;
    const char *list;      /* at work */
    bool is_first;         /* the place was empty */
    const char *withdrawn; /* list that is to go; NULL: none */
};

static void show_list_progress(void *context, const char *stage, double share)
{
    struct publishing_run *r = context;
    char text[64];

    (void)snprintf(text, sizeof(text), "%.32s: %s", r->list, stage);
    progress_show(&r->progress, text, share);
}

static bool print_result(struct publishing_run *r, const struct publish_result *p)
{
    progress_clear(&r->progress);
    if (p->without_text > 0) {
        cli_say("%s: %" PRIu64
                " entries have no text and are not published (keep_text)",
                r->list, p->without_text);
    }
    if (r->cli->json) {
        return json_line(json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "list", r->list, "entries",
            (json_int_t)p->entries, "revoked", (json_int_t)p->revoked, "without_text",
            (json_int_t)p->without_text, "steps", (json_int_t)p->steps, "objects",
            (json_int_t)p->objects, "bytes", (json_int_t)p->bytes, "seq",
            (json_int_t)p->seq, "new_stream", p->is_new ? 1 : 0));
    }
    printf("%s: %" PRIu64 " entries, %" PRIu64 " revoked; ", r->list, p->entries,
           p->revoked);
    if (p->objects == 0) {
        (void)fputs("nothing new\n", stdout);
    } else if (p->is_new) {
        printf("all of it in %" PRIu64 " bytes\n", p->bytes);
    } else {
        printf("%" PRIu64 " changes in %" PRIu64 " bytes\n", p->steps, p->bytes);
    }
    return true;
}

/* Prints instructions for the administrator of the web server and the subscribers. */
static bool print_help(const struct publishing_run *r)
{
    char key[2 * OBJECT_KEY_BYTES + 1];

    hex_print(r->self.public_key, OBJECT_KEY_BYTES, key);
    if (r->cli->json) {
        return json_line(json_pack("{s:s, s:s}", "place", r->place, "key", key));
    }
    if (r->is_first) {
        printf("Serve the folder %s/v1 as plain files (ranges and ETag make it cheap); "
               "v1/heads and\n"
               "v1/key may be cached for a minute at most, all else for ever. A copy "
               "anywhere is a mirror.\n"
               "Publish again at least every day: the heads expire (--valid).\n"
               "Subscribers write into gillnet.conf, with the key from somebody they "
               "trust:\n",
               r->place);
        printf("  subscribe = ( { name = \"...\"; urls = [ \"https://...\" ];\n"
               "      key = \"%s\";\n      lists = [ \"%s\" ]; } );\n",
               key, r->list);
    } else {
        printf("key %s\n", key);
    }
    return true;
}

static int publish_all(struct publishing_run *r, struct publish *p,
                       const char *const *lists, size_t n)
{
    struct errinfo why = {.text = ""};

    for (size_t i = 0; i < n; i++) {
        struct publish_result result;

        r->list = lists[i];
        enum err e = publish_list(p, lists[i], &result, &why);
        progress_clear(&r->progress);
        if (e == ERR_NOT_FOUND) {
            (void)errinfo_set(
                &why, e, lists[i], 0,
                "there is no such list; if it was published once: gillnet "
                "publish --withdraw %s %s",
                lists[i], r->place);
        }
        if (e != ERR_OK) {
            return cli_fail(&why);
        }
        if (!print_result(r, &result)) {
            return EX_OSERR;
        }
    }
    if (publish_commit(p, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    return print_help(r) ? 0 : EX_OSERR;
}

static int publish_lists_given(struct publishing_run *r, struct publish_options *o,
                               const char *const *given, size_t ngiven)
{
    const char *known[REPOSITORY_LISTS_MAX] = {NULL};
    char names[REPOSITORY_LISTS_MAX][LIST_NAME_MAX + 1];
    struct publish *p = NULL;
    struct errinfo why = {.text = ""};
    enum err e = publish_open(o, &p, &why);

    if (e == ERR_OK && r->withdrawn != NULL) {
        e = publish_withdraw(p, r->withdrawn, &why);
    }
    if (e != ERR_OK) {
        publish_close(&p);
        return cli_fail(&why);
    }
    size_t n = publish_lists(p, known);
    r->is_first = n == 0 && r->withdrawn == NULL;
    for (size_t i = 0; i < n; i++) { /* publish_list moves the strings */
        (void)snprintf(names[i], sizeof(names[i]), "%s", known[i]);
        known[i] = names[i];
    }
    int status = 0;
    if (ngiven == 0 && n == 0 && r->withdrawn == NULL) {
        status = cli_usage("publish", "nothing is published there yet: name the lists");
    } else {
        status =
            ngiven > 0 ? publish_all(r, p, given, ngiven) : publish_all(r, p, known, n);
    }
    publish_close(&p);
    return status;
}

/* 0, or an exit status after a message. */
static int read_valid(const char *text, uint64_t *retms)
{
    uint64_t us = (uint64_t)VALID_DEFAULT_S * 1000000;

    if (text != NULL &&
        (!unit_time_us(text, &us) || us < (uint64_t)VALID_LEAST_S * 1000000 ||
         us > (uint64_t)VALID_MOST_S * 1000000)) {
        return cli_usage("publish", "--valid: a time such as 2d, from 1m to 90d");
    }
    *retms = us / 1000;
    return 0;
}

static int load_identity(struct publishing_run *r)
{
    char dir[FILE_PATH_MAX];
    struct errinfo why = {.text = ""};
    int status = cli_keys(r->cli, false);

    THEN(status, peer_dir(r->cli, dir));
    THEN(status, cli_status(identity_load(dir, &r->self, &why), &why));
    return status;
}

int cmd_publish(struct cli *cli, int argc, char **argv)
{
    struct publishing_run r = {.cli = cli, .list = ""};
    struct publish_options o = {.progress = show_list_progress, .context = &r};
    const char *valid = NULL;
    const struct cli_option table[] = {{"--valid", &valid, NULL, NULL},
                                       {"--withdraw", &r.withdrawn, NULL, NULL},
                                       {"--anew", NULL, &o.is_anew, NULL}};
    int status = cli_options(cli_command("publish"), table, LENGTH(table), &argc, argv);
    THEN(status, read_valid(valid, &o.valid_ms));
    if (status != 0) {
        return status;
    }
    if (argc < 2 || argc - 2 > REPOSITORY_LISTS_MAX) {
        return cli_usage(
            "publish", "name the folder that a web server serves, and up to 64 lists");
    }
    status = load_identity(&r);
    if (status != 0) {
        return status;
    }
    r.place = argv[1];
    o.state_dir = cli->config->state_dir;
    o.place = r.place;
    o.self = &r.self;
    o.keys = &cli->keys;
    o.now_ms = clock_wall_us() / 1000;
    progress_init(&r.progress);
    status =
        publish_lists_given(&r, &o, (const char *const *)argv + 2, (size_t)argc - 2);
    progress_clear(&r.progress);
    identity_wipe(&r.self);
    return status;
}
