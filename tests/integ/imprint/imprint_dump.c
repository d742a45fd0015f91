/* imprint_dump - reads lines from standard input: "L PATH" teaches the ubiquity guard the shingles
 * of a message under its From address (all L lines first); "P PATH" prints PATH, its near-duplicate
 * keys and the trait text_folded, tabs between them; "T TEXT" does the same for a message with that
 * text. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/message/extract/extract.h"

enum { LINE = 1 << 16, FILE_CAP = 64 << 20, ARENA = 64 << 20, LEARNT = 1 << 21 };

static uint64_t shingles[1 << 20];
static size_t nshingles;

static void on_shingle(void *context, uint64_t shingle)
{
    (void)context;
    if (nshingles < sizeof(shingles) / sizeof(shingles[0])) {
        shingles[nshingles++] = shingle;
    }
}

static struct featureset *extract_bytes(struct slice bytes, struct arena *arena,
                                        const struct extract_limits *limits)
{
    arena_reset(arena);
    nshingles = 0;
    struct extract *x = extract_new(arena, limits, NULL, 0);
    if (x == NULL) {
        return NULL;
    }
    extract_raw(x, bytes);
    return extract_finish(x);
}

static struct featureset *extract_file(const char *path, struct arena *arena,
                                       const struct extract_limits *limits)
{
    struct featureset *set = NULL;
    struct buf bytes;
    buf_init(&bytes, FILE_CAP);
    if (file_read(path, &bytes, NULL) == ERR_OK) {
        set = extract_bytes(buf_slice(&bytes), arena, limits);
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    buf_fini(&bytes);
    return set;
}

static void learn(struct boilerplate *guard, const struct featureset *set)
{
    const struct feature *from = featureset_first(set, FEATURE_from);
    uint64_t sender = from != NULL ? checksum64(from->text) : 0;
    for (size_t i = 0; i < nshingles; i++) {
        (void)boilerplate_learn(guard, shingles[i], sender);
    }
}

static void print(const char *path, const struct featureset *set)
{
    printf("%s", path);
    for (size_t i = 0; set != NULL && i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_text_band ||
            (f->type == FEATURE_trait && slice_eq(f->text, SLICE_LIT("text_folded")))) {
            printf("\t%.*s", SLICE_ARGS(f->text));
        }
    }
    printf("\n");
}

int main(void)
{
    struct extract_limits limits = {
        .mail = {16 << 20, 32 << 20, 1000, 256 << 10, 64 << 10, 500, 32, false},
        .urls = 500,
        .recipients = 1000};
    static const struct hashkey ring = {1, "key of this test"};
    struct arena *arena = arena_new(ARENA);
    struct boilerplate *guard = boilerplate_new(LEARNT);
    static char line[LINE];
    if (base_init() != ERR_OK || arena == NULL || guard == NULL) {
        return 70;
    }
    shingle_keys_make(&ring, (uint64_t)1000 * SHINGLE_EPOCH_S, &limits.imprint.keys);
    limits.imprint.guard = guard;
    limits.imprint.on_shingle = on_shingle;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == 'T') {
            line[0] = line[1] = '\n'; /* no header fields, then the text */
            print("", extract_bytes(slice_str(line + 1), arena, &limits));
            continue;
        }
        const struct featureset *set = extract_file(line + 2, arena, &limits);
        if (set == NULL) {
            return 66;
        }
        if (line[0] == 'L') {
            learn(guard, set);
        } else {
            print(line + 2, set);
        }
    }
    boilerplate_free(&guard);
    arena_free(&arena);
    return 0;
}
