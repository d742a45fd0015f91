/* count_disk - the runs and the running table in the state folder. */
#include "core/cli/count_disk.h"

#include "core/base/file.h"
#include "core/count/live.h"
#include "core/count/runset.h"

/* The folder of runs is not made by who only looks. */
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

    if (file_path(counts, "%s/counts", state_dir) != ERR_OK ||
        file_path(runs, "%s/counts/runs", state_dir) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, state_dir, 0, "the path is too long");
    }
    enum err e = look_at_runs(runs, &s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    /* of no key: only whether there is a table */
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
