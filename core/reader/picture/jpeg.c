/* jpeg - JPEG by libjpeg-turbo, scaled while it is decoded. */

/* jpeglib.h needs stdio.h and does not include it. */
/* clang-format off */
#include <stdio.h>
#include <jpeglib.h>
#include <setjmp.h>
/* clang-format on */

#include "core/reader/picture/rows.h"

enum { JPEG_SCANS = 100 }; /* of a progressive picture; encoders write ten */

struct jpeg {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr error;
    struct jpeg_progress_mgr progress;
    struct decode *d;
    struct rows rows;
    jmp_buf fault;
};

static void on_error(j_common_ptr info)
{
    struct jpeg *j = info->client_data;

    j->d->is_damaged = true;
    longjmp(j->fault, 1); /* libjpeg has no other way back */
}

static void on_jpeg_message(j_common_ptr info, int level)
{
    if (level < 0) {
        info->err->num_warnings++;
    }
}

static void on_progress(j_common_ptr info)
{
    struct jpeg *j = info->client_data;

    if (j->info.input_scan_number > JPEG_SCANS) {
        on_error(info);
    }
}

/* Inverted CMYK, as Adobe's programs write it, to RGB. */
static void convert_cmyk(struct rows *r)
{
    for (uint32_t x = 0; x < r->width; x++) {
        uint8_t *p = r->pixel + (size_t)x * 4;
        for (int i = 0; i < 3; i++) {
            p[i] = (uint8_t)(p[i] * p[3] / 255);
        }
        p[3] = 255;
    }
}

static void read_jpeg_rows(struct jpeg *j)
{
    const bool is_cmyk = j->info.out_color_space == JCS_CMYK;
    JSAMPROW row = j->rows.pixel;

    do {
        if (jpeg_read_scanlines(&j->info, &row, 1) != 1) {
            return;
        }
        if (is_cmyk) {
            convert_cmyk(&j->rows);
        }
    } while (rows_take(&j->rows, j->d));
}

static void read_picture(struct jpeg *j, struct slice bytes)
{
    if (setjmp(j->fault) != 0) { /* NOLINT(cert-err52-cpp): as above */
        return;
    }
    jpeg_create_decompress(&j->info);
    j->info.progress = &j->progress;
    jpeg_mem_src(&j->info, (const unsigned char *)bytes.p, bytes.n);
    (void)jpeg_read_header(&j->info, TRUE);
    const uint32_t scale =
        rows_scale(j->info.image_width, j->info.image_height, j->d->pixels);
    j->info.scale_denom = scale > 4 ? 8 : scale > 2 ? 4 : scale;
    j->d->is_shrunk = scale > 1;
    j->info.out_color_space =
        j->info.jpeg_color_space == JCS_CMYK || j->info.jpeg_color_space == JCS_YCCK
            ? JCS_CMYK
            : JCS_EXT_RGBA;
    (void)jpeg_start_decompress(&j->info);
    if (rows_init(&j->rows, j->info.output_width, j->info.output_height, j->d)) {
        read_jpeg_rows(j);
    } else {
        j->d->is_damaged = true;
    }
}

void jpeg_decode(struct decode *d, struct slice bytes)
{
    struct jpeg j = {.d = d};

    j.info.err = jpeg_std_error(&j.error);
    j.info.client_data = &j;
    j.error.error_exit = on_error;
    j.error.emit_message = on_jpeg_message;
    j.progress.progress_monitor = on_progress;
    read_picture(&j, bytes);
    d->is_damaged = d->is_damaged || j.error.num_warnings > 0;
    rows_give(&j.rows, d);
    jpeg_destroy_decompress(&j.info);
    rows_fini(&j.rows);
}
