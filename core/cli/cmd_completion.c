/* cmd_completion - `gillnet completion bash|zsh`: a script that asks `gillnet completion words`. */
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/base/dir_walk.h"
#include "core/cli/synopsis.h"
#include "core/list/configured.h"

enum { SCHEMA_TEXT_MAX = 1 << 20 };

/* The shell asks with the words up to the cursor; a line ":files" stands for names of files. */
static const char bash_script[] =
    "# bash completion for gillnet; made by `gillnet completion bash`\n"
    "_gillnet() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} line\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done "
    "< <(compgen -f -- \"$cur\")\n"
    "        else\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion words -- "
    "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _gillnet gillnet\n";

static const char zsh_script[] =
    "#compdef gillnet\n"
    "# zsh completion for gillnet; made by `gillnet completion zsh`\n"
    "_gillnet() {\n"
    "    local -a found\n"
    "    found=(\"${(@f)$(\"${words[1]}\" completion words -- "
    "\"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    (( ${found[(Ie):files]} )) && _files\n"
    "    found=(\"${(@)found:#:files}\")\n"
    "    found=(\"${(@)found:#}\")\n"
    "    (( $#found )) && compadd -- \"${(@)found}\"\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _gillnet ]; then _gillnet \"$@\"; else compdef _gillnet "
    "gillnet; "
    "fi\n";

struct request {
    struct cli *cli;
    const struct cli_command *command;
    struct slice typed;                     /* the word that is being completed */
    struct slice words[SYNOPSIS_ITEMS_MAX]; /* positions before it */
    size_t nwords;
    struct slice option; /* right before it; empty: none */
};

static void offer(const struct request *r, struct slice word)
{
    if (word.n > 0 && slice_has_prefix(word, r->typed)) {
        (void)printf("%.*s\n", SLICE_ARGS(word));
    }
}

static bool has_config(const struct request *r)
{
    struct config_errors errors = {0, NULL};

    if (r->cli->config == NULL &&
        config_load(r->cli->config_file, NULL, &r->cli->config, &errors) != ERR_OK) {
        config_errors_free(&errors);
    }
    return r->cli->config != NULL;
}

static void offer_lists(const struct request *r)
{
    char path[FILE_PATH_MAX];

    if (!has_config(r) ||
        path_make(path, NULL, "%s/lists", r->cli->config->state_dir) != ERR_OK) {
        return;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        if (list_name_is_valid(slice_str(w.name))) {
            offer(r, slice_str(w.name));
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

static void offer_feeds(const struct request *r)
{
    for (size_t i = 0; has_config(r) && i < r->cli->config->nfeeds; i++) {
        offer(r, slice_str(r->cli->config->feeds[i].name));
    }
}

static void offer_keys(const struct request *r)
{
    struct buf schema;

    buf_init(&schema, SCHEMA_TEXT_MAX);
    config_schema(&schema);
    for (struct slice rest = buf_slice(&schema); rest.n > 0;) {
        struct slice line = slice_cut(&rest, '\n');

        offer(r, slice_cut(&line, '\t'));
    }
    buf_fini(&schema);
}

static void offer_commands(const struct request *r)
{
    for (const struct cli_command *c = cli_command_next(NULL); c != NULL;
         c = cli_command_next(c)) {
        offer(r, slice_str(c->name));
    }
}

/* Offers the words for one alternative of a position or of an option's value. */
static void offer_meaning(const struct request *r, struct slice what)
{
    if (slice_has_prefix(what, SLICE_LIT("FILE")) || slice_eq(what, SLICE_LIT("DIR")) ||
        slice_eq(what, SLICE_LIT("/PATH"))) {
        (void)puts(":files");
    } else if (slice_eq(what, SLICE_LIT("LIST"))) {
        offer_lists(r);
    } else if (slice_eq(what, SLICE_LIT("COMMAND"))) {
        offer_commands(r);
    } else if (slice_eq(what, SLICE_LIT("KEY")) &&
               (strcmp(r->command->name, "config") == 0 ||
                strcmp(r->command->name, "help") == 0)) {
        offer_keys(r);
    } else if (slice_eq(what, SLICE_LIT("NAME")) &&
               strcmp(r->command->name, "feed") == 0) {
        offer_feeds(r);
    } else if (synopsis_is_literal(what) && what.n > 1) {
        offer(r, what);
    }
}

static void offer_alternatives(const struct request *r, struct slice text)
{
    struct slice one;

    while (synopsis_alternative(&text, &one)) {
        offer_meaning(r, one);
    }
}

static void offer_options(const struct request *r, const struct synopsis_line *line)
{
    for (size_t i = 0; i < line->n; i++) {
        struct slice rest = line->items[i].text;
        struct slice one;

        while (line->items[i].is_option && synopsis_alternative(&rest, &one)) {
            if (one.n > 1 && *one.p == '-') {
                offer(r, one);
            }
        }
    }
}

static void offer_words(const struct request *r)
{
    struct slice rest = slice_str(r->command->synopsis);
    struct synopsis_line line;

    while (synopsis_next(&rest, &line)) {
        const struct synopsis_item *next = NULL;
        const struct synopsis_item *option =
            r->option.n > 0 ? synopsis_option(&line, r->option) : NULL;

        if (!synopsis_matches(&line, r->words, r->nwords, &next)) {
            continue;
        }
        if (option != NULL && option->value.n > 0) {
            offer_alternatives(r, option->value);
        } else if (r->typed.n > 0 && *r->typed.p == '-') {
            offer_options(r, &line);
        } else if (next != NULL) {
            offer_alternatives(r, next->text);
        }
    }
}

/* Whether an option of that name takes a value, in any line of the command. */
static bool takes_value(const struct cli_command *command, struct slice name)
{
    struct slice rest = slice_str(command->synopsis);
    struct synopsis_line line;

    while (synopsis_next(&rest, &line)) {
        const struct synopsis_item *option = synopsis_option(&line, name);

        if (option != NULL && option->value.n > 0) {
            return true;
        }
    }
    return false;
}

/* Sorts the words before the cursor into command, positions and option. */
static void sort_typed_words(struct request *r, int n, char **words)
{
    for (int i = 0; i < n - 1; i++) {
        struct slice word = slice_str(words[i]);

        r->option = SLICE_NONE;
        if (slice_eq(word, SLICE_LIT("-c"))) {
            r->option = word;
            if (i + 1 < n - 1) {
                r->cli->config_file = words[++i];
                r->option = SLICE_NONE;
            }
        } else if (word.n > 0 && *word.p == '-') {
            if (r->command != NULL && takes_value(r->command, word)) {
                r->option = word;
                i++; /* its value */
                r->option = i < n - 1 ? SLICE_NONE : word;
            }
        } else if (r->command == NULL) {
            r->command = cli_command(words[i]);
            if (r->command == NULL) {
                return;
            }
        } else if (r->nwords < SYNOPSIS_ITEMS_MAX) {
            r->words[r->nwords++] = word;
        }
    }
}

static void offer_common(const struct request *r)
{
    static const char *const options[] = {"-c", "--json", "--help", "--version"};

    for (size_t i = 0; i < LENGTH(options); i++) {
        offer(r, slice_str(options[i]));
    }
}

static void complete(struct cli *cli, int n, char **words)
{
    struct request r = {.cli = cli, .typed = slice_str(n > 0 ? words[n - 1] : "")};

    sort_typed_words(&r, n, words);
    if (slice_eq(r.option, SLICE_LIT("-c"))) {
        (void)puts(":files");
        return;
    }
    if (r.typed.n > 0 && *r.typed.p == '-' && r.option.n == 0) {
        offer_common(&r);
    }
    if (r.command != NULL) {
        offer_words(&r);
    } else if (r.typed.n == 0 || *r.typed.p != '-') {
        offer_commands(&r);
    }
}

int cmd_completion(struct cli *cli, int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "bash") == 0) {
        (void)fputs(bash_script, stdout);
    } else if (argc == 2 && strcmp(argv[1], "zsh") == 0) {
        (void)fputs(zsh_script, stdout);
    } else if (argc >= 3 && strcmp(argv[1], "words") == 0 &&
               strcmp(argv[2], "--") == 0) {
        complete(cli, argc - 3, argv + 3);
    } else {
        return cli_usage("completion", "name the shell: bash or zsh");
    }
    return CLI_CLEAN;
}
