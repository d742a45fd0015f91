/* cmd_extract - `gillnet extract`: the features of messages, or the table of their types. */
#include <sysexits.h>

#include "core/cli/messages.h"
#include "core/cli/print.h"

static int print_message(void *context, struct arena *arena, const struct message *m)
{
    const struct cli *cli = context;
    unsigned limits = featureset_limits(m->features);

    (void)arena;
    if (!cli->json) {
        text_print(stdout, m->file, FILENAME_MAX);
        (void)puts(":");
        evidence_print_features(m->features, true);
        evidence_print_limits(limits);
        return CLI_CLEAN;
    }
    bool ok = json_line(json_pack("{s:o, s:o, s:o}", "file", json_text(m->file),
                                  "features", json_features(m->features, true),
                                  "limits", json_limits(limits)));
    return ok ? CLI_CLEAN : EX_OSERR;
}

static const char *lookup_name(enum feature_lookup lookup)
{
    static const char *const names[] = {
        [FEATURE_LOOKUP_NONE] = "-",          [FEATURE_LOOKUP_VALUE] = "value",
        [FEATURE_LOOKUP_ADDRESS] = "address", [FEATURE_LOOKUP_HOST] = "host",
        [FEATURE_LOOKUP_URL] = "url",         [FEATURE_LOOKUP_IP] = "network",
        [FEATURE_LOOKUP_CLASS] = "entry",
    };
    return names[lookup];
}

/* [{value, help}] of a type whose values are words of a table, else null. */
static json_t *words_json(enum feature_type type)
{
    if (type != FEATURE_trait) {
        return json_null();
    }
    json_t *array = json_array();
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        (void)json_array_append_new(array, json_pack("{s:s, s:s}", "value",
                                                     trait_name((enum trait)i), "help",
                                                     trait_help((enum trait)i)));
    }
    return array;
}

static bool print_type_json(const struct feature_info *r)
{
    return json_line(json_pack(
        "{s:i, s:s, s:s, s:b, s:b, s:s, s:o}", "number", (int)r->type, "type", r->name,
        "lookup", lookup_name(r->lookup), "counted", (int)r->counted, "shown",
        (int)r->shown, "help", r->help, "values", words_json(r->type)));
}

static const char *yes_or_no(bool yes)
{
    return yes ? "yes" : "-";
}

static void print_type(const struct feature_info *r)
{
    printf("%4u %-18s %-8s %-7s %-5s %s\n", (unsigned)r->type, r->name,
           lookup_name(r->lookup), yes_or_no(r->counted), yes_or_no(r->shown), r->help);
    for (unsigned i = 0; r->type == FEATURE_trait && i < TRAIT_COUNT; i++) {
        printf("%23s %-22s %s\n", "", trait_name((enum trait)i),
               trait_help((enum trait)i));
    }
}

static int print_types(const struct cli *cli)
{
    size_t n = 0;
    const struct feature_info *rows = feature_table(&n);

    if (!cli->json) {
        printf("%4s %-18s %-8s %-7s %-5s %s\n", "no", "type", "look-up", "counted",
               "shown", "what it is, and its normal form");
    }
    for (size_t i = 0; i < n; i++) {
        if (!cli->json) {
            print_type(&rows[i]);
        } else if (!print_type_json(&rows[i])) {
            return EX_OSERR;
        }
    }
    return CLI_CLEAN;
}

int cmd_extract(struct cli *cli, int argc, char **argv)
{
    struct messages_envelope envelope = {.client = NULL};
    bool wants_types = false;
    const struct cli_option table[] = {
        {"--types", NULL, &wants_types, NULL},
        {"--client", &envelope.client, NULL, NULL},
        {"--helo", &envelope.helo, NULL, NULL},
        {"--from", &envelope.from, NULL, NULL},
        {"--rcpt", NULL, NULL, &envelope.rcpt},
    };
    int status = cli_options(cli_command("extract"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (wants_types) {
        return print_types(cli);
    }
    if (argc < 2) {
        return cli_usage("extract", "name a file, a folder, or - for standard input");
    }
    status = cli_config(cli);
    return status != 0 ? status
                       : messages_each(cli, &envelope, argv + 1, print_message, cli);
}
