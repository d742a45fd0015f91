/*
 * test_look_keys - keys of a picture's look: the same on each machine, shared by near replicas.
 */
#include "core/reader/picture/raster.h"

#include "tests/unit/unit.h"

enum { SIDE = 160, KEYS_MAX = 16, KEY_BYTES = 14, PIXELS = 1 << 22 };

struct keys {
    struct buf bytes;
    char text[KEYS_MAX][KEY_BYTES];
    size_t n;
};

static bool on_bytes(void *context, struct slice bytes)
{
    struct keys *k = context;

    buf_add(&k->bytes, bytes);
    return true;
}

/* Brightness from 0 to 255; waves of two pictures that differ, with an edge in them. */
static uint8_t brightness(uint32_t x, uint32_t y, unsigned picture)
{
    unsigned a = x * (3 + picture) % 256;
    unsigned b = (x * x + (5 - picture) * y * y) / 100 % 256;

    return (uint8_t)(x + y > SIDE ? a : b);
}

/* A picture, each pixel as scale by scale pixels, darker by a part. */
static void draw(struct raster *r, unsigned picture, uint32_t scale, unsigned darker)
{
    assert_true(raster_init(r, SIDE * scale, SIDE * scale, PIXELS));
    for (uint32_t y = 0; y < r->height; y++) {
        for (uint32_t x = 0; x < r->width; x++) {
            uint8_t v = brightness(x / scale, y / scale, picture);
            memset(r->p + ((size_t)y * r->width + x) * 4, v - (int)(v * darker / 100),
                   3);
        }
    }
}

static void read_keys(const struct raster *r, struct keys *ret)
{
    static const struct reader_job job = {
        .limits = {.entries = 100, .bytes = 1 << 20, .ratio = 1000}};
    struct record record;

    *ret = (struct keys){.n = 0};
    buf_init(&ret->bytes, 1 << 20);
    struct found *f = found_new(&job, on_bytes, ret);
    assert_non_null(f);
    assert_true(raster_keys(r, f));
    found_free(&f);
    struct slice rest = buf_slice(&ret->bytes);
    while (record_next(&rest, &record) == RECORD_OK) {
        if (record.kind == RECORD_LOOK) {
            assert_true(ret->n < KEYS_MAX && record.value.n == KEY_BYTES - 1);
            memcpy(ret->text[ret->n], record.value.p, record.value.n);
            assert_memory_equal(ret->text[ret->n], "1.d.", 4);
            ret->n++;
        }
    }
    buf_fini(&ret->bytes);
}

static void keys_of(unsigned picture, uint32_t scale, unsigned darker, struct keys *ret)
{
    struct raster r;

    draw(&r, picture, scale, darker);
    read_keys(&r, ret);
    raster_fini(&r);
}

static size_t shared(const struct keys *a, const struct keys *b)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < b->n; k++) {
            n += strcmp(a->text[i], b->text[k]) == 0;
        }
    }
    return n;
}

/* They are compared with those of other servers and of last year. */
static void test_keys__of_a_picture__are_those_of_each_machine(void **state)
{
    static const char *const want[] = {
        "1.d.3b87b3090", "1.d.3387b3090", "1.d.3b87b3010", "1.d.3387b3010",
        "1.d.2b87b3090", "1.d.2387b3090", "1.d.03c7d3010", "1.d.238ca3090",
        "1.d.7b8733080", "1.d.3107bf010", "1.d.79173f080", "1.d.134797010",
        "1.d.7b8c23080", "1.d.03cce3010"};
    struct keys k;

    (void)state;
    keys_of(0, 1, 0, &k);
    assert_int_equal(k.n, LENGTH(want));
    for (size_t i = 0; i < k.n; i++) {
        assert_string_equal(k.text[i], want[i]);
    }
}

static void test_keys__of_near_replicas__are_shared(void **state)
{
    struct keys one;
    struct keys larger;
    struct keys darker;
    struct keys other;

    (void)state;
    keys_of(0, 1, 0, &one);
    keys_of(0, 3, 0, &larger);
    keys_of(0, 1, 20, &darker);
    keys_of(1, 1, 0, &other);
    assert_true(one.n > 4 && other.n > 4);
    assert_int_equal(shared(&one, &larger), one.n); /* the same cells */
    assert_true(shared(&one, &darker) > 0);
    assert_int_equal(shared(&one, &other), 0);
}

static void test_keys__of_what_shows_nothing__are_none(void **state)
{
    struct raster r;
    struct keys k;

    (void)state;
    assert_true(raster_init(&r, SIDE, SIDE, PIXELS)); /* white */
    read_keys(&r, &k);
    assert_int_equal(k.n, 0);
    raster_fini(&r);
    assert_true(raster_init(&r, 15, SIDE, PIXELS)); /* too small */
    read_keys(&r, &k);
    assert_int_equal(k.n, 0);
    raster_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys__of_a_picture__are_those_of_each_machine),
        cmocka_unit_test(test_keys__of_near_replicas__are_shared),
        cmocka_unit_test(test_keys__of_what_shows_nothing__are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
