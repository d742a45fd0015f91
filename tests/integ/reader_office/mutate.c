/*
 * mutate - reads a file again and again, each time with a few bytes changed, in this process.
 *
 *   mutate FILE COUNT
 *
 * Bytes are set, cut off and doubled by numbers that follow from the file's length, so that a run can
 * be repeated. A fault of a library ends the process; the test runs one process for each file. Prints
 * the records of all readings. Exit status: 0, 1 the file cannot be read, 64 usage.
 */
#include "core/base/base.h"
#include "core/base/file.h"
#include "core/reader/pool/dispatch.h"

enum { FILE_MOST = 16 << 20, CHANGES = 8 };

static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return n > 0 ? (size_t)(state >> 33) % n : 0;
}

static bool on_records(void *context, struct slice bytes)
{
    struct buf *records = context;

    buf_add(records, bytes);
    return !buf_failed(records);
}

static size_t count(struct slice records)
{
    struct record r;
    size_t n = 0;

    while (record_next(&records, &r) == RECORD_OK) {
        n++;
    }
    if (records.n > 0) {
        (void)fputs("mutate: records are broken\n", stderr);
        exit(1);
    }
    return n;
}

static void change(struct buf *b)
{
    static const char numbers[] = {0, 1, 2, '\x7f', '\x80', '\xff', '{', '}', '\\'};
    const size_t nchanges = 1 + below(CHANGES);

    for (size_t i = 0; i < nchanges && b->n > 0; i++) {
        /* heads and directories decide most */
        const size_t at = below(below(2) == 0 && b->n > 2048 ? 2048 : b->n);
        b->p[at] = below(2) == 0 ? numbers[below(sizeof(numbers))] : (char)below(256);
    }
    if (below(8) == 0) {
        b->n = below(b->n);
    }
    if (below(8) == 0) {
        const size_t at = below(b->n);
        const size_t n = below(b->n - at);
        char *to = buf_extend(b, n); /* the bytes may have moved */
        if (to != NULL && n > 0) {
            memcpy(to, b->p + at, n);
        }
    }
}

static size_t read_one(struct slice bytes)
{
    const struct slice password[] = {SLICE_LIT("secret")};
    const struct reader_job job = {.bytes = bytes,
                                   .password = password,
                                   .npasswords = 1,
                                   .limits = {100, 8 << 20, 200, 2, 1 << 20, false}};
    struct buf records;

    buf_init(&records, FILE_MOST * 2);
    struct found *f = found_new(&job, on_records, &records);
    reader_read(&job, f);
    found_free(&f);
    const size_t n = count(buf_slice(&records));
    buf_fini(&records);
    return n;
}

int main(int argc, char **argv)
{
    struct errinfo why;
    struct buf file;
    size_t total = 0;

    if (argc != 3 || base_init() != ERR_OK) {
        return 64;
    }
    buf_init(&file, FILE_MOST);
    if (file_read(argv[1], &file, &why) != ERR_OK) {
        (void)fprintf(stderr, "mutate: %s\n", why.text);
        return 1;
    }
    state = file.n;
    for (unsigned long n = strtoul(argv[2], NULL, 10); n > 0; n--) {
        struct buf changed;
        buf_init(&changed, 2 * file.n + 1);
        buf_add(&changed, buf_slice(&file));
        change(&changed);
        /* exact size: a reader that goes beyond it is found by the sanitizer */
        char *exact = malloc(changed.n + 1);
        if (exact != NULL) {
            memcpy(exact, changed.p, changed.n);
            exact = realloc(exact, changed.n > 0 ? changed.n : 1);
            total += read_one(slice_of(exact, changed.n));
        }
        free(exact);
        buf_fini(&changed);
    }
    (void)printf("%zu\n", total);
    buf_fini(&file);
    return 0;
}
