/* list_import - `gillnet list import`: a feed into a list, all or nothing. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/change_note.h"
#include "core/cli/list_commands.h"
#include "core/cli/print.h"
#include "core/feed/exclude.h"
#include "core/feed/feed.h"

enum { BAD_SHOWN = 10, BAD_TEXT = 80, FORMATS_TEXT = 256, NOTE_TEXT = 80 };

struct import {
    struct cli *cli;
    const char *list;
    const char *file; /* as given */
    const char *source;
    uint32_t expiry_s;
    uint64_t size; /* of a regular file; 0: unknown */
    uint64_t bad;
    uint64_t guarded;           /* entries that are never taken without --force */
    struct feed_exclude *guard; /* NULL: everything is taken */
    bool is_forced;
    bool has_guard; /* or the list needs none */
    int status;     /* of a failure that has been reported */
    struct errinfo why;
    struct progress progress;
    struct list_writer *writer;
    struct list_import *im;
    struct list_import_result result;
};

/* Opens the list at its first entry. */
static enum err begin_import(struct import *i)
{
    i->status = list_cmd_open_writer(i->cli, i->list, true, &i->writer);
    if (i->status != 0) {
        return ERR_IO;
    }
    return list_import_begin(i->writer, slice_str(i->source), &i->im, &i->why);
}

/* The sooner of the feed's own end of an entry and that of --expire. */
static uint32_t expiry_of(const struct import *i, const struct feed_item *item)
{
    bool is_own =
        item->expiry_s != 0 && (i->expiry_s == 0 || item->expiry_s < i->expiry_s);
    return is_own ? item->expiry_s : i->expiry_s;
}

/* What feeds may not list, a file may not either: neither own names nor major domains. An allow
 * list may hold both. Made with the first entry: a file without any makes no keys. */
static enum err guard_open(struct import *i)
{
    char name[] = "import";
    struct config_feed feed = i->cli->config->feed_default;
    feed.name = name;
    i->has_guard = true;
    if (i->is_forced ||
        config_list_find(i->cli->config, slice_str(i->list))->is_allow) {
        return ERR_OK;
    }
    i->status = cli_keys(i->cli, true);
    return i->status != 0 ? ERR_IO
                          : feed_exclude_new(i->cli->config, &feed, &i->cli->keys,
                                             &i->guard, &i->why);
}

/* Reports a line that is left out. */
static bool is_guarded(struct import *i, const struct feed_item *item)
{
    const char *why = NULL;
    if (i->guard == NULL ||
        feed_exclude_refuses(i->guard, &item->entry, &why) == NULL) {
        return false;
    }
    if (++i->guarded <= BAD_SHOWN) {
        progress_clear(&i->progress);
        (void)fprintf(stderr, "gillnet: %s:%" PRIu64 ": left out: ", i->file,
                      item->line);
        text_print(stderr, item->entry.text, BAD_TEXT);
        (void)fprintf(stderr, " is %s\n", why);
    }
    return true;
}

static enum err import_entry(void *context, const struct feed_item *item)
{
    struct import *i = context;
    enum err result = i->has_guard ? ERR_OK : guard_open(i);
    if (result != ERR_OK || is_guarded(i, item)) {
        return result;
    }
    result = i->im == NULL ? begin_import(i) : ERR_OK;

    return result != ERR_OK
               ? result
               : list_import_add(i->im, &item->entry, expiry_of(i, item), &i->why);
}

static void on_bad(void *context, uint64_t line, const char *reason, struct slice text)
{
    struct import *i = context;

    if (++i->bad > BAD_SHOWN) {
        return;
    }
    progress_clear(&i->progress);
    (void)fprintf(stderr, "gillnet: %s:%" PRIu64 ": %s: ", i->file, line, reason);
    text_print(stderr, text, BAD_TEXT);
    (void)fputc('\n', stderr);
}

static void show_bytes_read(void *context, uint64_t bytes)
{
    struct import *i = context;
    progress_show(&i->progress, "reading",
                  i->size == 0 ? -1.0 : (double)bytes / (double)i->size);
}

static void on_stage(void *context, const char *stage, double share)
{
    struct import *i = context;
    progress_show(&i->progress, stage, share);
}

/* {"expired": 3, ...}: the lines without an entry, by reason. */
static json_t *unused_json(const struct feed_counts *c)
{
    json_t *object = json_object();
    for (unsigned u = 0; u < FEED_UNUSED_COUNT; u++) {
        if (c->unused[u] > 0) {
            (void)json_object_set_new(object, feed_unused_name((enum feed_unused)u),
                                      json_integer((json_int_t)c->unused[u]));
        }
    }
    return object;
}

static void say_guarded(const struct import *i)
{
    if (i->guarded > BAD_SHOWN) {
        cli_say("%s: ... and %" PRIu64 " more are left out", i->file,
                i->guarded - BAD_SHOWN);
    }
    if (i->guarded > 0) {
        cli_say("%s: the lines left out would hit good mail; --force imports them",
                i->file);
    }
}

static void say_unused(const struct import *i, const struct feed_counts *c)
{
    for (unsigned u = 0; u < FEED_UNUSED_COUNT; u++) {
        if (c->unused[u] > 0) {
            cli_say("%s: %" PRIu64 " of the ignored %s", i->file, c->unused[u],
                    feed_unused_text((enum feed_unused)u));
        }
    }
}

static bool print_summary(const struct import *i, const struct feed_counts *c,
                          uint64_t us)
{
    const struct list_import_result *r = &i->result;

    if (i->cli->json) {
        return json_line(json_pack(
            "{s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
            "list", i->list, "file", json_text(slice_str(i->file)), "format",
            feed_format_name(c->format), "lines", (json_int_t)c->lines, "entries",
            (json_int_t)c->entries, "added", (json_int_t)r->added, "known",
            (json_int_t)r->known, "duplicates", (json_int_t)r->duplicates, "revoked",
            (json_int_t)r->revoked, "ignored", (json_int_t)c->ignored, "bad",
            (json_int_t)c->bad, "excluded", (json_int_t)i->guarded, "listed",
            (json_int_t)r->entries, "time_us", (json_int_t)us, "unused",
            unused_json(c)));
    }
    printf("%s: %s (%s): %" PRIu64 " lines, %" PRIu64 " entries: %" PRIu64
           " new, %" PRIu64 " known, %" PRIu64 " twice, %" PRIu64
           " stay revoked; %" PRIu64 " ignored, %" PRIu64 " bad, %" PRIu64
           " left out; %" PRIu64 " listed now\n",
           i->list, i->file, feed_format_name(c->format), c->lines, c->entries,
           r->added, r->known, r->duplicates, r->revoked, c->ignored, c->bad,
           i->guarded, r->entries);
    return true;
}

static int nothing_found(const struct import *i, const struct feed_counts *c)
{
    return cli_error(
        EX_DATAERR,
        "%s: no entry was found (%s, %" PRIu64 " lines, %" PRIu64 " bad, %" PRIu64
        " left out); list %s is unchanged; --allow-empty accepts such a "
        "file",
        i->file, feed_format_name(c->format), c->lines, c->bad, i->guarded, i->list);
}

static void note_import(const struct import *i)
{
    char after[NOTE_TEXT];

    (void)snprintf(after, sizeof(after), "%" PRIu64 " new, %" PRIu64 " listed now",
                   i->result.added, i->result.entries);
    cli_note(i->cli, &(struct change){.kind = CHANGE_list_import,
                                      .object = slice_str(i->list),
                                      .after = slice_str(after),
                                      .reason = slice_str(i->source),
                                      .count = i->result.added});
}

static int commit(struct import *i)
{
    enum err e = i->im == NULL ? begin_import(i) : ERR_OK;
    if (i->status != 0) {
        return i->status;
    }
    THEN(e, list_import_commit(&i->im, on_stage, i, &i->result, &i->why));
    progress_clear(&i->progress);
    if (e == ERR_OK) {
        note_import(i);
    }
    return e == ERR_OK ? 0 : cli_fail(&i->why);
}

static int import_fd(struct import *i, int fd, const struct feed_options *options,
                     bool may_be_empty)
{
    struct feed_sink sink = {import_entry, on_bad, show_bytes_read, i};
    struct feed_counts counts;
    struct errinfo why = {.code = ERR_OK};
    uint64_t start = clock_mono_us();
    int status = 0;
    enum err e = feed_read(fd, i->file, options, &sink, &counts, &why);

    progress_clear(&i->progress);
    if (i->bad > BAD_SHOWN) {
        cli_say("%s: ... and %" PRIu64 " more bad lines", i->file, i->bad - BAD_SHOWN);
    }
    say_guarded(i);
    say_unused(i, &counts);
    if (i->status != 0) {
        status = i->status;
    } else if (e != ERR_OK) {
        status = cli_fail(i->why.code != ERR_OK ? &i->why : &why);
    } else if (counts.entries == i->guarded && !may_be_empty) {
        status = nothing_found(i, &counts);
    } else {
        status = commit(i);
    }
    if (status == 0 && !print_summary(i, &counts, clock_mono_us() - start)) {
        status = EX_OSERR;
    }
    if (status == 0 && i->writer) {
        status = list_cmd_drop_periods(i->cli, i->writer, i->list);
    }
    list_import_abort(&i->im);
    list_writer_close(&i->writer);
    return status;
}

static int import_file(struct import *i, const struct feed_options *options,
                       bool may_be_empty)
{
    struct stat st;
    bool is_stdin = strcmp(i->file, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(i->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 || fstat(fd, &st) != 0) {
        int errnum = errno;
        return cli_error(EX_NOINPUT, "%s: cannot be read: %s", i->file,
                         err_text(err_of_errno(errnum)));
    }
    i->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    int status = import_fd(i, fd, options, may_be_empty);
    if (!is_stdin) {
        (void)close(fd);
    }
    return status;
}

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

int list_cmd_import(struct cli *cli, int argc, char **argv)
{
    struct import i = {.cli = cli};
    const char *format = NULL;
    const char *column = NULL;
    const char *type = NULL;
    const char *expire = NULL;
    bool may_be_empty = false;
    struct feed_options options = {.format = FEED_AUTO,
                                   .now_s = (uint32_t)(clock_wall_us() / 1000000)};
    const struct cli_option table[] = {
        {"--format", &format, NULL, NULL},
        {"--column", &column, NULL, NULL},
        {"--type", &type, NULL, NULL},
        {"--source", &i.source, NULL, NULL},
        {"--expire", &expire, NULL, NULL},
        {"--allow-empty", NULL, &may_be_empty, NULL},
        {"--force", NULL, &i.is_forced, NULL},
    };
    int status =
        cli_arguments(CLI_FORM("list", table, 2, 2,
                               "import: name a list and a file (- for standard input)"),
                      &argc, argv);

    if (status != 0) {
        return status;
    }
    i.list = argv[1];
    i.file = argv[2];
    if (i.source == NULL) {
        i.source = strcmp(i.file, "-") == 0 ? "stdin" : last_component(i.file);
    }
    if (format != NULL) {
        options.format = feed_format_by_name(slice_str(format));
    }
    if (options.format == FEED_FORMAT_COUNT) {
        char why[FORMATS_TEXT];
        (void)snprintf(why, sizeof(why), "--format: %s", feed_format_names());
        return cli_usage("list", why);
    }
    if (column != NULL && options.format == FEED_AUTO) {
        options.format = FEED_CSV; /* only tables have columns */
    }
    options.csv_column = slice_str(column);
    if (!cli_expiry(expire, &i.expiry_s)) {
        return cli_usage("list", "--expire: a time such as 12h or 7d");
    }
    status = list_cmd_check_name(i.list);
    THEN(status, list_cmd_type(type, &options.entry_type));
    if (status != 0) {
        return status;
    }
    progress_init(&i.progress);
    status = cli_config(cli);
    THEN(status, import_file(&i, &options, may_be_empty));
    feed_exclude_free(&i.guard);
    return status;
}
