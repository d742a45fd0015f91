#include "core/base/nearest.h"
#include "core/cli/synopsis.h"

/* The nearest word to a typed one. */
struct guess {
    struct slice word;
    struct slice near;
    size_t edits; /* 0: the word may stand there */
};

static struct guess guess_of(struct slice word)
{
    return (struct guess){word, SLICE_NONE, nearest_most(word.n) + 1};
}

static void consider(struct guess *g, const struct synopsis_item *item)
{
    struct slice rest = item->text;
    struct slice one;

    while (synopsis_alternative(&rest, &one)) {
        size_t edits = slice_eq(one, g->word) ? 0 : nearest_edits(g->word, one);

        if (edits < g->edits) {
            g->edits = edits;
            g->near = one;
        }
    }
}

static int refuse_word(const struct cli_command *command, const struct guess *g)
{
    char why[160];

    (void)snprintf(why, sizeof(why), "there is no \"%.60s\"; did you mean \"%.*s\"?",
                   g->word.p, SLICE_ARGS(g->near));
    return cli_usage(command->name, why);
}

/* Considers the items behind the words in every line of the synopsis. */
static void consider_next(struct guess *g, const struct cli_command *command,
                          const struct slice *words, size_t n)
{
    struct slice rest = slice_str(command->synopsis);
    struct synopsis_line line;

    while (synopsis_next(&rest, &line)) {
        const struct synopsis_item *item = NULL;

        if (!synopsis_matches(&line, words, n, &item) || item == NULL) {
            continue;
        }
        if (synopsis_takes(item, g->word)) {
            g->edits = 0;
        }
        consider(g, item);
    }
}

static int check_words(const struct cli_command *command, int argc, char **argv)
{
    struct slice words[SYNOPSIS_ITEMS_MAX];
    size_t n = 0;

    for (int i = 1; i < argc && n < SYNOPSIS_ITEMS_MAX && argv[i][0] != '-'; i++) {
        struct guess g = guess_of(slice_str(argv[i]));

        consider_next(&g, command, words, n);
        if (g.edits > 0) {
            return g.near.n > 0 ? refuse_word(command, &g) : 0;
        }
        words[n++] = g.word;
    }
    return 0;
}

static int check_option(const struct cli_command *command, const char *arg)
{
    struct guess g = guess_of(slice_of(arg, strcspn(arg, "=")));
    struct slice rest = slice_str(command->synopsis);
    struct synopsis_line line;

    while (synopsis_next(&rest, &line)) {
        for (size_t i = 0; i < line.n; i++) {
            if (line.items[i].is_option) {
                consider(&g, &line.items[i]);
            }
        }
    }
    return g.edits > 0 && g.near.n > 0 ? refuse_word(command, &g) : 0;
}

int mistyped_check(const struct cli_command *command, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        int status =
            strncmp(argv[i], "--", 2) == 0 ? check_option(command, argv[i]) : 0;

        if (status != 0) {
            return status;
        }
    }
    return check_words(command, argc, argv);
}
