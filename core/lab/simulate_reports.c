/* simulate_reports - `gillnet simulate reports`: the damage that lying reporters do to others. */
#include "core/lab/simulate_reports.h"

#include <math.h>
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/lab/simulate.h"

enum { USERS_USUAL = 100, WEEKS_USUAL = 8, ROUNDS_USUAL = 20, ROUNDS_MOST = 10000 };
#define LIARS_USUAL 0.3
#define ADMIN_USUAL 0.05
#define TRAPS_USUAL 0.3
#define LISTS_USUAL 0.3

struct request {
    struct reports_site site;
    unsigned rounds;
};

static int read_request(const char *const text[], struct request *ret)
{
    struct errinfo why = {.code = ERR_OK};
    double users = USERS_USUAL;
    double weeks = WEEKS_USUAL;
    double rounds = ROUNDS_USUAL;
    double seed = 1;
    const struct {
        const char *option;
        double least;
        double most;
        bool is_whole;
        double *io;
    } rows[] = {
        {"--liars", 0, 0.9, false, &ret->site.liars},
        {"--users", 10, REPORTS_USERS_MOST, true, &users},
        {"--weeks", 0, REPORTS_WEEKS_MOST, true, &weeks},
        {"--administrator", 0, 1, false, &ret->site.admin},
        {"--traps", 0, 1, false, &ret->site.trap},
        {"--lists", 0, 1, false, &ret->site.list},
        {"--rounds", 2, ROUNDS_MOST, true, &rounds},
        {"--seed", 0, 0x1p53, true, &seed},
    };

    for (size_t i = 0; i < LENGTH(rows); i++) {
        double v = *rows[i].io;
        if (text[i] != NULL && (!humanize_read(text[i], &v) ||
                                !(v >= rows[i].least && v <= rows[i].most) ||
                                (rows[i].is_whole && floor(v) != v))) {
            errinfo_set(&why, ERR_RANGE, rows[i].option, 0,
                        "%.60s: give a %snumber from %g to %g", text[i],
                        rows[i].is_whole ? "whole " : "", rows[i].least, rows[i].most);
            return cli_fail(&why);
        }
        *rows[i].io = v;
    }
    ret->site.users = (unsigned)users;
    ret->site.weeks = (unsigned)weeks;
    ret->site.seed = (uint64_t)seed;
    ret->rounds = (unsigned)rounds;
    return 0;
}

/* ---- the figures of all rounds ---- */

/* Shares of one plot, in rounds of which each has another seed. */
struct figures {
    struct reports_result sum;
    double
        more; /* mean difference of falsely marked shares to the round without liars */
    double more_squared; /* mean of its square */
};

static double share_of(struct reports_share s)
{
    return s.copies > 0 ? (double)s.marked / (double)s.copies : 0;
}

static struct reports_share wanted_of(const struct reports_result *r)
{
    return (struct reports_share){r->newsletters.copies + r->target.copies,
                                  r->newsletters.marked + r->target.marked};
}

static void add_share(struct reports_share *io, struct reports_share more)
{
    io->copies += more.copies;
    io->marked += more.marked;
}

static void add_round(struct figures *f, const struct reports_result *r, double honest,
                      unsigned rounds)
{
    double more = share_of(wanted_of(r)) - honest;

    add_share(&f->sum.spam, r->spam);
    add_share(&f->sum.newsletters, r->newsletters);
    add_share(&f->sum.target, r->target);
    for (size_t i = 0; i < LENGTH(r->issue); i++) {
        add_share(&f->sum.issue[i], r->issue[i]);
    }
    f->sum.honest_trust += r->honest_trust / rounds;
    f->sum.liar_trust += r->liar_trust / rounds;
    f->sum.liar_end += r->liar_end / rounds;
    f->more += more / rounds;
    f->more_squared += more * more / rounds;
}

/* Standard error of the mean difference. */
static double error_of(const struct figures *f, unsigned rounds)
{
    double variance = fmax(f->more_squared - f->more * f->more, 0);
    return sqrt(variance / (rounds - 1));
}

static enum err run_rounds(const struct request *q, struct figures ret[REPORTS_PLOTS],
                           struct progress *bar)
{
    enum err e = ERR_OK;

    for (unsigned round = 0; e == ERR_OK && round < q->rounds; round++) {
        double honest = 0;
        for (unsigned plot = 0; e == ERR_OK && plot < REPORTS_PLOTS; plot++) {
            struct reports_site s = q->site;
            struct reports_result r;
            s.seed += round;
            s.plot = (enum reports_plot)plot;
            e = reports_run(&s, &r);
            if (e == ERR_OK) {
                honest = plot == REPORTS_NOBODY ? share_of(wanted_of(&r)) : honest;
                add_round(&ret[plot], &r, honest, q->rounds);
            }
        }
        progress_show(bar, "rounds", (double)(round + 1) / q->rounds);
    }
    return e;
}

/* ---- the table ---- */

static bool show_json(const struct request *q, enum reports_plot plot,
                      const struct figures *f)
{
    const struct reports_result *r = &f->sum;
    json_t *issues = json_array();

    for (size_t i = 0; i < LENGTH(r->issue); i++) {
        json_array_append_new(issues, json_real(share_of(r->issue[i])));
    }
    return json_line(json_pack(
        "{s:s, s:i, s:f, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:o, s:f, "
        "s:f, s:f}",
        "plot", reports_plot_name(plot), "users", (int)q->site.users, "liars",
        q->site.liars, "weeks", (int)q->site.weeks, "rounds", (int)q->rounds, "seed",
        (json_int_t)q->site.seed, "spam", (json_int_t)r->spam.copies, "spam_marked",
        (json_int_t)r->spam.marked, "newsletters", (json_int_t)r->newsletters.copies,
        "newsletters_marked", (json_int_t)r->newsletters.marked, "more", f->more,
        "more_error", error_of(f, q->rounds), "target", (json_int_t)r->target.copies,
        "target_marked", (json_int_t)r->target.marked, "issues", issues, "honest_trust",
        r->honest_trust, "liar_trust", r->liar_trust, "liar_trust_end", r->liar_end));
}

static void show_head(const struct request *q)
{
    printf("%u users, %.0f %% of them liars; %u weeks of practice and %d of attack; "
           "%u rounds.\n"
           "Shares of the copies of honest users that votes alone marked:\n\n"
           "%-9s %7s %12s %10s %22s %8s %8s\n",
           q->site.users, q->site.liars * 100, q->site.weeks, REPORTS_ATTACK_WEEKS,
           q->rounds, "liars", "spam", "newsletters", "target",
           "more than without liars", "trust", "at end");
}

static void show_row(const struct request *q, enum reports_plot plot,
                     const struct figures *f)
{
    const struct reports_result *r = &f->sum;
    char more[HUMANIZE_MAX];

    (void)snprintf(more, sizeof(more), "%+.4f +- %.4f %%", f->more * 100,
                   error_of(f, q->rounds) * 100);
    printf("%-9s %5.1f %% %10.4f %% %8.4f %% %23s %8.3f %8.3f\n",
           reports_plot_name(plot), share_of(r->spam) * 100,
           share_of(r->newsletters) * 100, share_of(r->target) * 100,
           plot == REPORTS_NOBODY ? "" : more,
           plot == REPORTS_NOBODY ? r->honest_trust : r->liar_trust,
           plot == REPORTS_NOBODY ? r->honest_trust : r->liar_end);
    if (plot == REPORTS_SLEEPERS) {
        printf("%-9s the issues of the target one after the other:", "");
        for (size_t i = 0; i < LENGTH(r->issue); i++) {
            printf(" %.2f %%", share_of(r->issue[i]) * 100);
        }
        (void)puts("");
    }
}

int simulate_reports(struct cli *cli, int argc, char **argv)
{
    enum { OPTIONS = 8 };
    const char *text[OPTIONS] = {0};
    const struct cli_option table[OPTIONS] = {
        {"--liars", &text[0], NULL, NULL},  {"--users", &text[1], NULL, NULL},
        {"--weeks", &text[2], NULL, NULL},  {"--administrator", &text[3], NULL, NULL},
        {"--traps", &text[4], NULL, NULL},  {"--lists", &text[5], NULL, NULL},
        {"--rounds", &text[6], NULL, NULL}, {"--seed", &text[7], NULL, NULL},
    };
    struct request q = {.site = {.liars = LIARS_USUAL,
                                 .admin = ADMIN_USUAL,
                                 .trap = TRAPS_USUAL,
                                 .list = LISTS_USUAL}};
    struct figures f[REPORTS_PLOTS] = {0};
    struct errinfo why = {.code = ERR_OK};
    struct progress bar;
    int status = cli_options(cli_command("simulate"), table, OPTIONS, &argc, argv);

    if (status == 0 && argc > 1) {
        status = cli_usage("simulate", "reports takes options only");
    }
    status = status != 0 ? status : read_request(text, &q);
    if (status != 0) {
        return status;
    }
    progress_init(&bar);
    enum err e = run_rounds(&q, f, &bar);
    progress_clear(&bar);
    if (e != ERR_OK) {
        errinfo_set(&why, e, "simulate reports", 0, "%s", err_text(e));
        return cli_fail(&why);
    }
    if (!cli->json) {
        show_head(&q);
    }
    for (unsigned plot = 0; plot < REPORTS_PLOTS; plot++) {
        if (!cli->json) {
            show_row(&q, (enum reports_plot)plot, &f[plot]);
        } else if (!show_json(&q, (enum reports_plot)plot, &f[plot])) {
            return EX_OSERR;
        }
    }
    return CLI_CLEAN;
}
