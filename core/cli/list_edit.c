/* list_edit - `gillnet list add` and `revoke`: changes by a person. Values that arrive together are
 * synced together; each is acknowledged when it is durable. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/base/uninitialized.h"
#include "core/cli/change_note.h"
#include "core/cli/input.h"
#include "core/cli/list_commands.h"
#include "core/cli/print.h"
#include "core/list/entry_source.h"
#include "core/list/place.h"
#include "core/list/writer_change.h"

enum {
    ENTRY_ARENA = 256 * 1024,
    NOTE_ARENA = 4 << 20,
    NAME_ROOM = 64, /* of a type */
    STAGED_MAX = 512
};

/* Staged values for the log of changes. */
struct edit_note {
    struct slice v[CHANGES_VALUES_MAX];
    size_t n;
    uint64_t count;
};

struct edit {
    struct cli *cli;
    const char *list;
    bool is_revoke;
    bool may_create;
    uint16_t type;
    uint32_t expiry_s;
    char source[LIST_SOURCE_MAX];
    const char *reason;
    struct list_writer *writer;
    struct arena *arena;
    struct edit_note note[2]; /* of values that were listed before, and that were not */
    struct arena *values;     /* of both */
    char *acks;               /* of staged values */
    size_t acks_size;
    FILE *to_acks;
    int status;
};

/* Bytes that a terminal might obey. */
static bool has_control_bytes(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) {
            return true;
        }
    }
    return false;
}

/* Notes the line that is printed once the value is durable. */
static bool note_ack(const struct edit *e, struct slice value,
                     const struct feature_entry *entry, bool was_listed)
{
    if (e->cli->json) {
        return json_line_to(
            e->to_acks,
            json_pack("{s:o, s:s, s:s, s:o, s:b}", "value", json_text(value), "status",
                      e->is_revoke ? "revoked" : "added", "type",
                      feature_type_name(entry->class_type), "entry",
                      json_text(entry->text), "was_listed", (int)was_listed));
    }
    (void)fputs("ok ", e->to_acks);
    if (has_control_bytes(value)) {
        text_print(e->to_acks, value, LIST_TEXT_MAX);
    } else {
        (void)fwrite(value.p, 1, value.n, e->to_acks);
    }
    (void)putc('\n', e->to_acks);
    return ferror(e->to_acks) == 0;
}

/* A staged value, for the log of changes. */
static void keep_for_note(struct edit *e, const struct feature_entry *entry,
                          bool was_listed)
{
    struct edit_note *note = &e->note[was_listed ? 1 : 0];
    struct buf text;

    buf_init(&text, LIST_TEXT_MAX + NAME_ROOM);
    buf_printf(&text, "%s:%.*s", feature_type_name(entry->class_type),
               SLICE_ARGS(entry->text));
    if (note->n < CHANGES_VALUES_MAX) {
        note->v[note->n] = arena_copy(e->values, buf_slice(&text));
        note->n += note->v[note->n].p != NULL;
    }
    note->count++;
    buf_fini(&text);
}

/* What the list had, or had not, before cannot be put back. */
static void note_staged(struct edit *e)
{
    for (unsigned was_listed = 0; was_listed < 2; was_listed++) {
        struct edit_note *note = &e->note[was_listed];
        const bool is_done = e->is_revoke == (was_listed == 1);

        if (note->count > 0) {
            cli_note(e->cli,
                     &(struct change){
                         .kind = e->is_revoke ? CHANGE_list_revoke : CHANGE_list_add,
                         .object = slice_str(e->list),
                         .result = is_done      ? SLICE_NONE
                                   : was_listed ? SLICE_LIT("listed before")
                                                : SLICE_LIT(CHANGE_NOT_LISTED),
                         .reason = slice_str(e->reason),
                         .values = note->v,
                         .nvalues = note->n,
                         .count = note->count});
        }
        *note = (struct edit_note){.n = 0};
    }
    arena_reset(e->values);
}

/* Makes the staged values durable and prints the acknowledgements. */
static bool flush_staged(struct edit *e)
{
    struct errinfo info = {.code = ERR_OK};

    if (!e->writer) {
        return true;
    }
    if (list_flush(e->writer, &info) != ERR_OK) {
        rewind(e->to_acks); /* none of them is durable */
        e->status = cli_fail(&info);
        return false;
    }
    note_staged(e);
    if (fflush(e->to_acks) != 0 ||
        fwrite(e->acks, 1, e->acks_size, stdout) != e->acks_size ||
        fflush(stdout) != 0) {
        e->status = EX_IOERR;
        return false;
    }
    rewind(e->to_acks);
    return true;
}

/* Opens the list for the first valid value. An unknown name may be a typing error: a new list needs
 * `--create`, or the configuration must name it. Then a revocation makes it, too: another server of
 * the owner may have the entry. */
static int open_list(struct edit *e)
{
    const struct config *config = e->cli->config;
    struct slice name = slice_str(e->list);
    const bool is_named = config_list_is_named(config, name);
    bool is_new = !e->is_revoke && !is_named && !list_is_there(config->state_dir, name);

    if (is_new && e->may_create) {
        cli_say(
            "list %s is new: a hit weighs %g, as list_defaults says; a group in lists "
            "gives it another weight, or category = \"allow\"",
            e->list, config_list_find(config, name)->weight);
    } else if (is_new) {
        return cli_error(EX_NOINPUT,
                         "list %s: there is no list of this name; `gillnet list` "
                         "shows those there are, --create makes it",
                         e->list);
    }
    return list_cmd_open_writer(e->cli, e->list, !e->is_revoke || is_named, &e->writer);
}

/* Reports a revoked value that was not listed. It is revoked, because a later import or a peer may
 * list it. */
static void note_unlisted(struct edit *e, struct slice value)
{
    (void)fputs("gillnet: ", stderr);
    text_print(stderr, value, EVIDENCE_SHOWN);
    (void)fprintf(
        stderr,
        ": list %s did not have it; it is revoked, so that no import lists it\n",
        e->list);
    e->status = e->status == 0 ? CLI_HIT : e->status;
}

/* False stops: the list cannot be written. */
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
    int status = e->writer ? 0 : open_list(e);
    if (status != 0) {
        e->status = status;
        return false;
    }
    struct list_change change = {
        .entry = entry, .is_revoke = e->is_revoke, .expiry_s = e->expiry_s};
    bool was_listed = list_holds(e->writer, &entry);
    if (list_stage(e->writer, &change, slice_str(e->source), &info) != ERR_OK) {
        rewind(e->to_acks); /* the values noted may have been dropped with it */
        e->status = cli_fail(&info);
        return false;
    }
    keep_for_note(e, &entry, was_listed);
    if (!note_ack(e, value, &entry, was_listed)) {
        e->status = EX_IOERR;
        return false;
    }
    if (e->is_revoke && !was_listed) {
        note_unlisted(e, value);
    }
    return true;
}

static void edit_stdin(struct edit *e)
{
    struct input in UNINITIALIZED;
    struct slice line;
    bool is_too_long = false;
    unsigned long number = 0;
    unsigned staged = 0;

    input_init(&in, STDIN_FILENO);
    while (input_line(&in, &line, &is_too_long)) {
        number++;
        if (is_too_long) {
            cli_say("standard input:%lu: the line is longer than %d bytes", number,
                    INPUT_LINE_MAX);
            e->status = EX_DATAERR;
            continue;
        }
        struct slice value = slice_trim(line);
        if (value.n > 0 && value.p[0] != '#' && !edit_value(e, value)) {
            return;
        }
        staged++;
        if (staged == STAGED_MAX || input_waits(&in)) {
            staged = 0;
            if (!flush_staged(e)) {
                return;
            }
        }
    }
    if (in.has_failed) {
        cli_say("standard input: reading failed");
        e->status = EX_NOINPUT;
    }
}

static int edit_list(struct edit *e, int argc, char **argv)
{
    e->arena = arena_new(ENTRY_ARENA);
    e->values = arena_new(NOTE_ARENA);
    e->to_acks = open_memstream(&e->acks, &e->acks_size);
    if (e->arena == NULL || e->values == NULL || e->to_acks == NULL) {
        return cli_nomem();
    }
    e->list = argv[1];
    if (argc == 3 && strcmp(argv[2], "-") == 0) {
        edit_stdin(e);
    } else {
        for (int i = 2; i < argc && edit_value(e, slice_str(argv[i])); i++) {
        }
    }
    /* also the values staged before a failure, unless the list failed */
    (void)flush_staged(e);
    if (e->writer && list_writer_trouble(e->writer)) {
        (void)cli_fail(list_writer_trouble(e->writer));
        cli_say("acknowledged changes are safe; they could not be merged, and the next "
                "change tries it again");
    }
    list_writer_close(&e->writer);
    (void)fclose(e->to_acks);
    free(e->acks);
    arena_free(&e->arena);
    arena_free(&e->values);
    return e->status;
}

static int edit(struct cli *cli, bool is_revoke, int argc, char **argv)
{
    struct edit e = {.cli = cli, .is_revoke = is_revoke, .reason = ""};
    struct errinfo why = {.code = ERR_OK};
    const char *source = "cli";
    const char *type = NULL;
    const char *expire = NULL;
    const struct cli_option table[] = {
        {"--type", &type, NULL, NULL},           {"--source", &source, NULL, NULL},
        {"--reason", &e.reason, NULL, NULL},     {"--expire", &expire, NULL, NULL},
        {"--create", NULL, &e.may_create, NULL},
    };
    int status = cli_arguments(
        (struct cli_form){"list", table, is_revoke ? 3 : LENGTH(table), 2, CLI_MANY,
                          "name a list and values (- for standard input)"},
        &argc, argv);

    if (status != 0) {
        return status;
    }
    if (!cli_expiry(expire, &e.expiry_s)) {
        return cli_usage("list", "--expire: a time such as 12h or 7d");
    }
    if (entry_reason_check(slice_str(e.reason), &why) != ERR_OK) {
        return cli_usage("list", "--reason: one line, at most 80 bytes");
    }
    entry_source_make(source, slice_str(e.reason), e.source);
    status = list_cmd_check_name(argv[1]);
    THEN(status, list_cmd_type(type, &e.type));
    THEN(status, cli_config(cli));
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
