/*
 * bench_codes - the time to search a picture without a code, beside the time to decode it.
 *
 *   bench_codes [FILE]...
 *
 * Without files: a picture of 1200 x 900 pixels like a photograph (noise of many sizes in three
 * colours, JPEG of quality 85), made here. Timed is processor time, the least of ROUNDS. One line
 * of JSON a picture.
 */
#include <math.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/reader/picture/code_search.h"
#include "core/reader/picture/decode.h"

/* clang-format off */
#include <jpeglib.h> /* behind stdio.h, which it does not include */
/* clang-format on */

enum { ROUNDS = 7, WIDTH = 1200, HEIGHT = 900, OCTAVES = 7, PIXELS = 1 << 26 };

static double cpu_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double lattice(unsigned x, unsigned y, unsigned seed)
{
    uint32_t h = x * 0x9e3779b1U ^ y * 0x85ebca6bU ^ seed * 0xc2b2ae35U;

    h = (h ^ h >> 15) * 0x2c1b3c6dU;
    h = (h ^ h >> 12) * 0x297a2d39U;
    return (double)(h ^ h >> 15) / UINT32_MAX;
}

/* Noise of OCTAVES sizes, each half as large and half as strong. */
static double noise(double x, double y, unsigned seed)
{
    double sum = 0;
    double size = 256;

    for (unsigned i = 0; i < OCTAVES; i++, size /= 2) {
        const double u = x / size;
        const double v = y / size;
        const unsigned left = (unsigned)u;
        const unsigned top = (unsigned)v;
        const double a = u - left;
        const double b = v - top;
        const unsigned s = seed * OCTAVES + i;
        const double above =
            lattice(left, top, s) * (1 - a) + lattice(left + 1, top, s) * a;
        const double below =
            lattice(left, top + 1, s) * (1 - a) + lattice(left + 1, top + 1, s) * a;
        sum += (above * (1 - b) + below * b) * size / 512;
    }
    return sum;
}

static void draw_photograph(uint8_t *p)
{
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH; x++) {
            const double light = noise(x, y, 1);
            for (unsigned i = 0; i < 3; i++) {
                const double v = 0.7 * light + 0.3 * noise(x, y, 2 + i);
                *p++ = (uint8_t)(v < 1 ? v * 255 : 255);
            }
        }
    }
}

static void make_photograph(struct buf *b)
{
    uint8_t *pixels = malloc((size_t)WIDTH * HEIGHT * 3);
    struct jpeg_compress_struct info = {0};
    struct jpeg_error_mgr error;
    unsigned char *bytes = NULL;
    unsigned long n = 0;

    if (pixels == NULL) {
        return;
    }
    draw_photograph(pixels);
    info.err = jpeg_std_error(&error);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &n);
    info.image_width = WIDTH;
    info.image_height = HEIGHT;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 85, TRUE);
    jpeg_start_compress(&info, TRUE);
    for (unsigned y = 0; y < HEIGHT; y++) {
        JSAMPROW row = pixels + (size_t)y * WIDTH * 3;
        (void)jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    buf_add(b, slice_of(bytes, n));
    jpeg_destroy_compress(&info);
    free(bytes);
    free(pixels);
}

struct times {
    double search;
    unsigned ncodes;
    uint64_t pixels;
};

static bool on_code(void *context, enum code_kind kind, const char *payload,
                    size_t npayload)
{
    struct times *t = context;

    (void)kind;
    (void)payload;
    (void)npayload;
    t->ncodes++;
    return true;
}

static bool on_frame(void *context, const struct raster *r)
{
    struct times *t = context;
    const double start = cpu_ms();

    t->ncodes = 0;
    t->pixels = (uint64_t)r->width * r->height;
    (void)code_search(r, on_code, t);
    t->search = cpu_ms() - start;
    return false;
}

static void measure(const char *name, struct slice bytes)
{
    struct times t = {0};
    double decode = HUGE_VAL;
    double search = HUGE_VAL;

    for (int i = 0; i < ROUNDS; i++) {
        struct decode d = {.pixels = PIXELS, .frame = on_frame, .context = &t};
        const double start = cpu_ms();
        (void)decode_picture(&d, bytes);
        decode = fmin(decode, cpu_ms() - start - t.search);
        search = fmin(search, t.search);
    }
    (void)printf(
        "{\"bench\":\"codes\",\"picture\":\"%s\",\"pixels\":%" PRIu64
        ",\"codes\":%u,\"decode_ms\":%.2f,\"search_ms\":%.2f,\"ratio\":%.1f}\n",
        name, t.pixels, t.ncodes, decode, search, search / decode);
}

int main(int argc, char **argv)
{
    struct errinfo why;
    struct buf b;

    if (base_init() != ERR_OK) {
        return 1;
    }
    buf_init(&b, PIXELS);
    if (argc == 1) {
        make_photograph(&b);
        measure("photograph", buf_slice(&b));
    }
    for (int i = 1; i < argc; i++) {
        buf_clear(&b);
        if (file_read(argv[i], &b, &why) != ERR_OK) {
            (void)fprintf(stderr, "bench_codes: %s\n", why.text);
            return 1;
        }
        measure(argv[i], buf_slice(&b));
    }
    buf_fini(&b);
    return 0;
}
