/* quarantine_digest - `gillnet quarantine digest`: each recipient gets the list of held mail. */
#include <netdb.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"
#include "core/cli/quarantine_commands.h"
#include "core/quarantine/held_digest.h"
#include "core/quarantine/held_link.h"
#include "core/quarantine/queue/queue.h"
#include "core/quarantine/queue/run_program.h"

enum {
    US_PER_S = 1000000,
    HOST_BYTES = 256,
    FROM_MAX = 320,
    URL_BYTES = 2048,
    TOLD_MAX = 4 << 20
};

struct digesting {
    struct cli *cli;
    bool is_dry;
    bool has_since;
    uint64_t since_s;
    json_t *told;
    json_t *pages; /* {recipient: {"page_url"}} */
    uint64_t now_s;
    struct buf template;
    char host[HOST_BYTES];
    char from[FROM_MAX];
    struct queue queue;
    unsigned nfailed;
};

/* ---- messages that were in a digest: {id: time} ---- */

static enum err told_path(const struct cli *cli, char ret[FILE_PATH_MAX],
                          struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/quarantine/digest", cli->config->state_dir);
}

/* Empty if no digest was sent. */
static json_t *read_told(const struct digesting *d)
{
    char path[FILE_PATH_MAX];
    struct buf text;
    json_t *told = NULL;

    buf_init(&text, TOLD_MAX);
    if (told_path(d->cli, path, NULL) == ERR_OK &&
        file_read(path, &text, NULL) == ERR_OK) {
        told = json_loadb(text.p, text.n, 0, NULL);
    }
    buf_fini(&text);
    if (!json_is_object(told)) {
        json_decref(told);
        told = json_object();
    }
    return told;
}

/* Keeps those that are held, so that the file does not grow. */
static enum err write_told(const struct digesting *d, const json_t *rows,
                           struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    json_t *told = json_object();
    enum err e = path_make(path, reterr, "%s/quarantine", d->cli->config->state_dir);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        (void)json_object_set(told, held_text(row, "id"),
                              json_object_get(row, "time_s"));
    }
    char *text = json_dumps(told, JSON_COMPACT);
    json_decref(told);
    THEN(e, text != NULL ? ERR_OK : errinfo_nomem(reterr, path));
    THEN(e, file_make_dir(path, 0700, reterr));
    THEN(e, told_path(d->cli, path, reterr));
    THEN(e, file_write_atomic(path, slice_str(text), 0600, reterr));
    free(text);
    return e;
}

/* Without --since each message is in one digest. */
static bool is_to_tell(const struct digesting *d, const json_t *row)
{
    const json_t *told = json_object_get(d->told, held_text(row, "id"));

    if (d->has_since) {
        return held_number(row, "time_s") >= d->since_s;
    }
    return told == NULL || !json_equal(told, json_object_get(row, "time_s"));
}

/* ---- who gets what ---- */

static bool is_of_domains(const struct config *c, const char *address)
{
    const char *at = strrchr(address, '@');
    const struct config_strings *domains = &c->quarantine.domains;

    for (size_t i = 0; at != NULL && i < domains->n; i++) {
        if (slice_eq_nocase(slice_str(at + 1), slice_str(domains->v[i]))) {
            return true;
        }
    }
    return domains->n == 0;
}

/* Appends the row to the array of a recipient. */
static void add_to(json_t *recipients, const char *address, json_t *row)
{
    char key[HELD_VALUE_MAX + 1];
    size_t n = 0;

    for (; n < HELD_VALUE_MAX && address[n] != '\0'; n++) {
        const char c = address[n];
        key[n] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    key[n] = '\0';
    json_t *list = json_object_get(recipients, key);
    if (list == NULL) {
        list = json_array();
        (void)json_object_set_new(recipients, key, list);
    }
    (void)json_array_append_new(list, json_copy(row)); /* links differ */
}

/* {recipient: [row]} of incoming mail that gillnet held. Recipients of outgoing mail are
 * strangers. */
static json_t *by_recipient(const struct digesting *d, const json_t *rows)
{
    json_t *all = json_object();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const json_t *rcpts = json_object_get(row, "recipients");

        if (!held_is_gillnets(row) || json_is_true(json_object_get(row, "outgoing")) ||
            !is_to_tell(d, row)) {
            continue;
        }
        for (size_t k = 0; k < json_array_size(rcpts); k++) {
            const char *address = json_string_value(json_array_get(rcpts, k));

            if (address != NULL && held_digest_takes(address) &&
                is_of_domains(d->cli->config, address)) {
                add_to(all, address, row);
            }
        }
    }
    return all;
}

/* ---- links ---- */

static enum err add_link(const struct digesting *d, json_t *row, const char *address,
                         const char *action, const char *member, struct errinfo *reterr)
{
    const struct config_quarantine *c = &d->cli->config->quarantine;
    char token[HELD_TOKEN_SIZE] = "ONE-TIME-LINK";
    char url[URL_BYTES];
    const size_t n = strlen(c->url);
    const struct held_link_terms terms = {row, address, action,
                                          d->now_s + c->link_expires_s};
    enum err e = d->is_dry
                     ? ERR_OK
                     : held_link_make(d->cli->config->state_dir, &terms, token, reterr);

    (void)snprintf(url, sizeof(url), "%s%sq/%s", c->url,
                   n > 0 && c->url[n - 1] == '/' ? "" : "/", token);
    (void)json_object_set_new(row, member, json_string(url));
    return e;
}

static enum err add_links(const struct digesting *d, json_t *rows, const char *address,
                          struct errinfo *reterr)
{
    const struct config_quarantine *c = &d->cli->config->quarantine;
    enum err e = ERR_OK;

    for (size_t i = 0; c->url[0] != '\0' && e == ERR_OK && i < json_array_size(rows);
         i++) {
        json_t *row = json_array_get(rows, i);
        const bool is_own = held_number(row, "nrcpt") == 1;

        if (c->user_release == QUARANTINE_USERS_ANY ||
            (c->user_release == QUARANTINE_USERS_OWN && is_own)) {
            e = add_link(d, row, address, HELD_LINK_RELEASE, "release_url", reterr);
        }
        THEN(e, add_link(d, row, address, HELD_LINK_SPAM, "spam_url", reterr));
    }
    return e;
}

/* The link of the recipient's own page. */
static enum err add_page_link(const struct digesting *d, const char *address,
                              struct errinfo *reterr)
{
    json_t *page = json_object();
    enum err e = add_link(d, page, address, HELD_LINK_PAGE, "page_url", reterr);

    (void)json_object_set_new(d->pages, address, page);
    return e;
}

/* ---- sending ---- */

/* The empty sender: nobody answers a digest, and no bounce comes back. */
static enum err send_digest(const struct digesting *d, const char *address,
                            struct slice mail, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const char *argv[RUN_ARGS_MAX] = {path, "-oi", "-f", "<>"};
    size_t n = 4;
    enum err e = queue_program(&d->queue, "sendmail", path, reterr);

    if (d->queue.mta_config[0] != '\0') {
        argv[n++] = "-C";
        argv[n++] = d->queue.mta_config;
    }
    argv[n++] = "--";
    argv[n] = address;
    THEN(e, run_with_input(argv, mail, reterr));
    return e;
}

static int print_sent(const struct cli *cli, const char *address, size_t n)
{
    if (cli->json) {
        return json_status(json_pack("{s:s, s:I, s:s}", "recipient", address,
                                     "messages", (json_int_t)n, "state", "sent"));
    }
    (void)printf("%s: %zu message%s\n", address, n, n == 1 ? "" : "s");
    return CLI_CLEAN;
}

static int digest_one(struct digesting *d, const char *address, json_t *rows)
{
    const struct held_digest h = {.template = buf_slice(&d->template),
                                  .from = d->from,
                                  .host = d->host,
                                  .recipient = address,
                                  .page_url = json_string_value(json_object_get(
                                      json_object_get(d->pages, address), "page_url")),
                                  .rows = rows,
                                  .now_s = d->now_s};
    struct errinfo why = {.text = ""};
    struct buf mail;
    int status = CLI_CLEAN;
    enum err e = ERR_OK;

    buf_init(&mail, HELD_DIGEST_MAX);
    held_digest_print(&h, &mail);
    e = buf_failed(&mail) ? errinfo_nomem(&why, address) : ERR_OK;
    if (e == ERR_OK && d->is_dry) {
        (void)fwrite(mail.p, 1, mail.n, stdout);
        (void)putchar('\n');
    } else if (e == ERR_OK) {
        e = send_digest(d, address, buf_slice(&mail), &why);
        status = e == ERR_OK ? print_sent(d->cli, address, json_array_size(rows)) : 0;
    }
    if (e != ERR_OK) {
        d->nfailed++;
        status = cli_fail(&why);
    }
    buf_fini(&mail);
    return status;
}

/* The hub can read all links before the first mail is sent. */
static enum err link_all(const struct digesting *d, json_t *recipients,
                         struct errinfo *reterr)
{
    const char *address = NULL;
    json_t *rows = NULL;
    enum err e = ERR_OK;

    json_object_foreach(recipients, address, rows)
    {
        THEN(e, add_links(d, rows, address, reterr));
        if (e == ERR_OK && d->cli->config->quarantine.url[0] != '\0') {
            e = add_page_link(d, address, reterr);
        }
    }
    if (!d->is_dry) {
        statedir_settle(d->cli->config->state_dir);
    }
    return e;
}

static int digest_all(struct digesting *d, const json_t *all)
{
    json_t *recipients = by_recipient(d, all);
    const char *address = NULL;
    json_t *rows = NULL;
    struct errinfo why = {.text = ""};
    enum err e = link_all(d, recipients, &why);
    int status = cli_status(e, &why);

    json_object_foreach(recipients, address, rows)
    {
        const int one = e == ERR_OK ? digest_one(d, address, rows) : status;
        status = one > status ? one : status;
    }
    json_decref(recipients);
    if (e == ERR_OK && !d->is_dry && d->nfailed == 0) { /* else they come again */
        e = write_told(d, all, &why);
        THEN(e, held_link_sweep(d->cli->config->state_dir, d->now_s, &why));
        status = e != ERR_OK ? cli_fail(&why) : status;
    }
    return status;
}

/* ---- what it needs ---- */

static enum err read_template(struct digesting *d, struct errinfo *reterr)
{
    const char *path = d->cli->config->quarantine.template;
    enum err e = ERR_OK;

    if (*path == '\0') {
        buf_add(&d->template, held_digest_template());
    } else {
        e = file_read(path, &d->template, reterr);
    }
    THEN(e, held_digest_check(buf_slice(&d->template), reterr));
    if (e == ERR_SYNTAX) {
        (void)snprintf(reterr->source, sizeof(reterr->source), "%s", path);
    }
    return e;
}

static enum err find_sender(struct digesting *d, struct errinfo *reterr)
{
    const char *from = d->cli->config->quarantine.from;

    if (gethostname(d->host, sizeof(d->host)) != 0) {
        return errinfo_errno(reterr, "gethostname", "this host has no name");
    }
    d->host[sizeof(d->host) - 1] = '\0';
    (void)snprintf(d->from, sizeof(d->from), *from != '\0' ? "%s" : "postmaster@%s",
                   *from != '\0' ? from : d->host);
    return held_digest_takes(d->from)
               ? ERR_OK
               : errinfo_set(reterr, ERR_RANGE, d->from, 0,
                             "quarantine.from: this is no address of the form "
                             "NAME@DOMAIN");
}

static enum err check_url(const struct digesting *d, struct errinfo *reterr)
{
    const struct slice url = slice_str(d->cli->config->quarantine.url);

    return url.n == 0 || ((slice_has_prefix(url, SLICE_LIT("https://")) ||
                           slice_has_prefix(url, SLICE_LIT("http://"))) &&
                          url.n < URL_BYTES / 2)
               ? ERR_OK
               : errinfo_set(reterr, ERR_RANGE, "quarantine.url", 0,
                             "write an address such as https://mail.example.org");
}

static int prepare(struct digesting *d)
{
    struct errinfo why = {.text = ""};
    enum err e = read_template(d, &why);

    THEN(e, find_sender(d, &why));
    THEN(e, check_url(d, &why));
    THEN(e, queue_find(d->cli->config, &d->queue, &why));
    return cli_status(e, &why);
}

int quarantine_digest(struct cli *cli, int argc, char **argv)
{
    struct digesting d = {.cli = cli, .now_s = clock_wall_us() / US_PER_S};
    const char *since = NULL;
    const struct cli_option table[] = {{"--dry-run", NULL, &d.is_dry, NULL},
                                       {"--since", &since, NULL, NULL}};
    struct journal_query period = {.since_us = 0};
    json_t *rows = NULL;
    int status = cli_arguments(
        CLI_FORM("quarantine", table, 0, 0, "digest takes --dry-run and --since TIME"),
        &argc, argv);

    THEN(status, journal_period(since, NULL, &period));
    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    buf_init(&d.template, HELD_TEMPLATE_MAX);
    d.has_since = since != NULL;
    d.since_s = period.since_us / US_PER_S;
    d.told = read_told(&d);
    d.pages = json_object();
    status = prepare(&d);
    THEN(status, quarantine_rows(cli, &rows));
    THEN(status, digest_all(&d, rows));
    json_decref(d.told);
    json_decref(d.pages);
    json_decref(rows);
    buf_fini(&d.template);
    return status;
}
