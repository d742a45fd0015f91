/* doctor_counts - the runs on disk, gillnetd's counting, and its size. */

#include "core/base/clock.h"
#include "core/cli/count_numbers.h"
#include "core/cli/doctor.h"
#include "core/cli/services.h"
#include "core/count/runset.h"

enum { US_PER_S = 1000000 };

static void on_damaged_run(void *context, const struct errinfo *why)
{
    doctor_say_why(
        context, DOCTOR_FAIL, "counts",
        "its counts are lost, the others serve; `gillnet count verify` reads all", why);
}

/* The folder of runs; false: it does not exist. */
static bool find_runs(const struct doctor *d, char dir[FILE_PATH_MAX])
{
    return path_make(dir, NULL, "%s/counts/runs", d->cli->config->state_dir) ==
               ERR_OK &&
           access(dir, F_OK) == 0;
}

/* Headers and sizes of all runs; `count verify` reads their blocks. */
static void check_runs(struct doctor *d)
{
    char dir[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    struct runset *set = NULL;
    struct runset_stat s;

    if (!find_runs(d, dir)) {
        doctor_say(d, DOCTOR_OK, "counts", "", "there are no runs on disk yet");
        return;
    }
    if (runset_open(dir, on_damaged_run, d, &set, &why) != ERR_OK) {
        doctor_say_why(d, DOCTOR_FAIL, "counts", "see to the folder's rights", &why);
        return;
    }
    runset_stat(set, &s);
    doctor_say(d, DOCTOR_OK, "counts", "",
               "%zu runs of 10 minutes and %zu of days, %" PRIu64 " KiB", s.nbuckets,
               s.ndays, s.bytes >> 10);
    if (s.newest_s > clock_wall_us() / US_PER_S) {
        doctor_say(d, DOCTOR_WARN, "counts",
                   "set the clock, or move the runs of the future away",
                   "the newest run begins in the future");
    }
    runset_close(&set);
}

static void on_trouble(void *context, bool is_serious, const char *text,
                       const char *advice)
{
    (void)is_serious; /* mail flows in any case */
    doctor_say(context, DOCTOR_WARN, "counts", advice, "%s", text);
}

static void check_gillnetd(struct doctor *d)
{
    const struct config *config = d->cli->config;
    struct daemon_view view;
    struct errinfo why = {.code = ERR_OK};
    struct count_numbers n;
    char dir[FILE_PATH_MAX];

    if (daemon_look(config, &view, &why) != ERR_OK || !view.is_running) {
        return; /* doctor_daemon reports that */
    }
    if (view.stats.value[STAT_count_bucket_runs] > 0 && !find_runs(d, dir)) {
        doctor_say(d, DOCTOR_FAIL, "counts",
                   "restart gillnetd: it makes a new folder; the old runs are lost",
                   "gillnetd has runs open, but their folder is gone");
    }
    uint64_t size = view.stats.value[STAT_count_messages_per_day];
    if (size == 0) {
        doctor_say(d, DOCTOR_FAIL, "counts",
                   "its log and the faults say why; mend it and restart gillnetd",
                   "gillnetd does not count");
        return;
    }
    if (size != config->count.messages_per_day) {
        doctor_say(d, DOCTOR_WARN, "counts", "restart gillnetd",
                   "gillnetd counts for %" PRIu64 " messages a day, the configuration "
                   "says %u",
                   size, config->count.messages_per_day);
    }
    count_numbers_get(&view.stats, config->count.noise_floor,
                      clock_wall_us() / US_PER_S, &n);
    count_numbers_troubles(&n, on_trouble, d);
}

void doctor_counts(struct doctor *d)
{
    if (d->cli->config->count.messages_per_day == 0) {
        doctor_say(d, DOCTOR_OK, "counts", "", "counting is off");
        return;
    }
    check_runs(d);
    check_gillnetd(d);
}
