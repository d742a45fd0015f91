/*
 * count_filter - `gillnet count export --filter` and `count merge`: counts as a counting filter in
 * a file, and several such files added up. They work only where there is no ring: its streams are
 * exact, and would count the same again. ADR 0036.
 */
#include <math.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/cli.h"
#include "core/cli/count_commands.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/count/runset.h"
#include "core/lab/countingfile.h"
#include "core/lab/lab.h"

enum { CELLS_USUAL = 1 << 24, K_USUAL = 6, BITS_USUAL = 8 };

/* As given; NULL: the default. */
struct options {
    const char *file;
    const char *cells;
    const char *k;
    const char *cell_bits;
};

struct fill {
    const struct cli *cli;
    struct countingfile *f;
    uint8_t origin[KEYRING_DERIVED_BYTES];
    const struct run *day; /* in the filter already */
    uint64_t foreign;      /* runs of another digest key, or of another server */
    uint64_t first_s;      /* of what was added */
    uint64_t end_s;
    struct errinfo damage;
};

static void on_damage(void *context, const struct errinfo *why)
{
    struct fill *x = context;

    x->damage = *why;
    (void)cli_fail(why);
}

static bool add_run(void *context, const struct run *run)
{
    struct fill *x = context;
    const struct run_id *id = run_id(run);
    struct run_cursor cursor;
    struct run_record record;
    enum err e = ERR_OK;

    if (id->key_id != x->cli->keys.ring[0].id ||
        memcmp(id->origin, x->origin, sizeof(id->origin)) != 0) {
        x->foreign++;
        return true;
    }
    if (id->len_s == COUNT_DAY_S) {
        x->day = run;
    } else if (x->day != NULL && run_has_source(x->day, id->start_s, id->inc)) {
        return true;
    }
    run_cursor_init(&cursor, run, 0, UINT64_MAX);
    while ((e = run_cursor_next(&cursor, &record)) != ERR_NOT_FOUND) {
        if (e != ERR_OK) {
            errinfo_set(&x->damage, e, "", 0,
                        "a damaged block was left out; `gillnet count verify` names "
                        "its run");
            continue;
        }
        countingfile_add(x->f, record.key, record.count);
    }
    return true;
}

/* Says what there is; returns an exit status. */
static int say(const struct cli *cli, const char *path, const struct countingfile *f)
{
    struct countingfile_use use = countingfile_count_cells(f);
    const struct counting_shape *s = &f->c.shape;
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];
    char c[HUMANIZE_MAX];
    char d[HUMANIZE_MAX];

    if (cli->json) {
        return json_line(json_pack(
                   "{s:o, s:s, s:I, s:i, s:i, s:I, s:I, s:I, s:I, s:i}", "file",
                   json_text(slice_str(path)), "variant",
                   s->variant == COUNTING_REFINED ? "refined" : "intuitive", "cells",
                   (json_int_t)s->chunk_cells, "cell_bits", (int)s->cell_bits, "k",
                   (int)s->k, "keys", (json_int_t)f->facts.keys, "total",
                   (json_int_t)f->facts.total, "cells_used", (json_int_t)use.used,
                   "cells_saturated", (json_int_t)use.saturated, "sources",
                   (int)f->facts.nsources))
                   ? CLI_CLEAN
                   : EX_OSERR;
    }
    printf(
        "%s: counts of %u server%s: %s keys, %s in all; %s of %s cells in use, %" PRIu64
        " at their most (%" PRIu64 ")\n",
        path, f->facts.nsources, f->facts.nsources == 1 ? "" : "s or times",
        humanize_count(f->facts.keys, a), humanize_count(f->facts.total, b),
        humanize_count(use.used, c), humanize_count(s->chunk_cells, d), use.saturated,
        f->c.cap);
    return CLI_CLEAN;
}

/* Streams of peers brought these counts already; adding them again would count twice (F9). */
static int refuse_in_ring(const struct cli *cli, const char *what)
{
    struct errinfo why = {.code = ERR_OK};
    char path[FILE_PATH_MAX];

    if (file_path(path, "%s/peers/manifest", cli->config->state_dir) != ERR_OK ||
        (access(path, F_OK) != 0 && errno == ENOENT)) {
        return 0;
    }
    errinfo_set(&why, ERR_EXISTS, path, 0,
                "this server is in a ring, whose streams carry counts exactly and by "
                "server; %s would add what peers have already, and count it twice. Use "
                "`gillnet lookup` for the counts of all servers",
                what);
    (void)cli_fail(&why);
    return EX_UNAVAILABLE;
}

static int read_size(const char *option, const char *text, uint64_t usual,
                     uint64_t most, uint64_t *ret)
{
    struct errinfo why = {.code = ERR_OK};
    double v = 0;

    *ret = usual;
    if (text == NULL) {
        return 0;
    }
    if (!humanize_read(text, &v) || !(v >= 1 && v <= (double)most) || floor(v) != v) {
        errinfo_set(&why, ERR_RANGE, option, 0,
                    "%.60s: give a whole number from 1 to %" PRIu64, text, most);
        return cli_fail(&why);
    }
    *ret = (uint64_t)v;
    return 0;
}

static int fill(struct cli *cli, const char *dir, struct fill *x)
{
    struct errinfo why = {.code = ERR_OK};
    struct runset *set = NULL;

    keyring_derive(&cli->keys.node, COUNT_ORIGIN_PURPOSE, 0, x->origin);
    if (runset_open(dir, on_damage, x, &set, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (x->end_s - x->first_s == COUNT_DAY_S && x->first_s % COUNT_DAY_S == 0) {
        runset_each(set, COUNT_DAY_S, x->first_s, x->end_s, add_run, x);
    }
    runset_each(set, COUNT_BUCKET_S, x->first_s, x->end_s, add_run, x);
    runset_close(&set);
    if (x->foreign > 0) {
        (void)fprintf(stderr,
                      "gillnet: %" PRIu64 " runs of another digest key or server were "
                      "left out\n",
                      x->foreign);
    }
    return 0;
}

/* Writes the counts of [first_s, end_s), in whole buckets, from the runs in dir. */
static int export_runs(struct cli *cli, const char *dir, uint64_t first_s,
                       uint64_t end_s, const struct options *o)
{
    struct errinfo why = {.code = ERR_OK};
    struct countingfile f = {.bytes = 0};
    struct fill x = {.cli = cli, .f = &f, .first_s = first_s, .end_s = end_s};
    uint64_t cells = 0;
    uint64_t k = 0;
    uint64_t bits = 0;
    int status = refuse_in_ring(cli, "such a file");

    status = status != 0 ? status
                         : read_size("--cells", o->cells, CELLS_USUAL,
                                     COUNTINGFILE_CELLS_MAX, &cells);
    status = status != 0 ? status : read_size("--k", o->k, K_USUAL, COUNTING_K_MAX, &k);
    status = status != 0
                 ? status
                 : read_size("--cell-bits", o->cell_bits, BITS_USUAL, 16, &bits);
    if (status != 0) {
        return status;
    }
    if (countingfile_new(&f, (unsigned)bits, cells, (unsigned)k, &cli->keys.ring[0],
                         &why) != ERR_OK) {
        return cli_fail(&why);
    }
    status = fill(cli, dir, &x);
    if (status == 0) {
        f.facts.nsources = 1;
        f.facts.sources[0].first_s = first_s;
        f.facts.sources[0].end_s = end_s;
        memcpy(f.facts.sources[0].origin, x.origin, COUNTINGFILE_ORIGIN_BYTES);
        status = countingfile_write(&f, o->file, &why) == ERR_OK ? say(cli, o->file, &f)
                                                                 : cli_fail(&why);
    }
    countingfile_close(&f);
    return status == 0 && x.damage.code != ERR_OK ? EX_DATAERR : status;
}

/* Exports the day that was given, or the last 24 hours of whole buckets. */
static int export(struct cli *cli, int argc, char **argv)
{
    struct options o = {.file = NULL};
    const char *day = NULL;
    const char *prefix = NULL;
    const struct cli_option table[] = {
        {"--day", &day, NULL, NULL},       {"--prefix", &prefix, NULL, NULL},
        {"--filter", &o.file, NULL, NULL}, {"--cells", &o.cells, NULL, NULL},
        {"--k", &o.k, NULL, NULL},         {"--cell-bits", &o.cell_bits, NULL, NULL},
    };
    char dir[FILE_PATH_MAX];
    uint64_t end_s = clock_wall_us() / 1000000 / COUNT_BUCKET_S * COUNT_BUCKET_S;
    uint64_t first_s = end_s - COUNT_DAY_S;
    int status = cli_options(cli_command("count"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 1 || prefix != NULL) {
        return cli_usage("count", "export --filter takes --day, --cells, --k and "
                                  "--cell-bits, and nothing else");
    }
    if (day != NULL) {
        if (!count_cmd_day(day, &first_s)) {
            return cli_usage("count", "--day: write a day (UTC) as 2026-11-21");
        }
        end_s = first_s + COUNT_DAY_S;
    }
    status = cli_keys(cli, false);
    status = status != 0 ? status : count_cmd_runs_dir(cli, dir);
    return status != 0 ? status : export_runs(cli, dir, first_s, end_s, &o);
}

static int merge(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct countingfile all = {.bytes = 0};
    const char *output = NULL;
    const struct cli_option options[] = {{"--output", &output, NULL, NULL}};
    int status = cli_options(cli_command("count"), options, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (output == NULL || argc < 3) {
        return cli_usage("count", "merge --output FILE: name two files or more");
    }
    status = cli_config(cli);
    status = status != 0 ? status : refuse_in_ring(cli, "adding files by hand");
    if (status != 0) {
        return status;
    }
    enum err e = countingfile_open(&all, argv[1], NULL, &why);
    for (int i = 2; e == ERR_OK && i < argc; i++) {
        e = countingfile_merge(&all, argv[i], &why);
    }
    e = e != ERR_OK ? e : countingfile_write(&all, output, &why);
    status = e == ERR_OK ? say(cli, output, &all) : cli_fail(&why);
    countingfile_close(&all);
    return status;
}

int lab_count(struct cli *cli, int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "merge") == 0) {
        return merge(cli, argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "export") == 0) {
        return export(cli, argc - 1, argv + 1);
    }
    return cli_usage("count", "the laboratory knows merge, and export with --filter");
}
