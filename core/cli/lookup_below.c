/* lookup_below - entries below names, by one walk over each list's log. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/lookup.h"
#include "core/cli/print.h"
#include "core/list/search.h"

enum { NAMES_ARENA = 1 << 20 };

struct below {
    struct cli *cli;
    const char *list;                     /* at hand */
    struct slice value[SEARCH_NAMES_MAX]; /* as given */
    struct slice name[SEARCH_NAMES_MAX];
    uint64_t found[SEARCH_NAMES_MAX]; /* in all lists */
    size_t n;
    bool is_output_bad;
};

static void print_found_json(struct below *b, struct slice value,
                             const struct list_provenance *from)
{
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    b->is_output_bad = !json_line(json_pack(
        "{s:o, s:s, s:s, s:s, s:o, s:s, s:s, s:b}", "value", json_text(value), "status",
        "below", "list", b->list, "type", feature_type_name(from->class_type), "key",
        json_text(from->text), "first_seen", text_time(from->first_seen_s, first),
        "expiry", text_time(from->expiry_s, expiry), "explicit",
        (int)from->is_explicit));
}

static void print_found_text(struct below *b, struct slice value,
                             const struct list_provenance *from)
{
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    text_print(stdout, value, EVIDENCE_SHOWN);
    printf(": below it %s holds %s ", b->list, feature_type_name(from->class_type));
    text_print(stdout, from->text, EVIDENCE_SHOWN);
    printf(", first seen %s, expires %s\n", text_time(from->first_seen_s, first),
           text_time(from->expiry_s, expiry));
    b->is_output_bad = ferror(stdout) != 0;
}

static bool on_found(void *context, size_t i, const struct list_provenance *from)
{
    struct below *b = context;

    if (++b->found[i] <= BELOW_SHOWN) {
        if (b->cli->json) {
            print_found_json(b, b->value[i], from);
        } else {
            print_found_text(b, b->value[i], from);
        }
    }
    return !b->is_output_bad;
}

/* The domains and hosts among the values. */
static void take_names(struct below *b, struct arena *arena, char **values)
{
    for (size_t i = 0; values[i] != NULL && b->n < SEARCH_NAMES_MAX; i++) {
        struct feature_entry e;

        if (feature_entry_parse(slice_str(values[i]), FEATURE_NONE, arena, &e, NULL) ==
                ERR_OK &&
            (e.class_type == FEATURE_domain || e.class_type == FEATURE_host)) {
            b->value[b->n] = slice_str(values[i]);
            b->name[b->n++] = e.text;
        }
    }
}

static int search(struct below *b, const struct list_reader *r)
{
    const struct list_search s = {.names = b->name,
                                  .n = b->n,
                                  .now_s = clock_wall_us() / 1000000,
                                  .on_found = on_found,
                                  .context = b};
    struct list_searched done;
    struct errinfo info = {.code = ERR_OK};

    b->list = list_reader_name(r);
    if (list_search(r, &s, &done, &info) != ERR_OK) {
        return cli_fail(&info);
    }
    if (done.is_cut) {
        cli_say(
            "list %s: only the newest part of its log was searched for entries below a "
            "name",
            b->list);
    }
    if (done.without_text > 0) {
        cli_say("list %s: %" PRIu64 " entries keep no text and were not searched",
                b->list, done.without_text);
    }
    return 0;
}

static void print_rest(struct below *b)
{
    for (size_t i = 0; i < b->n && !b->is_output_bad && !b->cli->json; i++) {
        if (b->found[i] > BELOW_SHOWN) {
            text_print(stdout, b->value[i], EVIDENCE_SHOWN);
            printf(": %" PRIu64 " more entries below it\n", b->found[i] - BELOW_SHOWN);
            b->is_output_bad = ferror(stdout) != 0;
        }
    }
}

int lookup_below(struct cli *cli, const struct state_lists *lists, char **values)
{
    struct below b = {.cli = cli};
    struct arena *arena = arena_new(NAMES_ARENA);
    int status = 0;

    if (arena == NULL) {
        return cli_nomem();
    }
    take_names(&b, arena, values);
    for (size_t i = 0; b.n > 0 && i < lists->nown && !b.is_output_bad; i++) {
        int one = search(&b, lists->v[i]);

        status = one > status ? one : status;
    }
    print_rest(&b);
    arena_free(&arena);
    return b.is_output_bad ? EX_OSERR : status;
}
