/*
 * mutations - damages each file many times and has it unpacked in a process of its own.
 *
 *   mutations ROUNDS FILE...
 *   mutations names FILE
 *
 * A fault of the library is permitted if it is rare: the sandbox is for that. Not permitted: records that cannot
 * be read, 10 s of processor time, a report of a sanitizer (status 1). Writes the results of the
 * rounds, or the names of the files in an archive. The process can open no file, as in the sandbox.
 * Exit status: 0, 1.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/reader/wire/format.h"

enum {
    FILE_MOST = 8 << 20,
    MEMORY_MOST = 512 << 20,
    SECONDS_MOST = 10,
    FAULTS_RARE = 100,
    RECORDS_MOST = 64 << 20
};

static bool on_records(void *context, struct slice bytes)
{
    buf_add(context, bytes);
    return true;
}

static void limit(int resource, rlim_t most)
{
    (void)setrlimit((__rlimit_resource_t)resource, &(struct rlimit){most, most});
}

static void print_name(const struct record *r)
{
    if (r->kind == RECORD_FILE_BEGIN) {
        (void)printf("%.*s\n", (int)slice_find(r->value, '\0'), r->value.p);
    }
}

/* In the child. */
static int unpack(struct slice bytes, bool with_names)
{
    static const struct slice passwords[] = {{"wrong", 5}, {"secret", 6}};
    const struct reader_job job = {.bytes = bytes,
                                   .password = passwords,
                                   .npasswords = LENGTH(passwords),
                                   .limits = {1000, 4 << 20, 200, 1, 1, false}};
    struct buf out;
    struct record r;
    enum record_step step;

    buf_init(&out, RECORDS_MOST);
    struct found *f = found_new(&job, on_records, &out);
    if (f == NULL) {
        return 2;
    }
    unpack_read(&job, f);
    found_free(&f);
    struct slice rest = buf_slice(&out);
    do {
        step = record_next(&rest, &r);
        if (with_names && step == RECORD_OK) {
            print_name(&r);
        }
    } while (step == RECORD_OK && r.kind != RECORD_END);
    (void)fflush(stdout);
    const bool is_right = step == RECORD_OK && rest.n == 0 && !buf_failed(&out);
    buf_fini(&out);
    return is_right ? 0 : 2;
}

/* Flips, cuts, doubles or overwrites a part. */
static void mutate(struct prng *p, struct buf *b, struct slice whole)
{
    const size_t at = (size_t)prng_below(p, whole.n);
    const size_t n = 1 + (size_t)prng_below(p, 64);

    buf_clear(b);
    switch (prng_below(p, 4)) {
    case 0: /* cut the end */
        buf_add(b, slice_head(whole, at));
        return;
    case 1: /* cut out */
        buf_add(b, slice_head(whole, at));
        buf_add(b, slice_from(whole, at + n));
        return;
    case 2: /* double */
        buf_add(b, slice_head(whole, at + n));
        buf_add(b, slice_from(whole, at));
        return;
    default:
        buf_add(b, whole);
        for (size_t i = 0; i < 1 + n / 8; i++) {
            b->p[prng_below(p, whole.n)] = (char)prng_below(p, 256);
        }
    }
}

enum outcome { RECORDS, FAULT, WRONG, SLOW, OUTCOMES };

static enum outcome run(struct slice bytes, bool with_names)
{
    int status = 0;

    (void)fflush(stdout);
    const pid_t pid = fork();

    if (pid == 0) {
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
        limit(RLIMIT_AS, MEMORY_MOST);
#endif
        limit(RLIMIT_NOFILE, 0);
        limit(RLIMIT_CPU, SECONDS_MOST);
        limit(RLIMIT_CORE, 0);
        _exit(unpack(bytes, with_names));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        return WRONG;
    }
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == 0 ? RECORDS : WRONG;
    }
    return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? SLOW : FAULT;
}

static void report(const char *path, int round, enum outcome how)
{
    static const char *const words[OUTCOMES] = {[RECORDS] = "read",
                                                [FAULT] = "fault of the library",
                                                [WRONG] = "wrong",
                                                [SLOW] = "too slow"};

    if (how != RECORDS) {
        (void)printf("%s round %d: %s\n", path, round, words[how]);
    }
}

/* Damages a file in each round and counts the outcomes. */
static void run_rounds(const char *path, struct slice whole, uint64_t seed, int rounds,
                       size_t n[OUTCOMES])
{
    struct buf damaged;
    struct prng p;

    buf_init(&damaged, FILE_MOST);
    prng_init(&p, 1, seed);
    for (int round = 0; round < rounds; round++) {
        mutate(&p, &damaged, whole);
        const enum outcome how = run(buf_slice(&damaged), false);
        n[how]++;
        report(path, round, how);
    }
    buf_fini(&damaged);
}

int main(int argc, char **argv)
{
    const bool with_names = argc > 2 && strcmp(argv[1], "names") == 0;
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    size_t n[OUTCOMES] = {0};

    if (base_init() != ERR_OK) {
        return 1;
    }
    unpack_warm();
    for (int i = 2; i < argc; i++) {
        struct buf whole;
        struct errinfo why;

        buf_init(&whole, FILE_MOST);
        if (file_read(argv[i], &whole, &why) != ERR_OK || whole.n == 0) {
            (void)fprintf(stderr, "mutations: %s\n", argv[i]);
            return 1;
        }
        if (with_names) {
            n[run(buf_slice(&whole), true)]++;
        } else {
            run_rounds(argv[i], buf_slice(&whole), (uint64_t)i, rounds, n);
        }
        buf_fini(&whole);
    }
    if (!with_names) {
        (void)printf("%zu read, %zu faults of the library, %zu wrong, %zu too slow\n",
                     n[RECORDS], n[FAULT], n[WRONG], n[SLOW]);
    }
    /* many faults are no accident of the library's */
    return n[FAULT] <= n[RECORDS] / FAULTS_RARE && n[WRONG] + n[SLOW] == 0 ? 0 : 1;
}
