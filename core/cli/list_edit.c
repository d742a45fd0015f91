/* list_edit - `gillnet list add` and `revoke`: what a person says, durable one by one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/cli/evidence.h"
#include "core/cli/json.h"
#include "core/cli/list_commands.h"
#include "core/cli/options.h"
#include "core/cli/text.h"

enum { ENTRY_ARENA = 256 * 1024 };

struct edit {
    struct cli *cli;
    const char *list;
    bool is_revoke;
    bool said_class;
    uint16_t type;
    uint32_t expiry_s;
    const char *source;
    struct list_writer *writer;
    struct arena *arena;
    int status;
};

/* What a terminal might obey. */
static bool has_control_bytes(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) {
            return true;
        }
    }
    return false;
}

static bool acknowledge(const struct edit *e, struct slice value,
                        const struct feature_entry *entry)
{
    if (e->cli->json) {
        if (!json_line(json_pack("{s:o, s:s, s:s, s:o}", "value", json_text(value),
                                 "status", e->is_revoke ? "revoked" : "added", "type",
                                 evidence_type_name(entry->class_type), "entry",
                                 json_text(entry->text)))) {
            return false;
        }
    } else {
        (void)fputs("ok ", stdout);
        if (has_control_bytes(value)) {
            text_print(stdout, value, LIST_TEXT_MAX);
        } else {
            (void)fwrite(value.p, 1, value.n, stdout);
        }
        (void)putchar('\n');
    }
    /* whoever reads this knows that it is durable */
    return fflush(stdout) == 0;
}

/* False stops: the list cannot be written any more. */
static bool edit_value(struct edit *e, struct slice value)
{
    struct feature_entry entry;
    struct errinfo info = {.code = ERR_OK};

    arena_reset(e->arena);
    enum err result =
        feature_entry_parse(value, (enum feature_type)e->type, e->arena, &entry, &info);
    if (result != ERR_OK) {
        (void)fprintf(stderr, "gillnet: ");
        text_print(stderr, value, EVIDENCE_SHOWN);
        (void)fprintf(stderr, ": %s\n",
                      info.text[0] == '\0' ? err_text(result) : info.text);
        e->status = EX_DATAERR;
        return true;
    }
    /* only now: a value that is none makes no list */
    int status = e->writer
                     ? 0
                     : list_cmd_open_writer(e->cli, e->list, !e->is_revoke, &e->writer);
    if (status != 0) {
        e->status = status;
        return false;
    }
    if (!e->is_revoke) {
        list_cmd_check_class(e->cli, e->list, entry.class_type, &e->said_class);
    }
    struct slice source = slice_str(e->source);
    result = e->is_revoke ? list_revoke(e->writer, &entry, source, &info)
                          : list_add(e->writer, &entry, source, e->expiry_s, &info);
    if (result != ERR_OK) {
        e->status = cli_fail(&info);
        return false;
    }
    if (!acknowledge(e, value, &entry)) {
        e->status = EX_IOERR;
        return false;
    }
    return true;
}

static void edit_stdin(struct edit *e)
{
    char line[TEXT_LINE_MAX];
    size_t n = 0;

    for (unsigned long number = 1; text_read_line(stdin, line, &n); number++) {
        if (n > TEXT_LINE_MAX) {
            (void)fprintf(stderr,
                          "gillnet: standard input:%lu: the line is longer than %d "
                          "bytes\n",
                          number, TEXT_LINE_MAX);
            e->status = EX_DATAERR;
            continue;
        }
        struct slice value = slice_trim(slice_of(line, n));
        if (value.n > 0 && value.p[0] != '#' && !edit_value(e, value)) {
            break;
        }
    }
    if (ferror(stdin)) {
        (void)fputs("gillnet: standard input: reading failed\n", stderr);
        e->status = EX_NOINPUT;
    }
}

static int edit_list(struct edit *e, int argc, char **argv)
{
    e->arena = arena_new(ENTRY_ARENA);
    if (e->arena == NULL) {
        (void)fputs("gillnet: out of memory\n", stderr);
        return EX_OSERR;
    }
    e->list = argv[1];
    if (argc == 3 && strcmp(argv[2], "-") == 0) {
        edit_stdin(e);
    } else {
        for (int i = 2; i < argc && edit_value(e, slice_str(argv[i])); i++) {
        }
    }
    list_writer_close(&e->writer);
    arena_free(&e->arena);
    return e->status;
}

static int edit(struct cli *cli, bool is_revoke, int argc, char **argv)
{
    struct edit e = {.cli = cli, .is_revoke = is_revoke, .source = "cli"};
    const char *type = NULL;
    const char *expire = NULL;
    const struct cli_option table[] = {
        {"--type", &type, NULL},
        {"--source", &e.source, NULL},
        {"--expire", &expire, NULL},
    };
    int status =
        cli_options(cli_command("list"), table, is_revoke ? 2 : 3, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc < 3) {
        return list_cmd_usage("name a list and values (- for standard input)");
    }
    if (!cli_expiry(expire, &e.expiry_s)) {
        return list_cmd_usage("--expire: a time such as 12h or 7d");
    }
    status = list_cmd_check_name(argv[1]);
    if (status == 0) {
        status = list_cmd_type(type, &e.type);
    }
    return status != 0 ? status : edit_list(&e, argc, argv);
}

int list_cmd_add(struct cli *cli, int argc, char **argv)
{
    return edit(cli, false, argc, argv);
}

int list_cmd_revoke(struct cli *cli, int argc, char **argv)
{
    return edit(cli, true, argc, argv);
}
