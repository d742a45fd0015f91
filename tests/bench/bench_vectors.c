/*
 * bench_vectors PATH... - the vectors of messages as text, for experiments with learners.
 *
 * Prints one line per message: path, kind, then "block:hash" of each term.
 */
#include <ftw.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/learn/vector.h"

static struct arena *arena;
static struct shingle_keys keys;

static void print_one(const char *path, struct slice bytes)
{
    struct extract_limits limits = {.mail = {.message_bytes = 16 << 20,
                                             .decoded_bytes = 32 << 20,
                                             .headers = 1000,
                                             .header_bytes = 256 << 10,
                                             .header_field = 64 << 10,
                                             .parts = 500,
                                             .depth = 32},
                                    .urls = 500,
                                    .recipients = 1000,
                                    .cpu_us = 250000};
    struct vector v = {.n = 0};
    limits.imprint.keys = keys;
    struct vector_reader *r = vector_reader_new(arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    if (x == NULL || r == NULL) {
        return;
    }
    extract_raw(x, bytes);
    struct featureset *set = extract_finish(x);
    if (vector_reader_finish(r, x, set, &v)) {
        printf("%s\t%s\t", path, vector_kind_name(v.kind));
        for (size_t i = 0; i < v.n; i++) {
            printf("%s%u:%u", i > 0 ? " " : "", v.term[i] >> VECTOR_HASH_BITS,
                   v.term[i] & VECTOR_HASH_MASK);
        }
        printf("\n");
    }
    extract_drop(x);
    arena_reset(arena);
}

static int on_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    struct buf bytes;
    (void)st;
    (void)ftw;
    if (type != FTW_F) {
        return 0;
    }
    buf_init(&bytes, 64 << 20);
    if (file_read(path, &bytes, NULL) == ERR_OK) {
        print_one(path, buf_slice(&bytes));
    }
    buf_fini(&bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        return 2;
    }
    arena = arena_new(256 << 20);
    for (int i = 1; arena != NULL && i < argc; i++) {
        (void)nftw(argv[i], on_file, 16, FTW_PHYS);
    }
    arena_free(&arena);
    return 0;
}
