/*
 * count_full - counting while the disk is full, and after there is room again.
 *
 * Usage: count_full FOLDER   (on a small disk of its own)
 * Counts on, fills the disk under the running counts, counts until the table must grow and through
 * several buckets, makes room, and goes on. All the time each count must be what the test counted,
 * the counts must say that nothing is kept, and stop saying so. Prints one line; exit status 1
 * otherwise.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/count/count.h"

enum { KEYS = 60000, BATCH = 50, BALLAST = 64 << 10 };
#define START_US  (UINT64_C(1800000000) * 1000000)
#define MONO_US   (UINT64_C(1000) * 1000000)
#define STEP_US   (UINT64_C(10) * 1000000)
#define BUCKET_US (UINT64_C(600) * 1000000)

static uint64_t counted[KEYS];
static unsigned wrong;

static struct digest digest_of(unsigned key)
{
    struct digest d;
    uint64_t z = key + 1;
    for (size_t i = 0; i < sizeof(d.b); i += 8) {
        z = (z ^ (z >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + 77;
        z ^= z >> 32;
        memcpy(d.b + i, &z, sizeof(z));
    }
    return d;
}

static void expect(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "count_full: not true: %s\n", what);
        wrong++;
    }
}

static void add(struct count *c, unsigned first, unsigned n)
{
    for (unsigned k = first; k < first + n; k += BATCH) {
        struct count_item items[BATCH] = {0};
        for (unsigned i = 0; i < BATCH; i++) {
            items[i].digest[0] = digest_of(k + i);
            items[i].amount = 1;
            counted[k + i]++;
        }
        count_batch(c, items, BATCH);
    }
}

static void go_on(struct count *c, uint64_t us)
{
    for (uint64_t gone = 0; gone < us; gone += STEP_US) {
        clock_advance_us(STEP_US);
        count_tick(c);
    }
}

/* The sum of all days of each key. */
static void check(struct count *c, const char *when)
{
    unsigned differ = 0;
    for (unsigned k = 0; k < KEYS; k += 7) {
        struct digest d[KEYRING_MAX] = {digest_of(k)};
        struct count_history h;
        uint64_t sum = 0;
        count_exact(c, d, &h);
        for (unsigned i = 0; i <= COUNT_DAYS; i++) {
            sum += h.day[i];
        }
        differ += sum != counted[k];
    }
    expect(differ == 0, when);
}

static bool is_volatile(struct count *c)
{
    struct count_stat stat;
    count_stat(c, &stat);
    return stat.is_volatile;
}

/* Takes all the room there is. */
static void fill(const char *path)
{
    static char bytes[BALLAST];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t n = sizeof(bytes); n > 0; n /= 2) {
        while (write(fd, bytes, n) == (ssize_t)n) {
        }
    }
    (void)close(fd);
}

static void run(struct count *c, const char *ballast)
{
    add(c, 0, 1000);
    go_on(c, STEP_US * 2);
    expect(!is_volatile(c), "kept while there is room");
    check(c, "counts at the begin");
    fill(ballast);
    add(c, 0, KEYS); /* the table must grow, the journal cannot */
    go_on(c, STEP_US * 2);
    expect(is_volatile(c), "says that nothing is kept");
    add(c, 0, KEYS);
    check(c, "counts on a full disk");
    go_on(c, BUCKET_US);
    add(c, 0, 1000); /* a bucket that begins on a full disk */
    expect(is_volatile(c), "says so in the next bucket");
    check(c, "counts in a bucket that began on a full disk");
    (void)unlink(ballast);
    go_on(c, BUCKET_US);
    add(c, 0, 1000);
    go_on(c, STEP_US * 4);
    expect(!is_volatile(c), "kept again when there is room");
    check(c, "counts after all");
}

int main(int argc, char **argv)
{
    struct keyring keys;
    struct errinfo why = {.text = ""};
    struct count *c = NULL;
    char ballast[4096];
    if (argc != 2 || base_init() != ERR_OK ||
        keyring_load_or_create(argv[1], &keys, &why) != ERR_OK) {
        (void)fprintf(stderr, "usage: count_full FOLDER   %s\n", why.text);
        return 2;
    }
    (void)snprintf(ballast, sizeof(ballast), "%s/ballast", argv[1]);
    clock_set_for_test(START_US, MONO_US);
    const struct count_options options = {
        .state_dir = argv[1], .keys = &keys, .messages_per_day = 10000};
    if (count_open(&options, &c, &why) != ERR_OK) {
        (void)fprintf(stderr, "count_full: %s: %s\n", why.source, why.text);
        return 2;
    }
    run(c, ballast);
    count_close(&c);
    /* what was counted while there was room is there at the next start */
    if (count_open(&options, &c, &why) != ERR_OK) {
        (void)fprintf(stderr, "count_full: %s: %s\n", why.source, why.text);
        return 2;
    }
    check(c, "counts at the next start");
    count_close(&c);
    printf("{\"test\": \"count_full\", \"wrong\": %u}\n", wrong);
    return wrong > 0;
}
