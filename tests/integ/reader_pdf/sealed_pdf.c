/*
 * sealed_pdf - the reader of PDF files in a process that can open no file.
 *
 *   sealed_pdf FILE                  prints the texts, links and codes of the file
 *   sealed_pdf FILE ROUNDS SEED      reads damaged copies of it in children with 10 s of CPU
 *
 * The last line of the second form is "rounds N, records N, died N, slow N". A child dies by a
 * fault of a library, which the sandbox is for; a slow one is a failure. Exit status: 0, 1 slow.
 */
#include <sys/wait.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/reader/pool/dispatch.h"
#include "core/reader/pool/sandbox.h"
#include "core/reader/wire/format.h"

enum {
    FILE_MOST = 64 << 20,
    CPU_SECONDS = 10,
    MEMORY = 512 << 20,
    GROUP = 5,     /* copies for one child */
    HITS_MOST = 12 /* places that are damaged at once */
};

static bool is_printed; /* else they are counted */
static uint64_t nrecords;

static void print(const struct record *r)
{
    static const char *const kinds[RECORD_KINDS] = {
        [RECORD_TEXT] = "text", [RECORD_LINK] = "link", [RECORD_CODE] = "code"};

    nrecords++;
    if (is_printed && kinds[r->kind] != NULL) {
        (void)printf("%s%s %.*s\n", kinds[r->kind], r->detail == 1 ? "!" : "",
                     SLICE_ARGS(r->value));
        (void)fflush(stdout); /* the library may end the process */
    }
}

/* The readers write whole records. */
static bool on_records(void *context, struct slice bytes)
{
    struct record r;

    (void)context;
    while (record_next(&bytes, &r) == RECORD_OK) {
        print(&r);
    }
    return bytes.n == 0;
}

/* Enters the sandbox of a process that reads one file. */
static void seal(void)
{
    struct errinfo why;

    if (sandbox_enter(SANDBOX_POOL, &why) != ERR_OK ||
        sandbox_bound(MEMORY, CPU_SECONDS, &why) != ERR_OK ||
        sandbox_enter(SANDBOX_FILE, &why) != ERR_OK) {
        (void)printf("sealed_pdf: %s\n", why.text);
        _exit(64);
    }
}

static void read_bytes(struct slice bytes)
{
    const struct reader_job job = {.bytes = bytes,
                                   .limits = {1000, 16 << 20, 200, 3, 16 << 20, false}};
    struct found *f = found_new(&job, on_records, NULL);

    if (f != NULL) {
        reader_read(&job, f);
        found_free(&f);
    }
}

static uint64_t drawn;

static size_t draw(size_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(drawn >> 33) % below;
}

/* Flips bytes, cuts the end, doubles or moves a piece. */
static void damage(struct buf *b)
{
    const size_t nhits = 1 + draw(HITS_MOST);

    for (size_t i = 0; i < nhits && b->n > 64; i++) {
        const size_t at = draw(b->n - 32);
        const size_t to = draw(b->n - 32);
        switch (draw(6)) {
        case 0:
        case 1:
            b->p[at] = (char)(unsigned char)draw(256);
            break;
        case 2:
            b->p[at] = "0123456789<>[]()/% "[draw(19)];
            break;
        case 3:
            memmove(b->p + to, b->p + at, draw(32));
            break;
        case 4:
            b->p[at] = (char)((unsigned char)b->p[at] ^ (1U << draw(8)));
            break;
        default:
            if (draw(8) == 0) {
                b->n = at + 32;
            }
        }
    }
}

struct tally {
    uint64_t nrecords;
    unsigned died;
    unsigned slow;
};

/* Reads n damaged copies in a sandbox and writes the number of records to fd. Does not return. */
static void read_copies(struct slice whole, uint64_t first, unsigned n, int fd)
{
    seal();
    for (unsigned i = 0; i < n; i++) {
        struct buf copy;
        buf_init(&copy, FILE_MOST);
        buf_add(&copy, whole);
        drawn = first + i;
        damage(&copy);
        read_bytes(buf_slice(&copy));
        buf_fini(&copy);
    }
    _exit(write(fd, &nrecords, sizeof(nrecords)) > 0 ? 0 : 1);
}

/* Returns false, and counts nothing, when one of several copies ended the child. */
static bool read_in_child(struct slice whole, uint64_t first, unsigned n,
                          struct tally *t)
{
    int status = 0;
    int ends[2];
    uint64_t nread = 0;

    if (pipe(ends) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        read_copies(whole, first, n, ends[1]);
    }
    (void)close(ends[1]);
    const bool is_whole = read(ends[0], &nread, sizeof(nread)) == sizeof(nread);
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    if (is_whole) {
        t->nrecords += nread;
    } else if (n == 1 && WIFSIGNALED(status) &&
               (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
        t->slow++;
    } else if (n == 1) {
        t->died++;
        (void)printf("copy %llu: status %d\n", (unsigned long long)first, status);
    }
    return is_whole;
}

/* A child reads several copies; those of one that died are read again, one by one. */
static unsigned read_damaged(struct slice whole, uint64_t seed, unsigned rounds)
{
    struct tally t = {0};

    for (unsigned i = 0; i < rounds; i += GROUP) {
        const unsigned n = rounds - i < GROUP ? rounds - i : GROUP;
        const uint64_t first = seed + i;
        if (!read_in_child(whole, first, n, &t)) {
            for (unsigned k = 0; k < n; k++) {
                (void)read_in_child(whole, first + k, 1, &t);
            }
        }
    }
    (void)printf("rounds %u, records %llu, died %u, slow %u\n", rounds,
                 (unsigned long long)t.nrecords, t.died, t.slow);
    return t.slow;
}

int main(int argc, char **argv)
{
    static struct buf file;
    struct errinfo why;

    if (base_init() != ERR_OK || (argc != 2 && argc != 4)) {
        return 64;
    }
    buf_init(&file, FILE_MOST);
    if (file_read(argv[1], &file, &why) != ERR_OK) {
        (void)fprintf(stderr, "sealed_pdf: %s\n", why.text);
        return 64;
    }
    pdf_warm();
    (void)close(STDERR_FILENO); /* poppler names fonts that it cannot open */
    if (argc == 4) {
        return read_damaged(buf_slice(&file), strtoull(argv[3], NULL, 10),
                            (unsigned)strtoul(argv[2], NULL, 10)) > 0;
    }
    is_printed = true;
    seal();
    read_bytes(buf_slice(&file));
    _exit(
        0); /* a sanitizer that looks for leaks would want more than the sandbox permits */
}
