/*
 * count_year DAYS - days of virtual time, ten minutes at a step, with a clock that is sometimes set
 * wrong: an hour back, three days forward (for a while, and for good), to 1970 at a restart. After
 * each day every window of every key is compared with a plain list of the counts, and the folder's
 * size with its former size. Exit 0: no difference.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/count/count.h"

#include "tests/unit/tempdir.h"

#define S      ((uint64_t)1000000)
#define BUCKET ((uint64_t)COUNT_BUCKET_S * S)
#define DAY    ((uint64_t)COUNT_DAY_S * S)
#define START  (UINT64_C(19663) * DAY)

enum {
    KEYS = 60,
    RING = 20 * COUNT_DAY_BUCKETS, /* buckets that the truth remembers */
    MESSAGES_PER_DAY = 1000,
    SETTLED_DAYS = 17, /* from then on the folder must not grow */
    PERCENT_OVER = 10
};

struct year {
    char dir[64];
    struct keyring keys;
    struct count *count;
    uint64_t rng;
    /* the truth: counts of a bucket, and which bucket that is */
    uint64_t bucket[RING];
    uint32_t seen[RING][KEYS];
    uint64_t disk_most; /* after it has settled */
    unsigned bad;
};

static uint64_t next_random(struct year *y)
{
    y->rng = y->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return y->rng >> 16;
}

static uint64_t now_of(struct year *y)
{
    struct count_stat stat;
    count_stat(y->count, &stat);
    return stat.now;
}

static void open_counts(struct year *y)
{
    struct errinfo why;
    const struct count_options options = {
        .state_dir = y->dir, .keys = &y->keys, .messages_per_day = MESSAGES_PER_DAY};
    if (count_open(&options, &y->count, &why) != ERR_OK) {
        (void)fprintf(stderr, "count_year: %s: %s\n", why.source, why.text);
        exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
    }
    count_tick(y->count);
}

static void digest_of(const struct year *y, unsigned key,
                      struct digest ret[KEYRING_MAX])
{
    char text[16];
    int n = snprintf(text, sizeof(text), "key %u", key);
    memset(ret, 0, KEYRING_MAX * sizeof(ret[0]));
    digest_make(&y->keys.ring[0], 14, slice_of(text, (size_t)n), &ret[0]);
}

static void traffic(struct year *y)
{
    uint64_t now = now_of(y);
    size_t at = now % RING;
    if (y->bucket[at] != now) {
        y->bucket[at] = now;
        memset(y->seen[at], 0, sizeof(y->seen[at]));
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned key = (unsigned)(next_random(y) % KEYS);
        struct count_item item = {.amount = 1 + next_random(y) % 3};
        digest_of(y, key, item.digest);
        count_batch(y->count, &item, 1);
        y->seen[at][key] += (uint32_t)item.amount;
    }
}

static void step(struct year *y, uint64_t us)
{
    clock_advance_us(us);
    count_tick(y->count);
    traffic(y);
}

static void pass(struct year *y, uint64_t us)
{
    for (uint64_t t = 0; t < us; t += BUCKET) {
        step(y, BUCKET);
    }
}

static uint64_t truth_of(const struct year *y, unsigned key, uint64_t now, unsigned w)
{
    static const uint64_t back[] = {1, 6, COUNT_BUCKETS};
    uint64_t sum = 0;
    for (size_t i = 0; i < RING; i++) {
        uint64_t b = y->bucket[i];
        uint64_t days = now / COUNT_DAY_BUCKETS - b / COUNT_DAY_BUCKETS;
        bool is_in = w == COUNT_14D ? days <= COUNT_DAYS : now - b <= back[w];
        sum += is_in ? y->seen[i][key] : 0;
    }
    return sum;
}

static uint64_t bytes_of(const char *dir)
{
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[FILE_PATH_MAX];
        struct stat st;
        if (e->d_name[0] == '.' || file_path(path, "%s/%s", dir, e->d_name) != ERR_OK ||
            lstat(path, &st) != 0) {
            continue;
        }
        sum += S_ISDIR(st.st_mode) ? bytes_of(path) : (uint64_t)st.st_blocks * 512;
    }
    if (d) {
        closedir(d);
    }
    return sum;
}

static void compare(struct year *y, unsigned day)
{
    uint64_t now = now_of(y);
    for (unsigned key = 0; key < KEYS; key++) {
        struct count_item item = {.amount = 0};
        struct count_history h;
        uint64_t exact[COUNT_WINDOWS];
        digest_of(y, key, item.digest);
        count_batch(y->count, &item, 1);
        count_exact(y->count, item.digest, &h);
        count_history_windows(&h, exact);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            uint64_t truth = truth_of(y, key, now, w);
            if (exact[w] != truth || item.value.w[w] < truth) {
                printf("day %u key %u window %s: truth %" PRIu64 ", exact %" PRIu64
                       ", sketch %" PRIu64 "\n",
                       day, key, count_window_name(w), truth, exact[w],
                       item.value.w[w]);
                y->bad++;
            }
        }
    }
    uint64_t bytes = bytes_of(y->dir);
    if (day == SETTLED_DAYS) {
        y->disk_most = bytes + bytes * PERCENT_OVER / 100;
    }
    if (day > SETTLED_DAYS && bytes > y->disk_most) {
        printf("day %u: the folder has grown to %" PRIu64 " bytes of at most %" PRIu64
               "\n",
               day, bytes, y->disk_most);
        y->bad++;
    }
}

static void set_wall(uint64_t wall_us)
{
    clock_set_for_test(wall_us, clock_mono_us());
}

/* Sets the clock wrong on some days. */
static void misfortune(struct year *y, unsigned day)
{
    uint64_t wall = clock_wall_us();
    switch (day % 12) {
    case 3:
        set_wall(wall - 3600 * S);
        break;
    case 6: /* for a while */
        set_wall(wall + 3 * DAY);
        step(y, 250 * S);
        set_wall(clock_wall_us() - 3 * DAY);
        break;
    case 8: /* a restart before the time server has answered */
        count_close(&y->count);
        set_wall(1000 * S);
        open_counts(y);
        step(y, 250 * S);
        set_wall(wall + 250 * S);
        break;
    case 10: /* for good */
        set_wall(wall + 3 * DAY);
        step(y, 250 * S);
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    static struct year y;
    struct errinfo why;
    unsigned days = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 365;

    y.rng = 42;
    if (base_init() != ERR_OK || !tempdir_make_fast(y.dir) ||
        keyring_load_or_create(y.dir, &y.keys, &why) != ERR_OK) {
        (void)fputs("count_year: cannot begin\n", stderr);
        return 1;
    }
    log_set_level(LOG_LEVEL_ERROR);
    clock_set_for_test(START, 1000 * S);
    open_counts(&y);
    for (unsigned day = 0; day < days && y.bad == 0; day++) {
        misfortune(&y, day);
        pass(&y, DAY);
        compare(&y, day);
    }
    count_close(&y.count);
    printf("%u days, %u findings, folder at most %" PRIu64 " bytes, in %s\n", days,
           y.bad, y.disk_most, y.dir);
    if (y.bad == 0) {
        (void)tempdir_remove(y.dir);
    }
    return y.bad == 0 ? 0 : 1;
}
