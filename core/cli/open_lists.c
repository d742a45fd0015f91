/* open_lists - the lists on disk, opened for a subcommand that only reads. */
#include "core/cli/open_lists.h"

#include <sysexits.h>

#include "core/base/hash256.h"
#include "core/list/query.h"

enum { NAMES_ARENA = 16 << 20 };

int state_read_keys(struct cli *cli, bool *rethaskeys)
{
    struct errinfo info = {.code = ERR_OK};
    char lists[FILE_PATH_MAX];
    int status = cli_config(cli);

    *rethaskeys = false;
    if (status != 0) {
        return status;
    }
    enum err e = keyring_load(cli->config->state_dir, &cli->keys, &info);
    if (e == ERR_NOT_FOUND &&
        path_make(lists, NULL, "%s/lists", cli->config->state_dir) == ERR_OK &&
        access(lists, F_OK) != 0) {
        return 0;
    }
    *rethaskeys = e == ERR_OK;
    return cli_status(e, &info);
}

static int all_names(struct cli *cli, struct state_lists *s, struct slice **ret,
                     size_t *retn)
{
    struct errinfo info = {.code = ERR_OK};
    enum err e = list_names(cli->config->state_dir, s->arena, ret, retn, &info);
    if (e == ERR_NOT_FOUND) {
        *retn = 0;
        e = ERR_OK;
    }
    return cli_status(e, &info);
}

static int given_names(struct state_lists *s, char **names, struct slice **ret,
                       size_t *retn)
{
    size_t n = 0;
    while (names[n] != NULL) {
        n++;
    }
    *ret = arena_array(s->arena, n, sizeof(**ret));
    for (size_t i = 0; *ret != NULL && i < n; i++) {
        (*ret)[i] = slice_str(names[i]);
    }
    *retn = *ret == NULL ? 0 : n;
    return *ret == NULL ? EX_OSERR : 0;
}

/* Reports a list that does not open; a name without a folder is a typing error. */
static int open_failed(struct cli *cli, struct slice name, enum err e,
                       struct errinfo *info)
{
    char folder[FILE_PATH_MAX];
    if (e == ERR_NOT_FOUND &&
        path_make(folder, NULL, "%s/lists/%.*s", cli->config->state_dir,
                  SLICE_ARGS(name)) == ERR_OK &&
        access(folder, F_OK) != 0) {
        errinfo_set(info, ERR_NOT_FOUND, folder, 0,
                    "there is no list of this name; `gillnet list stat` names those "
                    "there are");
    }
    return cli_fail(info);
}

int state_open_lists(struct cli *cli, char **names, struct state_lists *ret)
{
    struct state_lists s = {.arena = arena_new(NAMES_ARENA)};
    struct slice *name = NULL;
    size_t n = 0;
    bool has_keys = false;
    int status = state_read_keys(cli, &has_keys);

    *ret = s;
    if (status != 0 || s.arena == NULL) {
        return status != 0 ? status : EX_OSERR;
    }
    if (names[0] != NULL) {
        status = given_names(&s, names, &name, &n);
    } else if (has_keys) {
        status = all_names(cli, &s, &name, &n);
    }
    s.nlists = n;
    s.config = cli->config;
    s.hits = state_hits(cli->config);
    s.v = calloc(n + 1, sizeof(struct list_reader *));
    s.origin = calloc(n + 1, sizeof(*s.origin));
    if (status == 0 && (s.v == NULL || s.origin == NULL)) {
        status = cli_nomem();
    }
    for (size_t i = 0; status == 0 && s.v != NULL && i < n; i++) {
        struct errinfo info = {.code = ERR_OK};
        enum err e = list_reader_open(cli->config->state_dir, name[i], &cli->keys,
                                      &s.v[s.n], &info);
        if (e == ERR_OK) {
            const char *fault = list_reader_fault(s.v[s.n]);
            if (fault != NULL) {
                cli_say("list %s: %s", list_reader_name(s.v[s.n]), fault);
            }
            s.derived |= ask_derived(s.v[s.n], config_list_find(cli->config, name[i]));
            s.nown = ++s.n;
        } else {
            s.status = open_failed(cli, name[i], e, &info);
        }
    }
    *ret = s;
    return status;
}

/* Makes room for more lists. */
static bool lists_grow(struct state_lists *s, size_t more)
{
    struct list_reader **v =
        realloc(s->v, (s->n + more + 1) * sizeof(struct list_reader *));
    if (v == NULL) {
        return false;
    }
    s->v = v;
    char(*origin)[ORIGIN_NAME_MAX + 1] =
        realloc(s->origin, (s->n + more + 1) * sizeof(*origin));
    if (origin == NULL) {
        return false;
    }
    s->origin = origin;
    bool *is_same_owner = realloc(s->is_same_owner, s->n + more + 1);
    if (is_same_owner == NULL) {
        return false;
    }
    s->is_same_owner = is_same_owner;
    return true;
}

static int open_origin(struct cli *cli, const struct origin_row *row,
                       struct state_lists *s)
{
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];
    struct slice *name = NULL;
    size_t n = 0;
    struct errinfo info = {.code = ERR_OK};

    hex_print(row->origin, ORIGIN_BYTES, hex);
    if (path_make(folder, NULL, "%s/peers/lists/%s", cli->config->state_dir, hex) !=
            ERR_OK ||
        list_names(folder, s->arena, &name, &n, &info) != ERR_OK) {
        return 0; /* no list of it came yet */
    }
    if (!lists_grow(s, n)) {
        return cli_nomem();
    }
    for (size_t i = 0; i < n; i++) {
        if (config_list_find(cli->config, name[i])->is_allow) {
            continue; /* allow lists of peers are ignored */
        }
        enum err e = list_reader_open(folder, name[i], &cli->keys, &s->v[s->n], &info);
        if (e == ERR_OK) {
            memcpy(s->origin[s->n], row->name, sizeof(row->name));
            s->is_same_owner[s->n] = row->is_same_owner;
            s->nlists++;
            s->n++;
        } else if (e != ERR_NOT_FOUND) {
            s->status = cli_fail(&info);
        }
    }
    return 0;
}

int state_open_peers(struct cli *cli, struct state_lists *io)
{
    struct errinfo info = {.code = ERR_OK};
    struct origins origins;
    enum err e = origins_read(cli->config->state_dir, &origins, &info);
    int status = 0;

    if (e == ERR_NOT_FOUND) {
        return 0;
    }
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    for (unsigned i = 0; status == 0 && i < origins.n; i++) {
        const struct origin_row *row = &origins.v[i];
        if (row->state == ORIGIN_ACTIVE &&
            memcmp(row->origin, origins.self, ORIGIN_BYTES) != 0) {
            status = open_origin(cli, row, io);
        }
    }
    origins_fini(&origins);
    return status;
}

void state_close_lists(struct state_lists *s)
{
    for (size_t i = 0; i < s->n; i++) {
        list_reader_close(&s->v[i]);
    }
    free(s->v);
    free(s->origin);
    free(s->is_same_owner);
    lookup_stats_view_free(&s->hits);
    arena_free(&s->arena);
    *s = (struct state_lists){.v = NULL};
}

struct hits_view *state_hits(const struct config *config)
{
    char path[FILE_PATH_MAX];
    struct hits_view *v = NULL;
    if (path_make(path, NULL, "%s/%s", config->state_dir, STATE_LOOKUP_STATS_FILE) !=
            ERR_OK ||
        lookup_stats_read(path, &v, NULL) != ERR_OK) {
        return NULL; /* it is missing, or this user may not read it */
    }
    return v;
}

void state_print_standings(FILE *to)
{
    (void)fputs("\nWhat a value is called, by the lists' answers:\n", to);
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        enum rating s = (enum rating)i;
        (void)fprintf(to, "  %-22s %s\n", rating_name(s), rating_when(s));
    }
    (void)fputs("It requires blocking when a message with this value alone would be "
                "marked: the weights of\nthe lists that confirm it reach the lowest "
                "of the thresholds, and no allow list, `allow` or\n`protected` holds "
                "it.\n",
                to);
}
