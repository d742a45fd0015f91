/*
 * mutate - reads mutated files in processes of their own and says how they ended.
 *
 *   mutate COUNT FILE...
 *
 * COUNT mutations of each file: bytes changed, cut out, or doubled. Each runs with SECONDS of
 * processor time and MEMORY of address space. Prints one line of JSON. Exit status: 0; 1 a file ran
 * into the limit of time, its records are wrong, or a sanitizer found something.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/reader/pool/dispatch.h"

#if defined(__SANITIZE_ADDRESS__)
#    define IS_SANITIZED true
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define IS_SANITIZED true
#    endif
#endif
#ifndef IS_SANITIZED
#    define IS_SANITIZED false
#endif

enum {
    SECONDS = 10,
    MEMORY = 512 << 20,
    FILE_MOST = 1 << 22,
    CHANGES_MOST = 8,
    WRONG = 3 /* exit status: the records are wrong */
};

struct counts {
    unsigned files;
    unsigned crashes; /* of a library: permitted */
    unsigned hangs;
    unsigned wrong;
};

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void mutate(struct buf *b, struct slice file, uint32_t *state)
{
    const uint32_t at = next_random(state) % (uint32_t)file.n;
    const uint32_t n = next_random(state) % 64 + 1;
    const struct slice rest = slice_from(file, at);

    buf_clear(b);
    switch (next_random(state) % 4) {
    case 0: /* cut off */
        buf_add(b, slice_head(file, at));
        break;
    case 1: /* cut out */
        buf_add(b, slice_head(file, at));
        buf_add(b, slice_from(rest, n));
        break;
    case 2: /* doubled */
        buf_add(b, slice_head(file, at));
        buf_add(b, slice_head(rest, n));
        buf_add(b, rest);
        break;
    default:
        buf_add(b, file);
        for (uint32_t i = next_random(state) % CHANGES_MOST + 1; i > 0; i--) {
            /* more often at the front, where the sizes stand */
            const uint32_t most = next_random(state) % 2 == 0 ? 64 : (uint32_t)b->n;
            b->p[next_random(state) % most % (uint32_t)b->n] = (char)next_random(state);
        }
    }
}

static bool on_records(void *context, struct slice bytes)
{
    buf_add(context, bytes);
    return !buf_failed(context);
}

/* In the child. Returns its exit status. */
static int read_file(struct slice bytes)
{
    const struct reader_job job = {.bytes = bytes,
                                   .limits = {1000, 8 << 20, 200, 4, 1 << 20, false}};
    struct buf records;
    struct record r;

    buf_init(&records, FILE_MOST * 4);
    struct found *f = found_new(&job, on_records, &records);
    if (f == NULL) {
        return WRONG;
    }
    reader_read(&job, f);
    found_free(&f);
    struct slice rest = buf_slice(&records);
    while (record_next(&rest, &r) == RECORD_OK) {
        continue;
    }
    const int status = rest.n == 0 ? 0 : WRONG;
    buf_fini(&records);
    return status;
}

static void set_limit(int resource, rlim_t most)
{
    const struct rlimit limit = {most, most};

    if (setrlimit((__rlimit_resource_t)resource, &limit) != 0) {
        _exit(WRONG);
    }
}

static void run(struct slice bytes, struct counts *counts)
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        set_limit(RLIMIT_CPU, SECONDS);
        set_limit(RLIMIT_CORE, 0);
        if (!IS_SANITIZED) {
            set_limit(RLIMIT_AS, MEMORY);
        }
        _exit(read_file(bytes));
    }
    counts->files++;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        counts->wrong++;
    } else if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        counts->hangs += signal == SIGXCPU || signal == SIGKILL;
        counts->crashes += signal != SIGXCPU && signal != SIGKILL;
    } else {
        counts->wrong += WEXITSTATUS(status) != 0;
    }
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    struct errinfo why;
    uint32_t state = 20261128;
    struct buf file;
    struct buf mutated;

    if (argc < 3 || base_init() != ERR_OK) {
        (void)fputs("usage: mutate COUNT FILE...\n", stderr);
        return 64;
    }
    buf_init(&file, FILE_MOST);
    buf_init(&mutated, FILE_MOST);
    for (int i = 2; i < argc; i++) {
        buf_clear(&file);
        if (file_read(argv[i], &file, &why) != ERR_OK || file.n == 0) {
            (void)fprintf(stderr, "mutate: %s: %s\n", argv[i], why.text);
            return 1;
        }
        for (unsigned long n = strtoul(argv[1], NULL, 10); n > 0; n--) {
            mutate(&mutated, buf_slice(&file), &state);
            run(buf_slice(&mutated), &counts);
        }
    }
    (void)printf(
        "{\"test\":\"reader_mutated\",\"files\":%u,\"crashes\":%u,\"hangs\":%u,"
        "\"wrong\":%u}\n",
        counts.files, counts.crashes, counts.hangs, counts.wrong);
    buf_fini(&file);
    buf_fini(&mutated);
    return counts.hangs == 0 && counts.wrong == 0 ? 0 : 1;
}
