/* fuzz_vector_store - any bytes as the file of examples, and as an inbox: what is whole is kept, and the
 * same is there after a save. The sums of the records are made right first, so that what lies
 * behind them is reached. */
#include <string.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/base/le.h"
#include "core/learn/vector_store.h"

#include "tests/fuzz/fuzz.h"

enum { MAGIC = sizeof(store_magic), HEAD = 8 };

static void mend(uint8_t *p, size_t n)
{
    memcpy(p, store_magic, n < MAGIC ? n : MAGIC);
    for (size_t at = MAGIC; at + HEAD <= n;) {
        size_t length = (size_t)le_get(p + at, 4);
        if (length > n - at - HEAD) { /* a record that ends with the file */
            length = n - at - HEAD;
            le_put(p + at, length, 4);
        }
        struct slice body = slice_of((const char *)p + at + HEAD, length);
        le_put(p + at + 4, checksum32(body), 4);
        at += HEAD + length;
    }
}

static void check(const struct store *s)
{
    struct arena *arena = arena_new(1 << 20);
    size_t sum = 0;

    FUZZ_CHECK(arena != NULL && s->n <= 2 * (size_t)LEARNER_STORE);
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        sum += s->count[k][0] + s->count[k][1];
    }
    FUZZ_CHECK(sum == s->n);
    for (size_t i = 0; i < s->n; i++) {
        const struct kept *k = &s->kept[i];
        struct vector v;
        FUZZ_CHECK(k->kind < VECTOR_KINDS && k->source < LEARNER_SOURCES);
        FUZZ_CHECK(k->weight > 0 && k->number <= s->applied);
        (void)vector_decode(arena, slice_of(k->bytes, k->n), &v);
        arena_reset(arena);
    }
    arena_free(&arena);
}

/* Opens the store and saves it; it is the same when it is opened again. */
static void open_and_save(const char *path, const char *inbox)
{
    struct store s;
    struct store again;

    FUZZ_CHECK(store_open(&s, path, NULL) == ERR_OK);
    check(&s);
    if (inbox != NULL) {
        (void)store_take_inbox(&s, inbox);
        check(&s);
        size_t n = s.n;
        FUZZ_CHECK(!store_take_inbox(&s, inbox) ||
                   s.n <= n + 1); /* at most what it forgets */
    }
    FUZZ_CHECK(store_save(&s, NULL) == ERR_OK && !store_is_dirty(&s));
    FUZZ_CHECK(store_open(&again, path, NULL) == ERR_OK);
    FUZZ_CHECK(again.n == s.n && again.applied == s.applied);
    for (size_t i = 0; i < s.n; i++) {
        FUZZ_CHECK(s.kept[i].number == again.kept[i].number &&
                   slice_eq(slice_of(s.kept[i].bytes, s.kept[i].n),
                            slice_of(again.kept[i].bytes, again.kept[i].n)));
    }
    store_close(&again);
    store_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/dev/shm/gillnet-fuzz-XXXXXX"; /* it is synced often */
    char path[FILE_PATH_MAX];
    char inbox[FILE_PATH_MAX];
    uint8_t *bytes = malloc(size + 1);

    FUZZ_CHECK(mkdtemp(dir) != NULL && bytes != NULL);
    FUZZ_CHECK(path_make(path, NULL, "%s/vectors", dir) == ERR_OK);
    FUZZ_CHECK(path_make(inbox, NULL, "%s/inbox.1", dir) == ERR_OK);
    memcpy(bytes, data, size);
    for (unsigned i = 0; i < 2; i++) { /* as it is, then mended */
        struct slice all = slice_of((const char *)bytes, size);
        FUZZ_CHECK(file_write_atomic(path, all, 0600, NULL) == ERR_OK);
        FUZZ_CHECK(file_write_atomic(inbox, all, 0600, NULL) == ERR_OK);
        open_and_save(path, NULL);
        open_and_save(path, inbox);
        (void)unlink(path);
        open_and_save(path, inbox); /* the inbox alone */
        mend(bytes, size);
    }
    FUZZ_CHECK(file_remove_tree(dir, NULL) == ERR_OK);
    free(bytes);
    return 0;
}
