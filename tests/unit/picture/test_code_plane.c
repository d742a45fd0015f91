/*
 * test_code_plane - planes made of others, each pixel against its definition, and light borders.
 */
#include "core/base/prng.h"
#include "core/reader/picture/code_plane.h"

#include "tests/unit/unit.h"

enum { LIGHT = 255 };

static uint32_t inner_width(const struct plane *p)
{
    return p->width - 2 * PLANE_BORDER;
}

static uint32_t inner_height(const struct plane *p)
{
    return p->height - 2 * PLANE_BORDER;
}

/* A pixel inside the border. */
static uint8_t *pixel(const struct plane *p, uint32_t x, uint32_t y)
{
    return p->p + (size_t)(y + PLANE_BORDER) * p->width + x + PLANE_BORDER;
}

static void fill(struct plane *p, uint32_t width, uint32_t height)
{
    struct prng random;

    prng_init(&random, width, height);
    assert_true(plane_init(p, width, height));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            *pixel(p, x, y) = (uint8_t)prng_below(&random, 256);
        }
    }
}

static void assert_light_border(const struct plane *p)
{
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            bool is_inside = x >= PLANE_BORDER && x < p->width - PLANE_BORDER &&
                             y >= PLANE_BORDER && y < p->height - PLANE_BORDER;
            assert_true(is_inside || p->p[(size_t)y * p->width + x] == LIGHT);
        }
    }
}

static void test_shrink__by_some__each_pixel_is_the_mean(void **state)
{
    (void)state;
    for (uint32_t by = 1; by <= 4; by++) {
        struct plane from;
        struct plane to;

        fill(&from, 13, 10);
        assert_true(plane_shrink(&to, &from, by));
        assert_int_equal(inner_width(&to), 13 / by);
        assert_int_equal(inner_height(&to), 10 / by);
        for (uint32_t y = 0; y < inner_height(&to); y++) {
            for (uint32_t x = 0; x < inner_width(&to); x++) {
                unsigned sum = 0;
                for (uint32_t i = 0; i < by * by; i++) {
                    sum += *pixel(&from, x * by + i % by, y * by + i / by);
                }
                assert_int_equal(*pixel(&to, x, y), sum / (by * by));
            }
        }
        assert_light_border(&to);
        plane_fini(&to);
        plane_fini(&from);
    }
}

/* Even steps: between the centres of two pixels the values go evenly from one to the other. */
static void test_grow__by_some__has_even_steps(void **state)
{
    struct plane from;
    struct plane to;

    (void)state;
    fill(&from, 7, 5);
    assert_true(plane_grow(&to, &from, 1));
    for (uint32_t i = 0; i < 7 * 5; i++) {
        assert_int_equal(*pixel(&to, i % 7, i / 7), *pixel(&from, i % 7, i / 7));
    }
    plane_fini(&to);
    for (uint32_t by = 3; by <= 5; by += 2) {
        assert_true(plane_grow(&to, &from, by));
        assert_int_equal(inner_width(&to), 7 * by);
        assert_int_equal(inner_height(&to), 5 * by);
        for (uint32_t y = 0; y < 5; y++) {
            for (uint32_t x = 0; x + 1 < 7; x++) {
                int left = *pixel(&from, x, y);
                int right = *pixel(&from, x + 1, y);
                for (uint32_t i = 0; i <= by; i++) {
                    int want = (left * (int)(by - i) + right * (int)i) / (int)by;
                    assert_int_equal(*pixel(&to, x * by + by / 2 + i, y * by + by / 2),
                                     want);
                }
            }
        }
        assert_light_border(&to);
        plane_fini(&to);
    }
    plane_fini(&from);
}

/* Whether the mean of the pixels around, as far as there are any, is brighter by `least`. */
static bool is_dark(const struct plane *p, uint32_t x, uint32_t y, uint32_t around,
                    unsigned least)
{
    uint64_t sum = 0;
    uint64_t n = 0;

    for (uint32_t v = 0; v < inner_height(p); v++) {
        for (uint32_t u = 0; u < inner_width(p); u++) {
            if (u + around >= x && u <= x + around && v + around >= y &&
                v <= y + around) {
                sum += *pixel(p, u, v);
                n++;
            }
        }
    }
    return (*pixel(p, x, y) + least) * n < sum;
}

static void test_threshold__by_the_mean_around__is_black_and_white(void **state)
{
    static const uint32_t arounds[] = {1, 2, 5, 20};
    struct plane from;

    (void)state;
    fill(&from, 12, 9);
    for (size_t i = 0; i < LENGTH(arounds); i++) {
        struct plane to;

        assert_true(plane_threshold(&to, &from, arounds[i], 4));
        for (uint32_t y = 0; y < 9; y++) {
            for (uint32_t x = 0; x < 12; x++) {
                assert_int_equal(*pixel(&to, x, y),
                                 is_dark(&from, x, y, arounds[i], 4) ? 0 : LIGHT);
            }
        }
        assert_light_border(&to);
        plane_fini(&to);
    }
    plane_fini(&from);
}

static void test_blur__each_pixel__is_a_mean_of_nine(void **state)
{
    static const int weights[3] = {1, 2, 1};
    struct plane from;
    struct plane to;

    (void)state;
    fill(&from, 8, 6);
    assert_true(plane_blur(&to, &from));
    for (uint32_t y = 0; y < 6; y++) {
        for (uint32_t x = 0; x < 8; x++) {
            const uint8_t *middle = pixel(&from, x, y);
            const int width = (int)from.width;
            int sum = 8; /* rounded */
            for (int i = 0; i < 9; i++) {
                sum += weights[i % 3] * weights[i / 3] *
                       middle[(i / 3 - 1) * width + i % 3 - 1];
            }
            assert_int_equal(*pixel(&to, x, y), sum / 16);
        }
    }
    assert_light_border(&to);
    plane_fini(&to);
    plane_fini(&from);
}

static void test_invert__twice__is_as_before(void **state)
{
    struct plane from;
    struct plane to;

    (void)state;
    fill(&from, 8, 6);
    fill(&to, 8, 6);
    plane_invert(&to);
    for (uint32_t i = 0; i < 8 * 6; i++) {
        assert_int_equal(*pixel(&to, i % 8, i / 8), 255 - *pixel(&from, i % 8, i / 8));
    }
    assert_light_border(&to);
    plane_invert(&to);
    assert_memory_equal(to.p, from.p, (size_t)to.width * to.height);
    plane_fini(&to);
    plane_fini(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shrink__by_some__each_pixel_is_the_mean),
        cmocka_unit_test(test_grow__by_some__has_even_steps),
        cmocka_unit_test(test_threshold__by_the_mean_around__is_black_and_white),
        cmocka_unit_test(test_blur__each_pixel__is_a_mean_of_nine),
        cmocka_unit_test(test_invert__twice__is_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
