/*
 * bench_shared - counts through the hub's code into a server of Redis; bench_shared.py starts it.
 *
 * Usage: bench_shared speed SERVER SHARE      SHARE per cent of all increments are of one key
 *        bench_shared memory SERVER MESSAGES  a day of so many messages, in the cells of one in 64
 *        bench_shared traffic SERVER HOSTS SECONDS
 *        so many hosts of a million messages a day each, on a clock of their own
 * Prints one JSON object.
 */
#include <event2/event.h>
#include <inttypes.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/count/size.h"
#include "core/count/traffic.h"
#include "core/filter/tally.h"
#include "core/hub/shared/shared_counts.h"
#include "core/hub/shared/shared_pending.h"

enum {
    HOSTS_MAX = 64,
    SPEED_KEYS = 1 << 20,
    SPEED_INCREMENTS = 3 << 20,
    SPEED_REPORT = 1 << 17,
    MEMORY_CELLS = 64, /* one cell of so many is filled */
    MEMORY_REPORT = 1 << 15,
    MESSAGES_A_DAY = 1000000
};

struct host {
    struct shared *shared; /* a connection of its own */
    struct shared_counts *counts;
    struct keyring keys;
    struct object_id origin;
    struct traffic traffic;
    struct tally totals; /* of the running bucket */
    char dir[64];
    double owed; /* messages */
};

static struct event_base *base;
static struct node node;
static struct config config;

static void check(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why->source, why->text);
        exit(1);
    }
}

static void start(const char *server)
{
    static char *servers[1];
    static char prefix[] = "g";
    static char none[] = "";

    servers[0] = strdup(server);
    base = event_base_new();
    config.store = (struct config_store){.kind = STORE_REDIS,
                                         .servers = {1, servers},
                                         .master = none,
                                         .user = none,
                                         .password_file = none,
                                         .sentinel_user = none,
                                         .sentinel_password_file = none,
                                         .tls_ca = none,
                                         .tls_name = none,
                                         .tls_cert = none,
                                         .tls_key = none,
                                         .prefix = prefix,
                                         .spool = UINT64_C(1) << 40};
}

static void open_host(struct host *h, unsigned number, uint64_t messages)
{
    struct errinfo why = {.text = ""};
    struct count_size size;
    char path[FILE_PATH_MAX];

    (void)snprintf(h->dir, sizeof(h->dir), "/tmp/gillnet-bench-XXXXXX");
    if (mkdtemp(h->dir) == NULL) {
        exit(1);
    }
    check(path_make(path, &why, "%s/peers", h->dir), &why);
    check(file_make_dir(path, 0750, &why), &why);
    h->origin.b[0] = (uint8_t)(number * 157); /* random ones are far from each other */
    h->origin.b[1] = 7;
    check(count_size_for(messages, &size), &why);
    tally_init(&h->totals);
    check(shared_new(base, &config, &node, NULL, &h->shared, &why), &why);
    const struct shared_counts_options o = {.shared = h->shared,
                                            .state_dir = h->dir,
                                            .keys = &h->keys,
                                            .origin = &h->origin,
                                            .spool = config.store.spool,
                                            .bucket_keys = size.bucket_keys,
                                            .day_keys = size.day_keys};
    check(shared_counts_new(&o, &h->counts, &why), &why);
}

static void close_host(struct host *h)
{
    shared_counts_free(&h->counts);
    shared_free(&h->shared);
    tally_fini(&h->totals);
    (void)file_remove_tree(h->dir, NULL);
}

static struct shared_counts_status status_of(const struct host *h)
{
    struct shared_counts_status s;

    shared_counts_status(h->counts, &s);
    if (s.state == SHARED_COUNTS_REFUSED) {
        (void)fprintf(stderr, "%s\n", s.why);
        exit(1);
    }
    return s;
}

/* Handles answers; once in a while a second passes for the hub. */
static void loop(struct host *h)
{
    static struct clock_pace pace;

    (void)event_base_loop(base, EVLOOP_ONCE);
    if (clock_take_turn(&pace, 1000000)) {
        shared_counts_tick(h->counts);
    }
}

/* Until the store has all that is logged. */
static void drain(struct host *h)
{
    while (status_of(h).waiting > 0 || status_of(h).state == SHARED_COUNTS_ASKING) {
        loop(h);
    }
}

/* Its incarnation begins. */
static void settle(struct host *h)
{
    while (status_of(h).inc == 0) {
        shared_counts_tick(h->counts);
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
    }
    drain(h);
}

static int by_key(const void *a, const void *b)
{
    const struct run_record *x = a;
    const struct run_record *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void report(struct host *h, uint64_t start_s, struct run_record *v, size_t n)
{
    struct errinfo why = {.text = ""};

    qsort(v, n, sizeof(*v), by_key);
    const struct shared_report r = {start_s, v, n, false};
    check(shared_counts_report(h->counts, &r, &why), &why);
}

/* ---- speed ---- */

static void run_speed(unsigned share)
{
    static struct run_record v[SPEED_REPORT];
    static uint64_t counts[SPEED_KEYS];
    struct host h = {.counts = NULL};
    struct prng random;
    const uint64_t now_s = clock_wall_us() / 1000000;
    const uint64_t start_s = now_s - now_s % 600;
    const uint64_t hot = SPEED_KEYS / 2;
    uint64_t increments = 0;

    prng_init(&random, 1, 0);
    open_host(&h, 1, 6 * MESSAGES_A_DAY);
    settle(&h);
    const uint64_t begun_us = clock_mono_us();
    const uint64_t cpu_us = clock_cpu_us();
    while (increments < SPEED_INCREMENTS) {
        size_t n = 0;

        for (size_t i = 0; i < SPEED_REPORT; i++, increments++) {
            const uint64_t k = prng_below(&random, 100) < share
                                   ? hot
                                   : prng_below(&random, SPEED_KEYS);
            if (counts[k]++ >> 63 == 0) { /* the top bit: it is in the report */
                counts[k] |= UINT64_C(1) << 63;
                v[n++].key = k;
            }
        }
        for (size_t i = 0; i < n; i++) {
            counts[v[i].key] &= UINT64_MAX >> 1;
            v[i].count = counts[v[i].key];
            v[i].key = prng_mix(v[i].key + 1) | 1;
        }
        report(&h, start_s, v, n);
        shared_counts_flush(h.counts);
        while (status_of(&h).waiting > SHARED_CELLS / 2) {
            loop(&h);
        }
    }
    drain(&h);
    const uint64_t us = clock_mono_us() - begun_us;
    const struct shared_counts_status s = status_of(&h);
    printf(
        "{\"increments\": %" PRIu64
        ", \"increments_per_s\": %.0f, \"pairs_per_s\": %.0f, "
        "\"updates_per_s\": %.0f, \"hub_cpu_s\": %.2f, \"seconds\": %.2f, \"batches\": %" PRIu64
        "}\n",
        increments, (double)increments * 1e6 / (double)us,
        (double)s.sent * 1e6 / (double)us, 2 * (double)s.sent * 1e6 / (double)us,
        (double)(clock_cpu_us() - cpu_us) / 1e6, (double)us / 1e6, s.batches);
    close_host(&h);
}

/* ---- memory ---- */

/* The keys of some cells, of a day of mail; each is one increment in the day, and those of ten
 * minutes are also in a bucket. */
static void run_memory(uint64_t messages)
{
    static struct run_record v[MEMORY_REPORT];
    struct host h = {.counts = NULL};
    struct count_size size;
    const uint64_t now_s = clock_wall_us() / 1000000;
    uint64_t start_s = now_s - now_s % 86400;

    (void)count_size_for(messages, &size);
    open_host(&h, 1, messages);
    settle(&h);
    const uint64_t day = size.day_keys / MEMORY_CELLS;
    const uint64_t bucket = size.bucket_keys / MEMORY_CELLS;
    uint64_t in_bucket = 0;
    for (uint64_t i = 0; i < day;) {
        size_t n = 0;

        for (; n < MEMORY_REPORT && i < day && in_bucket + n < bucket; i++, n++) {
            const uint64_t cell = prng_mix(i) % (SHARED_CELLS / MEMORY_CELLS);

            v[n] = (struct run_record){(prng_mix(i * 3 + 1) >> 7 | 1) | cell << 57,
                                       1 + (i % 40 == 0 ? i % 300 : 0)};
        }
        report(&h, start_s, v, n);
        shared_counts_flush(h.counts);
        drain(&h);
        in_bucket += n;
        if (in_bucket >= bucket && start_s + 600 <= now_s) {
            start_s += 600;
            in_bucket = 0;
        } else if (in_bucket >= bucket) {
            break;
        }
    }
    printf("{\"messages\": %" PRIu64 ", \"sent\": %" PRIu64 "}\n", messages,
           status_of(&h).sent);
    close_host(&h);
}

/* ---- traffic ---- */

static void count_mail(struct host *h, double messages, struct run_record *v,
                       size_t room, uint64_t start_s)
{
    size_t n = 0;

    for (h->owed += messages; h->owed >= 1; h->owed -= 1) {
        uint64_t keys[TRAFFIC_KEYS];

        traffic_message(&h->traffic, keys);
        for (unsigned i = 0; i < TRAFFIC_KEYS && n < room; i++) {
            const uint64_t key = prng_mix(keys[i]) | 1;

            (void)tally_add(&h->totals, key, 1);
            v[n++] = (struct run_record){key, tally_get(&h->totals, key)};
        }
    }
    report(h, start_s, v, n);
}

static void run_traffic(unsigned nhosts, unsigned seconds)
{
    static struct host hosts[HOSTS_MAX];
    static struct run_record v[1 << 14];
    const uint64_t begin_s = clock_wall_us() / 1000000 / 86400 * 86400 + 36000;
    struct prng random;
    uint64_t pairs = 0;
    uint64_t batches = 0;

    prng_init(&random, 1, 0);
    clock_set_for_test(begin_s * 1000000, clock_mono_us());
    for (unsigned i = 0; i < nhosts; i++) {
        traffic_init(&hosts[i].traffic, MESSAGES_A_DAY, i + 1);
        open_host(&hosts[i], i + 1, (uint64_t)nhosts * MESSAGES_A_DAY);
        settle(&hosts[i]);
    }
    for (unsigned s = 0; s < seconds; s++) {
        const uint64_t start_s = begin_s + s - s % 600;

        for (unsigned i = 0; i < nhosts; i++) {
            if (s % 600 == 0) {
                tally_fini(&hosts[i].totals);
            }
            count_mail(&hosts[i], 2 * prng_share(&random) * MESSAGES_A_DAY / 86400, v,
                       LENGTH(v), start_s);
            shared_counts_tick(hosts[i].counts);
        }
        for (unsigned i = 0; i < nhosts; i++) {
            drain(&hosts[i]);
        }
        clock_advance_us(1000000);
    }
    for (unsigned i = 0; i < nhosts; i++) {
        pairs += status_of(&hosts[i]).sent;
        batches += status_of(&hosts[i]).batches;
        close_host(&hosts[i]);
    }
    printf("{\"hosts\": %u, \"seconds\": %u, \"pairs\": %" PRIu64
           ", \"batches\": %" PRIu64 "}\n",
           nhosts, seconds, pairs, batches);
}

int main(int argc, char **argv)
{
    if (argc < 4 || base_init() != ERR_OK) {
        return 1;
    }
    const unsigned long number = strtoul(argv[3], NULL, 10);
    start(argv[2]);
    if (strcmp(argv[1], "speed") == 0) {
        run_speed((unsigned)number);
    } else if (strcmp(argv[1], "memory") == 0) {
        run_memory(number);
    } else if (argc == 5 && number <= HOSTS_MAX) {
        run_traffic((unsigned)number, (unsigned)strtoul(argv[4], NULL, 10));
    }
    event_base_free(base);
    return 0;
}
