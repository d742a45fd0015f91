/*
 * bench_bloomfile - a filter file held as a copy and as a map, by two processes at once.
 *
 * Usage: bench_bloomfile [MIB]   (the filter's size, 1024). One JSON line for each way.
 * Workload: a filter file of random bits, half of them set, one line a key, k = 9, in the current
 * folder (its file system counts) and in the page cache. Two processes open it and verify all
 * checksums. open_s is the time of the first; cold_open_s is the time after the file left the page
 * cache. Then each tests 16 million random digests in batches, one process at a time; ns is the
 * time of the first. private_mib is the private memory of both processes, shared_mib the pages of
 * the file that they share (Private_* and Shared_* of smaps_rollup, sums over both). huge_mib is
 * the part in huge pages.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/filter/bloomfile.h"

enum { DEFAULT_MIB = 1024, LINES_PER_MIB = 1 << 14, ASKED = 16000000, BATCH = 256 };
#define NAME "bench_bloomfile.tmp"

static const struct hashkey key = {.id = 1, .bytes = "0123456789abcde"};

/* Measurements of one process. */
struct told {
    double open_s;
    double ns;
    uint64_t hits;
    double private_kib;
    double shared_kib;
    double huge_kib;
};

static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static enum err make(uint64_t nlines, struct errinfo *reterr)
{
    struct bloomfile f = {0};
    uint64_t state = 1;
    enum err e = bloomfile_new(&f, BLOOM_ONE_LINE, nlines, 9, &key, reterr);
    for (uint64_t i = 0; e == ERR_OK && i < nlines * 8; i++) {
        f.bloom.words[i] = next_word(&state);
    }
    if (e == ERR_OK) {
        f.facts.entries = nlines * 32;
        e = bloomfile_write(&f, NAME, reterr);
    }
    bloomfile_close(&f);
    return e;
}

static void ask(const struct bloomfile *f, struct told *t)
{
    struct digest d[BATCH];
    uint8_t hit[BATCH];
    uint64_t state = (uint64_t)getpid();
    uint64_t us = 0;
    for (unsigned done = 0; done < ASKED; done += BATCH) {
        for (unsigned i = 0; i < BATCH; i++) {
            uint64_t half[2] = {next_word(&state), next_word(&state)};
            memcpy(d[i].b, half, sizeof(half));
        }
        uint64_t start = clock_mono_us();
        bloom_test_batch(&f->bloom, d, BATCH, hit);
        us += clock_mono_us() - start;
        for (unsigned i = 0; i < BATCH; i++) {
            t->hits += hit[i];
        }
    }
    t->ns = (double)us * 1000 / ASKED;
}

static void memory(struct told *t)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "Private_%*[^:]: %lf kB", &kib) == 1) {
            t->private_kib += kib;
        } else if (sscanf(line, "Shared_%*[^:]: %lf kB", &kib) == 1) {
            t->shared_kib += kib;
        } else if (sscanf(line, "AnonHugePages: %lf kB", &kib) == 1) {
            t->huge_kib += kib;
        }
    }
    if (f) {
        (void)fclose(f);
    }
}

/* Opens when it gets a byte, asks at the next, tells what it takes at the third. */
static int child(enum bloomfile_hold hold, int in, int out)
{
    struct bloomfile f = {0};
    struct errinfo info = {.code = ERR_OK};
    struct told t = {0};
    struct bloomfile_want want = {.key = &key, .hold = hold};
    char c = 0;
    uint64_t start = clock_mono_us();
    if (bloomfile_open(&f, NAME, &want, &info) != ERR_OK) {
        (void)fprintf(stderr, "%s\n", info.text);
        return 1;
    }
    t.open_s = (double)(clock_mono_us() - start) / 1e6;
    if (write(out, "o", 1) != 1 || read(in, &c, 1) != 1) {
        return 1;
    }
    ask(&f, &t);
    if (write(out, "a", 1) != 1 || read(in, &c, 1) != 1) {
        return 1;
    }
    memory(&t);
    int status =
        write(out, &t, sizeof(t)) == (ssize_t)sizeof(t) && read(in, &c, 1) == 1 ? 0 : 1;
    bloomfile_close(&f);
    return status;
}

struct process {
    pid_t pid;
    int to;
    int from;
};

static int start(struct process *p, enum bloomfile_hold hold)
{
    int to[2];
    int from[2];
    char c = 0;
    if (pipe(to) != 0 || pipe(from) != 0 || (p->pid = fork()) < 0) {
        return 1;
    }
    if (p->pid == 0) {
        _exit(child(hold, to[0], from[1]));
    }
    (void)close(to[0]);
    (void)close(from[1]);
    p->to = to[1];
    p->from = from[0];
    return read(p->from, &c, 1) == 1 ? 0 : 1;
}

static int step(const struct process *p, void *ret, size_t n)
{
    return write(p->to, "n", 1) == 1 && read(p->from, ret, n) == (ssize_t)n ? 0 : 1;
}

static void drop_cache(void)
{
    int fd = open(NAME, O_RDONLY | O_CLOEXEC);
    (void)fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
}

static double cold_open(enum bloomfile_hold hold)
{
    struct bloomfile f = {0};
    struct bloomfile_want want = {.key = &key, .hold = hold};
    drop_cache();
    uint64_t begin = clock_mono_us();
    enum err e = bloomfile_open(&f, NAME, &want, NULL);
    double s = (double)(clock_mono_us() - begin) / 1e6;
    bloomfile_close(&f);
    return e == ERR_OK ? s : -1;
}

static int measure(enum bloomfile_hold hold, uint64_t mib)
{
    struct process p[2];
    struct told t[2];
    struct utsname machine = {0};
    char c = 0;
    double cold = cold_open(hold);
    for (int i = 0; i < 2; i++) {
        if (start(&p[i], hold) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        if (step(&p[i], &c, 1) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        if (step(&p[i], &t[i], sizeof(t[i])) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        (void)!write(p[i].to, "e", 1);
        (void)waitpid(p[i].pid, NULL, 0);
    }
    (void)uname(&machine);
    printf(
        "{\"workload\":\"%" PRIu64 " MiB, one line, k 9, %d random digests in batches "
        "of %d, two processes\",\"build\":\"" GILLNET_VERSION
        "\",\"machine\":\"%s %ld cpus\",\"hold\":\"%s\",\"mib\":%" PRIu64
        ",\"open_s\":%.3f,\"cold_open_s\":%.3f,\"ns\":%.1f,\"ns_second\":%.1f,"
        "\"private_mib\":%.0f,\"shared_mib\":%.0f,\"huge_mib\":%.0f,\"hits\":%" PRIu64
        "}\n",
        mib, ASKED, BATCH, machine.machine, sysconf(_SC_NPROCESSORS_ONLN),
        hold == BLOOMFILE_MAP ? "map" : "copy", mib, t[0].open_s, cold, t[0].ns,
        t[1].ns, (t[0].private_kib + t[1].private_kib) / 1024,
        (t[0].shared_kib > t[1].shared_kib ? t[0].shared_kib : t[1].shared_kib) / 1024,
        (t[0].huge_kib + t[1].huge_kib) / 1024, t[0].hits + t[1].hits);
    (void)fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    struct errinfo info = {.code = ERR_OK};
    uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_MIB;
    if (base_init() != ERR_OK || mib == 0) {
        (void)fprintf(stderr, "usage: bench_bloomfile [MIB]\n");
        return 64;
    }
    int status = 1;
    if (make(mib * LINES_PER_MIB, &info) == ERR_OK) {
        status = measure(BLOOMFILE_COPY, mib) || measure(BLOOMFILE_MAP, mib);
    } else {
        (void)fprintf(stderr, "%s\n", info.text);
    }
    (void)unlink(NAME);
    return status;
}
