/*
 * synopsis - the lines of a command's synopsis as options and positions, for help on mistyped
 * words and for completion.
 *
 * "list import LIST FILE|- [--format F]" has the position LIST, the position FILE|- and the option
 * --format with the value F.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CLI_SYNOPSIS_H
#define CORE_CLI_SYNOPSIS_H

#include "core/cli/cli.h"

enum { SYNOPSIS_ITEMS_MAX = 32 };

struct synopsis_item {
    struct slice text;  /* alternatives between '|' */
    struct slice value; /* of an option; empty: it takes none */
    bool is_option;     /* one of the alternatives begins with "--" or "-x" */
};

struct synopsis_line {
    struct synopsis_item items[SYNOPSIS_ITEMS_MAX];
    size_t n;
    bool repeats; /* the last position may stand several times */
};

/* Cuts the first line off *rest, without the command's own name. False: *rest is empty. */
bool synopsis_next(struct slice *rest, struct synopsis_line *ret);

/* Cuts the first alternative off *rest. False: *rest is empty. */
bool synopsis_alternative(struct slice *rest, struct slice *ret);

/* True for a word that is typed as it stands: "import", "--force", not FILE. */
bool synopsis_is_literal(struct slice alternative);

/* Whether the typed word may stand for the item: a literal of it, or anything for a name in
 * capitals. */
bool synopsis_takes(const struct synopsis_item *item, struct slice word);

/* The option of that name, or NULL. */
const struct synopsis_item *synopsis_option(const struct synopsis_line *line,
                                            struct slice name);

/* The positions that the words match one by one; false: another line is meant. *retnext is the
 * item that comes next, or NULL when all are there. */
bool synopsis_matches(const struct synopsis_line *line, const struct slice *words,
                      size_t n, const struct synopsis_item **retnext);

/* ---- mistyped words (mistyped.c) ---- */

/* Compares argv with the command's synopsis. EX_USAGE after a message that names the nearest word;
 * 0: all words are known, or near to none, and the command itself reports them. */
int mistyped_check(const struct cli_command *command, int argc, char **argv);

#endif
