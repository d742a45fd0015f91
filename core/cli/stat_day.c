/* stat_day - gillnetd's last day in a few lines. */
#include "core/base/clock.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/stat.h"
#include "core/list/rating.h"
#include "core/telemetry/history.h"

enum { US_PER_S = 1000000, SHOWN_SYMBOLS = 8 };

static const double ns_s = 1e-9;

static void sum_day(const struct history_view *v, uint64_t ret[HISTORY_NUMBERS])
{
    for (unsigned n = 0; n < HISTORY_NUMBERS; n++) {
        ret[n] = 0;
        for (unsigned i = 0; i < HISTORY_BUCKETS; i++) {
            ret[n] += v->bucket[i].number[n];
        }
    }
}

/* ---- JSON ---- */

static bool print_day_json(const struct history_view *v,
                           const uint64_t sum[HISTORY_NUMBERS])
{
    json_t *day = json_pack("{s:s}", "type", "day");
    bool ok = true;

    for (unsigned n = 0; n < HISTORY_NUMBERS; n++) {
        (void)json_object_set_new(day, history_number_name(n),
                                  json_integer((json_int_t)sum[n]));
    }
    ok = json_line(day);
    for (size_t i = 0; ok && i < v->nsymbols; i++) {
        const struct history_symbol *s = &v->symbol[i];
        ok = json_line(json_pack("{s:s, s:s, s:I, s:I}", "type", "symbol", "name",
                                 s->name, "day", (json_int_t)s->day, "total",
                                 (json_int_t)s->total));
    }
    for (unsigned i = 0; ok && i < HISTORY_STAGES; i++) {
        const struct history_times *t = &v->time[i];
        ok = json_line(json_pack("{s:s, s:s, s:I, s:I}", "type", "time", "stage",
                                 history_stage_name(i), "count", (json_int_t)t->n,
                                 "sum_us", (json_int_t)(t->sum_ns / 1000)));
    }
    for (unsigned i = 0; ok && i < RATING_COUNT; i++) {
        if (rating_is_given((enum rating)i)) {
            ok = json_line(json_pack("{s:s, s:s, s:I}", "type", "urls", "rating",
                                     rating_name((enum rating)i), "count",
                                     (json_int_t)v->url_checks[i]));
        }
    }
    return ok;
}

/* ---- for people ---- */

static void print_day_text(const struct history_view *v,
                           const uint64_t sum[HISTORY_NUMBERS])
{
    const struct history_times *t = &v->time[HISTORY_MESSAGE];
    char number[HUMANIZE_MAX];
    const char *before = ": ";

    printf("in the last day: %s messages",
           humanize_count(sum[HISTORY_MESSAGES], number));
    for (unsigned n = HISTORY_ACCEPT; n <= HISTORY_ON_ERROR; n++) {
        if (sum[n] > 0) {
            printf("%s%s %s", before, history_number_name(n),
                   humanize_count(sum[n], number));
            before = ", ";
        }
    }
    if (t->n > 0) {
        printf("; a message took %s on average",
               humanize_seconds((double)t->sum_ns / (double)t->n * ns_s, number));
    }
    (void)putchar('\n');
    for (size_t i = 0; i < v->nsymbols && i < SHOWN_SYMBOLS && v->symbol[i].day > 0;
         i++) {
        printf("%s%s %s", i == 0 ? "  symbols: " : ", ", v->symbol[i].name,
               humanize_count(v->symbol[i].day, number));
    }
    if (v->nsymbols > 0 && v->symbol[0].day > 0) {
        (void)putchar('\n');
    }
}

bool stat_day_show(const struct cli *cli)
{
    char path[FILE_PATH_MAX];
    uint64_t sum[HISTORY_NUMBERS];
    struct errinfo why = {.code = ERR_OK};
    struct history_view *v = calloc(1, sizeof(*v));
    bool is_printed = true;

    if (v == NULL || path_make(path, NULL, "%s/%s", cli->config->state_dir,
                               STATE_HISTORY_FILE) != ERR_OK) {
        free(v);
        return true; /* such a path has no page either */
    }
    enum err e = history_read(path, clock_wall_us() / US_PER_S, v, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        (void)cli_fail(&why); /* the others can still be shown */
    }
    if (e == ERR_OK) {
        sum_day(v, sum);
        if (cli->json) {
            is_printed = print_day_json(v, sum);
        } else {
            print_day_text(v, sum);
        }
    }
    free(v);
    return is_printed;
}
