/*
 * bench_count - speed and error of counting, with filters, sketches and Redis.
 *
 * Usage: bench_count [--case NAME] [--keys N] [--threads T] [--redis PROGRAM]    JSON lines
 * Workload: 14 days of the traffic model (core/count/traffic.h) with about N different keys
 * (default 10 million; about 1.7 additions each), by T threads (default: 1, then 2), each with its
 * own stream. keys_per_s is the rate of adding a key and reading its count in one call, from ready
 * digests. All threads start each round of 32,000 keys together, and the median round of the
 * slowest thread is taken. The rate by CPU time is the same if no other program takes the
 * processor. Shares are of all different keys, compared with exact counts. Exit status 1 if a count
 * is below the truth. redis-incr starts a private redis-server in a temporary folder and sends
 * pipelined INCR through a Unix socket. The program is searched in the PATH and where
 * contrib/install-deps bench unpacks it.
 */
#include "tests/bench/bench_count.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/version.h"

/* One row a case; a name may stand for several lines. */
static const struct bench_case cases[] = {
    {"flat-8bit-m16-k6", bench_flat},
    {"flat-8bit-m16-k6-hot", bench_flat},
    {"flat-8bit-m16-k6-intuitive", bench_flat},
    {"flat-5bit-m16-k6", bench_flat},
    {"split-5bit-m16-k6", bench_split},
    {"windows", bench_windows},
    {"windows-hot", bench_windows},
    {"redis-incr", bench_redis},
};

static bool is_under; /* some line told of an undercount */

void bench_fail(const char *what)
{
    fprintf(stderr, "bench_count: %s\n", what);
    exit(2);
}

static void print_share(const char *name, double share)
{
    if (share < 0) {
        printf("\"%s\":null,", name);
    } else {
        printf("\"%s\":%.9f,", name, share);
    }
}

static void print_machine(void)
{
    char line[256];
    char name[128] = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "model name : %127[^\n\"\\]", name) == 1) {
            break;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    double load = 0;
    (void)getloadavg(&load, 1);
    printf("\"build\":\"" GILLNET_VERSION " " __VERSION__
           "\",\"machine\":\"%s, %ld cpus, load %.1f\"}\n",
           name, sysconf(_SC_NPROCESSORS_ONLN), load);
    (void)fflush(stdout);
}

void bench_print(const struct bench_line *line)
{
    printf("{\"case\":\"%s\",\"keys_per_s\":%.0f,\"threads\":%u,", line->name,
           line->keys_per_s, line->threads);
    print_share("wrong_share", line->wrong_share);
    print_share("false_ge10_share", line->false_ge10_share);
    printf("\"undercounts\":%" PRIu64 ",\"workload\":\"%s", line->undercounts,
           line->workload);
    if (line->cpu_keys_per_s > 0) {
        printf("; by CPU time %.0f keys/s", line->cpu_keys_per_s);
    }
    printf("\",");
    print_machine();
    is_under = is_under || line->undercounts != 0;
}

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
    char *end = NULL;
    uint64_t n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || n < least || n > most) {
        return false;
    }
    *ret = n;
    return true;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: bench_count [--case NAME] [--keys N] [--threads T] "
                          "[--redis PROGRAM]\ncases:");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)fprintf(stderr, " %s", cases[i].name);
    }
    (void)fputc('\n', stderr);
    return 64;
}

static bool parse_options(int argc, char **argv, struct bench_options *o,
                          const char **retcase)
{
    static const struct option options[] = {
        {"case", required_argument, NULL, 'c'},
        {"keys", required_argument, NULL, 'k'},
        {"threads", required_argument, NULL, 't'},
        {"redis", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    uint64_t threads = 0;
    for (int c = 0; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        bool is_good = true;
        switch (c) {
        case 'c':
            *retcase = optarg;
            break;
        case 'k':
            is_good = parse_number(optarg, 1000, UINT64_C(10000000000), &o->keys);
            break;
        case 't':
            is_good = parse_number(optarg, 1, BENCH_THREADS_MAX, &threads);
            break;
        case 'r':
            o->redis = optarg;
            break;
        default:
            is_good = false;
            break;
        }
        if (!is_good) {
            return false;
        }
    }
    o->threads = (unsigned)threads;
    return optind == argc;
}

int main(int argc, char **argv)
{
    struct bench_options o = {.keys = 10000000};
    const char *wanted = NULL;
    bool is_known = false;
    if (!parse_options(argc, argv, &o, &wanted)) {
        return usage();
    }
    if (base_init() != ERR_OK) {
        return 2;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!wanted || strcmp(wanted, cases[i].name) == 0) {
            is_known = true;
            cases[i].run(&o, cases[i].name);
        }
    }
    if (!is_known) {
        return usage();
    }
    return is_under ? 1 : 0;
}
