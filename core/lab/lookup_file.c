/* lookup_file - values in a counting filter that `count export --filter` or `count merge` wrote. */
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/count/message.h"
#include "core/lab/countingfile.h"
#include "core/lab/lab.h"
#include "core/message/feature/feature_value.h"

enum { VALUE_ARENA = 1 << 20, KEY_BYTES = 8 };

struct asking {
    struct cli *cli;
    struct countingfile file;
    unsigned ring_key; /* index of that of the file */
    bool has_hit;
    bool is_output_bad;
};

/* One of the digest keys that are here must be the file's. */
static enum err open_file(struct asking *a, const char *path, struct errinfo *reterr)
{
    enum err e = ERR_KEY;

    for (unsigned i = 0; i < a->cli->keys.n && e == ERR_KEY; i++) {
        e = countingfile_open(&a->file, path, &a->cli->keys.ring[i], reterr);
        a->ring_key = i;
    }
    return e;
}

static struct counting_read ask(const struct asking *a, uint16_t type,
                                struct slice text)
{
    struct digest digest[KEYRING_MAX];
    uint64_t key = 0;

    count_digest(&a->cli->keys, a->cli->config, type, text, digest);
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        key = key << 8 | digest[a->ring_key].b[i];
    }
    return countingfile_get(&a->file, key == 0 ? 1 : key);
}

/* The words of people say that it is a bound: cells of other keys may have raised it, never
 * lowered. */
static void print_one(struct asking *a, struct slice value, uint16_t type,
                      struct slice text, struct counting_read r)
{
    if (a->cli->json) {
        a->is_output_bad = !json_line(json_pack(
            "{s:o, s:s, s:o, s:b, s:I, s:b}", "value", json_text(value), "counted_as",
            feature_type_name(type), "key", json_text(text), "exact", 0, "at_most",
            (json_int_t)r.count, "saturated", (int)r.is_saturated));
        return;
    }
    text_print(stdout, text, EVIDENCE_SHOWN);
    if (r.count == 0) {
        printf(": not counted as %s\n", feature_type_name(type));
    } else {
        printf(": counted as %s: %s %" PRIu64 " times\n", feature_type_name(type),
               r.is_saturated ? "at least" : "at most", r.count);
    }
    a->is_output_bad = ferror(stdout) != 0;
}

static int ask_value(struct asking *a, struct arena *arena, struct slice value)
{
    struct value_features features;
    struct errinfo why = {.code = ERR_OK};
    unsigned nshown = 0;

    arena_reset(arena);
    if (value_features_of(value, arena, &features, &why) != ERR_OK) {
        (void)fputs("gillnet: ", stderr);
        text_print(stderr, value, EVIDENCE_SHOWN);
        (void)fprintf(stderr, ": %s\n", why.text);
        return EX_DATAERR;
    }
    for (size_t i = 0; i < features.n && !a->is_output_bad; i++) {
        uint16_t type = (uint16_t)features.v[i].type;
        struct counting_read r = ask(a, type, features.v[i].text);
        a->has_hit = a->has_hit || r.count > 0;
        if (r.count > 0 || features.is_typed) {
            print_one(a, value, type, features.v[i].text, r);
            nshown++;
        }
    }
    if (nshown == 0 && !a->cli->json) {
        text_print(stdout, value, EVIDENCE_SHOWN);
        (void)puts(": not counted");
    }
    return 0;
}

/* Servers and times of the counts. */
static void print_sources(const struct asking *a)
{
    const struct countingfile_facts *f = &a->file.facts;

    for (unsigned i = 0; i < f->nsources && !a->cli->json; i++) {
        char first[TEXT_TIME_MAX];
        char end[TEXT_TIME_MAX];
        (void)fputs("  by server ", stdout);
        for (unsigned b = 0; b < COUNTINGFILE_ORIGIN_BYTES; b++) {
            printf("%02x", f->sources[i].origin[b]);
        }
        printf(" from %s to %s\n", text_time(f->sources[i].first_s, first),
               text_time(f->sources[i].end_s, end));
    }
}

static int ask_all(struct asking *a, char **values)
{
    struct arena *arena = arena_new(VALUE_ARENA);
    int status = 0;

    if (arena == NULL) {
        (void)fputs("gillnet: out of memory\n", stderr);
        return EX_OSERR;
    }
    for (size_t i = 0; values[i] != NULL && !a->is_output_bad; i++) {
        int one = ask_value(a, arena, slice_str(values[i]));
        status = one > status ? one : status;
    }
    arena_free(&arena);
    print_sources(a);
    if (status == 0) {
        status = a->has_hit ? CLI_HIT : CLI_CLEAN;
    }
    return a->is_output_bad ? EX_OSERR : status;
}

int lab_lookup(struct cli *cli, int argc, char **argv)
{
    struct asking a = {.cli = cli};
    struct errinfo why = {.code = ERR_OK};
    const char *path = NULL;
    const struct cli_option table[] = {{"--counts", &path, NULL, NULL}};
    const struct cli_command *command = cli_command("lookup");
    int status = cli_options(command, table, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc < 2 || path == NULL) {
        return cli_usage(command->name,
                         "--counts FILE takes values, and no other option");
    }
    status = cli_keys(cli, false);
    if (status != 0) {
        return status;
    }
    if (open_file(&a, path, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    status = ask_all(&a, argv + 1);
    countingfile_close(&a.file);
    return status;
}
