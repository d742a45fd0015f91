/*
 * drip [-a] [-n MESSAGES] [-s STEP] [-j JOBS] PATH... - mail yields the same features wherever it
 * is cut.
 *
 * Takes from the files below PATH... those MESSAGES (60) whose SHA-256 is lowest, with -a all. Each
 * is extracted whole, byte by byte, and once for each STEPth offset (1) of the first 4 KiB, cut
 * there and at random offsets after it. At each eighth of these offsets its body alone is cut, as a
 * milter gets it. Type, text and place of every feature and the limits met must be the same, in the
 * same order. Exit 0 the same, 1 not, 64 usage or no message.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/message/extract/extract.h"

enum {
    FILES_MAX = 20000,
    FILE_CAP = 64 << 20,
    ARENA_CAP = 64 << 20,
    CUT_HEAD = 4096,
    BODY_STEP = 8,  /* times STEP: the rest of the way is the same */
    CUT_FAR = 8192, /* random pieces after it are up to this long */
    CHUNK_MAX = 65535,
    JOBS_MAX = 64
};

struct file {
    char *path;
    char sum[SHA256_HEX + 1];
};

static struct file files[FILES_MAX];
static size_t nfiles;

static struct extract_limits limits = {
    .mail = {.message_bytes = 16 << 20,
             .decoded_bytes = 32 << 20,
             .headers = 1000,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 500,
             .depth = 32},
    .urls = 500,
    .recipients = 1000,
};

static const struct hashkey ring = {.id = 1, .bytes = "any sixteen byte"};
static char trusted_name[] = "mx.example";
static char *const trusted[] = {trusted_name};

/* Where to cut: pieces of `step` up to `head`, then of random length. */
struct cuts {
    size_t head;
    size_t step;
    bool is_random;
    bool is_milter; /* header fields one by one, then the body */
    uint32_t random;
};

static size_t next_random(struct cuts *c, size_t below)
{
    c->random = c->random * 1664525U + 1013904223U;
    return (size_t)(c->random >> 8) % below;
}

static size_t next_piece(struct cuts *c, size_t at, size_t rest)
{
    size_t n = CHUNK_MAX;

    if (at < c->head) {
        n = c->head - at < c->step ? c->head - at : c->step;
    } else if (c->is_random) {
        n = 1 + next_random(c, CUT_FAR);
    }
    return n < rest ? n : rest;
}

/* Where the body begins, if the header ends as it should. */
static size_t body_of(struct slice message)
{
    size_t lf = slice_find_slice(message, SLICE_LIT("\n\n")) + 2;
    size_t crlf = slice_find_slice(message, SLICE_LIT("\r\n\r\n")) + 4;
    size_t at = lf < crlf ? lf : crlf;

    return at < message.n ? at : 0;
}

/* Passes the fields as a milter does, without mbox lines and lines that are not fields. */
static void give_header(struct extract *x, struct slice header)
{
    while (header.n > 0) {
        size_t end = slice_find(header, '\n');
        struct slice field;

        while (end + 1 < header.n &&
               (header.p[end + 1] == ' ' || header.p[end + 1] == '\t')) {
            end = end + 1 + slice_find(slice_from(header, end + 1), '\n');
        }
        field = slice_trim(slice_head(header, end));
        header = slice_from(header, end + 1);
        if (slice_find(field, ':') < field.n) {
            struct slice name = slice_cut(&field, ':');

            extract_header(x, name, slice_trim(field));
        }
    }
    extract_end_of_headers(x);
}

static struct featureset *extract(struct arena *arena, struct slice message,
                                  struct cuts cuts)
{
    struct extract *x = extract_new(arena, &limits, trusted, 1);
    size_t body = cuts.is_milter ? body_of(message) : 0;
    size_t at = 0;

    if (x == NULL) {
        return NULL;
    }
    if (cuts.is_milter) {
        give_header(x, slice_head(message, body));
        message = slice_from(message, body);
    }
    while (at < message.n) {
        size_t n = next_piece(&cuts, at, message.n - at);

        if (cuts.is_milter) {
            extract_body(x, slice_of(message.p + at, n));
        } else {
            extract_raw(x, slice_of(message.p + at, n));
        }
        at += n;
    }
    return extract_finish(x);
}

static bool same_place(const struct feature *a, const struct feature *b)
{
    if (a->place == NULL || b->place == NULL) {
        return a->place == b->place;
    }
    return a->offset == b->offset && slice_eq(a->place->part, b->place->part) &&
           slice_eq(a->place->header, b->place->header);
}

static void show(const char *which, const struct feature *f)
{
    const struct feature_info *info = feature_info((enum feature_type)f->type);
    struct feature_place none = {.part = SLICE_NONE};
    const struct feature_place *place = f->place != NULL ? f->place : &none;

    printf("    %s %s \"%.*s\" at %.*s %.*s %u\n", which, info->name,
           SLICE_ARGS(f->text), SLICE_ARGS(place->part), SLICE_ARGS(place->header),
           f->offset);
}

static bool same(const struct featureset *a, const struct featureset *b)
{
    size_t n = featureset_count(a);

    for (size_t i = 0; i < n && i < featureset_count(b); i++) {
        const struct feature *f = featureset_at(a, i);
        const struct feature *g = featureset_at(b, i);

        if (f->type != g->type || !slice_eq(f->text, g->text) || !same_place(f, g)) {
            show("whole", f);
            show("cut  ", g);
            return false;
        }
    }
    if (n != featureset_count(b) || featureset_limits(a) != featureset_limits(b)) {
        printf("    whole %zu features, limits %x; cut %zu, %x\n", n,
               featureset_limits(a), featureset_count(b), featureset_limits(b));
        return false;
    }
    return true;
}

/* One message in every way; false: a difference, which is printed. */
static bool check(struct arena *arenas[2], const char *path, struct slice message,
                  size_t step, bool is_milter)
{
    struct cuts cuts = {.head = message.n, .step = 1, .is_milter = is_milter};
    const struct featureset *whole =
        extract(arenas[0], message, (struct cuts){.is_milter = is_milter});
    bool good = whole != NULL;

    for (size_t at = 0; good && at <= CUT_HEAD && at < message.n; at += step) {
        const struct featureset *cut = extract(arenas[1], message, cuts);

        if (cut == NULL || !same(whole, cut)) {
            printf("  %s, %s: cut %s %zu\n", path, is_milter ? "body" : "raw",
                   at == 0 ? "at every byte" : "at", at == 0 ? (size_t)1 : cuts.head);
            good = false;
        }
        arena_reset(arenas[1]);
        cuts = (struct cuts){.head = at + step,
                             .step = at + step,
                             .is_random = true,
                             .is_milter = is_milter,
                             .random = (uint32_t)(at + message.n)};
    }
    arena_reset(arenas[0]);
    return good;
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    size_t n = strlen(path);
    const char *suffix = n > 4 ? path + n - 4 : path;
    bool is_mail = strcmp(suffix, ".eml") == 0 || strcmp(suffix, ".msg") == 0 ||
                   strstr(path, "/seeds/") != NULL;
    struct buf bytes;
    struct sha256 sum;

    (void)st, (void)ftw;
    if (type != FTW_F || !is_mail || nfiles == FILES_MAX) {
        return 0;
    }
    buf_init(&bytes, FILE_CAP);
    if (file_read(path, &bytes, NULL) == ERR_OK && sha256_init(&sum) == ERR_OK) {
        sha256_add(&sum, buf_slice(&bytes));
        sha256_final_hex(&sum, files[nfiles].sum);
        sha256_fini(&sum);
        files[nfiles].path = strdup(path);
        nfiles += files[nfiles].path != NULL ? 1 : 0;
    }
    buf_fini(&bytes);
    return 0;
}

static int by_sum(const void *a, const void *b)
{
    const struct file *x = a;
    const struct file *y = b;

    return strcmp(x->sum, y->sum);
}

/* Every jobs-th file from the first on; how many differ. */
static int work(size_t first, size_t jobs, size_t count, size_t step)
{
    struct arena *arenas[2] = {arena_new(ARENA_CAP), arena_new(ARENA_CAP)};
    int failed = arenas[0] == NULL || arenas[1] == NULL;

    for (size_t i = first; failed == 0 && i < count; i += jobs) {
        struct buf bytes;

        buf_init(&bytes, FILE_CAP);
        if (file_read(files[i].path, &bytes, NULL) != ERR_OK ||
            !check(arenas, files[i].path, buf_slice(&bytes), step, false) ||
            !check(arenas, files[i].path, buf_slice(&bytes), step * BODY_STEP, true)) {
            failed = 1;
        }
        buf_fini(&bytes);
    }
    arena_free(&arenas[0]);
    arena_free(&arenas[1]);
    return failed;
}

static int work_in_processes(size_t jobs, size_t count, size_t step)
{
    pid_t pids[JOBS_MAX];
    int failed = 0;

    for (size_t i = 0; i < jobs; i++) {
        (void)fflush(stdout);
        pids[i] = fork();
        if (pids[i] == 0) {
            int status = work(i, jobs, count, step);

            (void)fflush(stdout);
            _exit(status);
        }
    }
    for (size_t i = 0; i < jobs; i++) {
        int status = 0;

        failed += pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0;
    }
    return failed;
}

int main(int argc, char **argv)
{
    size_t count = 60;
    size_t step = 1;
    size_t jobs = 1;
    int option = 0;
    int failed = 0;

    while ((option = getopt(argc, argv, "an:s:j:")) != -1) {
        if (option == 'a') {
            count = FILES_MAX;
        } else if (option == 'n') {
            count = strtoul(optarg, NULL, 10);
        } else if (option == 's') {
            step = strtoul(optarg, NULL, 10);
        } else if (option == 'j') {
            jobs = strtoul(optarg, NULL, 10);
        } else {
            return 64;
        }
    }
    if (base_init() != ERR_OK || step == 0 || jobs == 0 || jobs > JOBS_MAX) {
        return 64;
    }
    for (int i = optind; i < argc; i++) {
        (void)nftw(argv[i], add_file, 16, FTW_PHYS);
    }
    if (nfiles == 0) {
        (void)fprintf(stderr, "drip: no messages\n");
        return 64;
    }
    shingle_keys_make(&ring, 0, &limits.imprint.keys);
    qsort(files, nfiles, sizeof(files[0]), by_sum);
    count = count < nfiles ? count : nfiles;
    failed = work_in_processes(jobs, count, step);
    printf("drip: %zu of %zu messages, %d of %zu jobs failed\n", count, nfiles, failed,
           jobs);
    for (size_t i = 0; i < nfiles; i++) {
        free(files[i].path);
    }
    return failed > 0;
}
