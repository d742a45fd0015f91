/* count_numbers - the state of the counts from the statistics page. */
#include "core/cli/count_numbers.h"

#include "core/base/file.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/count/live.h"
#include "core/count/runset.h"

/* At the rate they were sized for, lines are filled to about 0.77 (size.h); beyond FILL_MOST new
 * keys find no room more and more often. */
#define FILL_SIZED 0.77
#define FILL_MOST  0.86
enum { PPB = 1000000000, TEXT_MAX = 512, DAYS_IN_WINDOW = COUNT_DAYS + 1 };

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* The next of 1, 2, 5, 10, 20, ... from least on. */
static uint64_t round_up(double least)
{
    static const unsigned steps[] = {1, 2, 5};
    uint64_t decade = 1000;

    for (;;) {
        for (unsigned i = 0; i < 3; i++) {
            if ((double)(decade * steps[i]) >= least) {
                return decade * steps[i];
            }
        }
        decade *= 10;
    }
}

/* The fill after 14 days, if all days are like those so far. */
static double look_ahead(double fill, uint64_t oldest_s, uint64_t now_s)
{
    double days = oldest_s == 0 || oldest_s >= now_s
                      ? 0
                      : (double)(now_s - oldest_s) / COUNT_DAY_S;

    if (days < 1 || days >= DAYS_IN_WINDOW) {
        return fill;
    }
    return fill * DAYS_IN_WINDOW / days;
}

void count_numbers_get(const struct stats_view *page, double noise_bound,
                       uint64_t now_s, struct count_numbers *ret)
{
    static const enum stat_id noise[COUNT_WINDOWS] = {
        STAT_count_noise_10m_ppb, STAT_count_noise_1h_ppb, STAT_count_noise_1d_ppb,
        STAT_count_noise_14d_ppb};
    const uint64_t *v = page->value;

    memset(ret, 0, sizeof(*ret));
    memcpy(ret->value, page->value, sizeof(ret->value));
    ret->noise_bound = noise_bound;
    ret->doorkeeper_fill =
        share(v[STAT_count_doorkeeper_entries], v[STAT_count_doorkeeper_capacity]);
    ret->cells_fill = share(v[STAT_count_cells_used], v[STAT_count_cells]);
    double fill =
        ret->doorkeeper_fill > ret->cells_fill ? ret->doorkeeper_fill : ret->cells_fill;
    ret->fill_ahead = look_ahead(fill, v[STAT_count_oldest], now_s);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ret->noise[w] = (double)v[noise[w]] / PPB;
    }
    if (ret->fill_ahead > FILL_MOST && v[STAT_count_messages_per_day] > 0) {
        ret->advised_messages = round_up((double)v[STAT_count_messages_per_day] *
                                         (ret->fill_ahead / FILL_SIZED));
    }
}

/* ---- showing ---- */

json_t *count_numbers_json(const struct count_numbers *n)
{
    json_t *noise = json_object();
    json_t *o = json_pack("{s:s}", "type", "counting");

    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        (void)json_object_set_new(noise, count_window_name(w), json_real(n->noise[w]));
    }
    for (unsigned i = STAT_count_messages; i < STAT_COUNT; i++) {
        const char *name = stats_name((enum stat_id)i);
        if (strncmp(name, "count_", 6) == 0 && strstr(name, "_ppb") == NULL) {
            (void)json_object_set_new(o, name + 6,
                                      json_integer((json_int_t)n->value[i]));
        }
    }
    (void)json_object_set_new(o, "doorkeeper_fill", json_real(n->doorkeeper_fill));
    (void)json_object_set_new(o, "cells_fill", json_real(n->cells_fill));
    (void)json_object_set_new(o, "fill_ahead", json_real(n->fill_ahead));
    (void)json_object_set_new(o, "noise", noise);
    (void)json_object_set_new(o, "noise_bound", json_real(n->noise_bound));
    if (n->is_of_disk) {
        (void)json_object_set_new(o, "running_since",
                                  json_integer((json_int_t)n->running_since_s));
    }
    (void)json_object_set_new(o, "advised_messages_per_day",
                              json_integer((json_int_t)n->advised_messages));
    return o;
}

static void print_trouble(void *context, bool is_serious, const char *text,
                          const char *advice)
{
    (void)context;
    printf("  %s: %s; %s\n", is_serious ? "trouble" : "advice", text, advice);
}

static void print_noise(const struct count_numbers *n)
{
    char text[HUMANIZE_MAX];

    if (n->value[STAT_count_noise_known] == 0) {
        (void)puts("  noise: not measured yet");
        return;
    }
    (void)fputs("  noise, the share of keys never counted that read as counted: ",
                stdout);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        printf("%s%s in %s", w == 0 ? "" : ", ",
               n->noise[w] > 0 ? humanize_share(n->noise[w], text) : "0",
               count_window_name(w));
    }
    (void)putchar('\n');
}

/* Prints the counts of the disk, when no gillnetd runs. */
static void print_disk(const struct count_numbers *n)
{
    const uint64_t *v = n->value;
    char text[HUMANIZE_MAX];
    char since[TEXT_TIME_MAX];

    if (!n->is_of_disk) {
        (void)puts("counting: off, or not begun");
        return;
    }
    if (v[STAT_count_bucket_runs] + v[STAT_count_day_runs] == 0 &&
        v[STAT_count_damaged_runs] == 0 && n->running_since_s == 0) {
        (void)puts("counting: nothing was counted yet");
        return;
    }
    (void)puts("counting: gillnetd does not count now; the counts are kept");
    printf("  on disk %s in %" PRIu64 " runs of 10 minutes and %" PRIu64
           " of days, %" PRIu64 " damaged\n",
           humanize_bytes((double)v[STAT_count_disk_bytes], text),
           v[STAT_count_bucket_runs], v[STAT_count_day_runs],
           v[STAT_count_damaged_runs]);
    if (n->running_since_s != 0) {
        printf("  and a running table, begun at %s\n",
               text_time(n->running_since_s, since));
    }
    count_numbers_troubles(n, print_trouble, NULL);
}

void count_numbers_print(const struct count_numbers *n)
{
    const uint64_t *v = n->value;
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    if (v[STAT_count_messages_per_day] == 0) {
        print_disk(n);
        return;
    }
    printf("counting: sized for %s messages a day; %s keys in the running 10 minutes\n",
           humanize_count(v[STAT_count_messages_per_day], a),
           humanize_count(v[STAT_count_live_keys], b));
    printf("  on disk %s in %" PRIu64 " runs of 10 minutes and %" PRIu64
           " of days, %" PRIu64 " damaged; in memory %s\n",
           humanize_bytes((double)v[STAT_count_disk_bytes], a),
           v[STAT_count_bucket_runs], v[STAT_count_day_runs],
           v[STAT_count_damaged_runs],
           humanize_bytes((double)v[STAT_count_memory_bytes], b));
    printf("  doorkeeper %.0f %% full, cells %.0f %% full, %s sums beyond a cell\n",
           n->doorkeeper_fill * 100, n->cells_fill * 100,
           humanize_count(v[STAT_count_overflowed], a));
    print_noise(n);
    if (v[STAT_count_shards_ready] < v[STAT_count_shards]) {
        printf("  rebuilding from the runs: %" PRIu64 " of %" PRIu64
               " parts; until then the runs themselves answer\n",
               v[STAT_count_shards_ready], v[STAT_count_shards]);
    } else if (v[STAT_count_rebuild_us] > 0) {
        printf("  rebuilt from the runs in %s\n",
               humanize_seconds((double)v[STAT_count_rebuild_us] / 1e6, a));
    }
    count_numbers_troubles(n, print_trouble, NULL);
}

/* ---- advice ---- */

static void say_noise(const struct count_numbers *n, count_trouble_fn *fn,
                      void *context)
{
    char text[TEXT_MAX];
    char share_text[HUMANIZE_MAX];
    char bound[HUMANIZE_MAX];

    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        if (n->value[STAT_count_noise_known] == 0 || n->noise[w] <= n->noise_bound) {
            continue;
        }
        (void)snprintf(text, sizeof(text),
                       "the noise floor of %s is %s, above count.noise_floor (%s): the "
                       "window is not used for verdicts",
                       count_window_name(w), humanize_share(n->noise[w], share_text),
                       humanize_share(n->noise_bound, bound));
        fn(context, true, text, "set count.messages_per_day to more and restart");
    }
}

static void say_size(const struct count_numbers *n, count_trouble_fn *fn, void *context)
{
    char text[TEXT_MAX];
    char advice[TEXT_MAX];
    double fill =
        n->doorkeeper_fill > n->cells_fill ? n->doorkeeper_fill : n->cells_fill;

    if (n->advised_messages == 0) {
        return;
    }
    if (fill > FILL_MOST) {
        (void)snprintf(text, sizeof(text), "the counts are full at %.0f %%",
                       fill * 100);
    } else {
        (void)snprintf(text, sizeof(text),
                       "the counts are full at %.0f %% and will come to %.0f %% in 14 "
                       "days like this",
                       fill * 100, n->fill_ahead * 100);
    }
    (void)snprintf(advice, sizeof(advice),
                   "set count.messages_per_day to %" PRIu64
                   " and restart gillnetd; the counts are read from the runs",
                   n->advised_messages);
    fn(context, fill > FILL_MOST, text, advice);
}

void count_numbers_troubles(const struct count_numbers *n, count_trouble_fn *fn,
                            void *context)
{
    char text[TEXT_MAX];

    if (n->value[STAT_count_volatile] != 0) {
        fn(context, true,
           "counts cannot be written to the disk and are lost when gillnetd stops",
           "make room for counts/ in the state folder, or mend its rights");
    }
    if (n->value[STAT_count_clock_suspended] != 0) {
        fn(context, true, "the clock jumped, and no count expires until it has held",
           "see to the clock (NTP); it settles by itself after 10 minutes");
    }
    if (n->value[STAT_count_damaged_runs] != 0) {
        (void)snprintf(text, sizeof(text), "%" PRIu64 " runs are damaged and left out",
                       n->value[STAT_count_damaged_runs]);
        fn(context, true, text,
           "`gillnet count verify` names them; delete them once you know why");
    }
    say_noise(n, fn, context);
    say_size(n, fn, context);
}

/* ---- the disk ---- */

/* A missing folder of runs is not made. */
static enum err look_at_runs(const char *dir, struct runset_stat *ret,
                             struct errinfo *reterr)
{
    struct runset *set = NULL;

    if (access(dir, F_OK) != 0) {
        return ERR_OK;
    }
    enum err e = runset_open(dir, NULL, NULL, &set, reterr);
    if (e == ERR_OK) {
        runset_stat(set, ret);
        runset_close(&set);
    }
    return e;
}

enum err count_disk_look(const char *state_dir, struct count_numbers *numbers,
                         struct errinfo *reterr)
{
    char counts[FILE_PATH_MAX];
    char runs[FILE_PATH_MAX];
    struct runset_stat s = {.nbuckets = 0};
    struct errinfo none = {.code = ERR_OK};
    uint64_t count = 0;
    uint64_t since_s = 0;

    enum err e = path_make(counts, reterr, "%s/counts", state_dir);
    THEN(e, path_make(runs, reterr, "%s/counts/runs", state_dir));
    THEN(e, look_at_runs(runs, &s, reterr));
    if (e != ERR_OK) {
        return e;
    }
    /* the count of no key, to see whether there is a table */
    if (access(counts, F_OK) != 0 ||
        live_peek(counts, 0, &count, &since_s, &none) != ERR_OK) {
        since_s = 0;
    }
    numbers->is_of_disk = true;
    numbers->running_since_s = since_s;
    numbers->value[STAT_count_bucket_runs] = s.nbuckets;
    numbers->value[STAT_count_day_runs] = s.ndays;
    numbers->value[STAT_count_damaged_runs] = s.ndamaged;
    numbers->value[STAT_count_disk_bytes] = s.bytes;
    numbers->value[STAT_count_oldest] = s.oldest_s;
    return ERR_OK;
}
