/* plan_count - `gillnet plan --messages-per-day`: memory, disk and errors of the counts. */
#include <math.h>
#include <sysexits.h>

#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/count/count.h"
#include "core/count/size.h"
#include "core/lab/plan_command.h"

_Static_assert((int)COUNT_SIZE_WINDOWS == (int)COUNT_WINDOWS, "one figure a window");

static const uint64_t presets[] = {10000, 100000, 1000000, 10000000};

static json_t *windows_json(const double v[COUNT_SIZE_WINDOWS])
{
    json_t *all = json_object();

    for (unsigned w = 0; w < COUNT_SIZE_WINDOWS; w++) {
        if (json_object_set_new(all, count_window_name(w), json_real(v[w])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static bool print_json(const struct count_size *s)
{
    return json_line(json_pack(
        "{s:I, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o}",
        "messages_per_day", (json_int_t)s->messages_per_day, "shards", (int)s->nshards,
        "doorkeeper_lines", (json_int_t)s->doorkeeper_lines, "cell_lines",
        (json_int_t)s->cell_lines, "live_slots", (json_int_t)s->live_slots,
        "memory_bytes", (json_int_t)s->memory_bytes, "disk_bytes",
        (json_int_t)s->disk_bytes, "bucket_keys", (json_int_t)s->bucket_keys,
        "day_keys", (json_int_t)s->day_keys, "keys_14d", (json_int_t)s->fortnight_keys,
        "doorkeeper_false", s->doorkeeper_false, "error", windows_json(s->error),
        "noise_floor", windows_json(s->noise_floor)));
}

static void print_one(const struct count_size *s)
{
    double cells = (double)s->cell_lines * COUNT_SIZE_LINE;
    double door = (double)s->doorkeeper_lines * COUNT_SIZE_LINE;
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];
    char c[HUMANIZE_MAX];
    char d[HUMANIZE_MAX];

    printf(
        "Counting %s messages a day, 40 keys each, 60 %% of them never seen before:\n\n",
        humanize_count(s->messages_per_day, a));
    printf("  memory   %s (doorkeeper %s, cells %s, running tables %s)\n",
           humanize_bytes((double)s->memory_bytes, a), humanize_bytes(door, b),
           humanize_bytes(cells, c),
           humanize_bytes((double)s->memory_bytes - door - cells, d));
    printf("  disk     %s for 14 days\n", humanize_bytes((double)s->disk_bytes, a));
    printf("  keys     %s in 10 minutes, %s in a day, %s in 14 days; %u shards\n\n",
           humanize_count(s->bucket_keys, a), humanize_count(s->day_keys, b),
           humanize_count(s->fortnight_keys, c), s->nshards);
    printf("  %-8s %22s %22s\n", "window", "keys that read too high", "noise floor");
    for (unsigned w = 0; w < COUNT_SIZE_WINDOWS; w++) {
        printf("  %-8s %22s %22s\n", count_window_name(w),
               s->error[w] > 0 ? humanize_share(s->error[w], a) : "exact",
               s->error[w] > 0 ? humanize_share(s->noise_floor[w], b) : "exact");
    }
    (void)puts(
        "\nToo high: of keys that came again, before the runs are asked; never too low."
        "\nNoise floor: of keys that were never counted, those that read above 0 (14d: 1).");
}

static void print_presets(void)
{
    char messages[HUMANIZE_MAX];
    char memory[HUMANIZE_MAX];
    char disk[HUMANIZE_MAX];
    char error[HUMANIZE_MAX];
    char noise[HUMANIZE_MAX];

    printf("\n  %-16s %9s %9s %12s %12s\n", "messages a day", "memory", "disk",
           "14d too high", "14d noise");
    for (size_t i = 0; i < LENGTH(presets); i++) {
        struct count_size s;
        if (count_size_for(presets[i], &s) == ERR_OK) {
            printf("  %-16s %9s %9s %12s %12s\n", humanize_count(presets[i], messages),
                   humanize_bytes((double)s.memory_bytes, memory),
                   humanize_bytes((double)s.disk_bytes, disk),
                   humanize_share(s.error[COUNT_14D], error),
                   humanize_share(s.noise_floor[COUNT_14D], noise));
        }
    }
    (void)puts(
        "\nSet messages_per_day of `count` in the configuration; a change takes effect when "
        "gillnetd\nstarts again and rebuilds its sketch from the runs.");
}

int planning_count(const char *messages, bool json)
{
    struct count_size s;
    double v = 0;

    if (!humanize_read(messages, &v)) {
        return cli_usage("plan",
                         "--messages-per-day takes a number such as 100000 or 1e6");
    }
    if (!(v >= 1 && v <= (double)COUNT_SIZE_MESSAGES_MOST) || floor(v) != v ||
        count_size_for((uint64_t)v, &s) != ERR_OK) {
        struct errinfo why;
        (void)errinfo_set(&why, ERR_RANGE, "--messages-per-day", 0,
                          "%.60s: give 1 to %.0f messages; more belong on several "
                          "servers",
                          messages, (double)COUNT_SIZE_MESSAGES_MOST);
        return cli_fail(&why);
    }
    if (json) {
        return print_json(&s) ? CLI_CLEAN : EX_OSERR;
    }
    print_one(&s);
    print_presets();
    return CLI_CLEAN;
}
