/* heif - HEIC and AVIF by libheif. */

#include <libheif/heif.h>

#include "core/reader/picture/rows.h"

/* Gives out the picture, or shrinks it. */
static void give_image(struct decode *d, const struct heif_image *image)
{
    int stride;
    const uint8_t *p =
        heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    const int width = heif_image_get_width(image, heif_channel_interleaved);
    const int height = heif_image_get_height(image, heif_channel_interleaved);
    struct rows rows;

    if (p == NULL || width <= 0 || height <= 0 || stride / 4 < width ||
        !rows_init(&rows, (uint32_t)width, (uint32_t)height, d)) {
        d->is_damaged = true;
        return;
    }
    do {
        memcpy(rows.pixel, p, (size_t)width * 4);
        p += stride;
    } while (rows_take(&rows, d));
    rows_give(&rows, d);
    rows_fini(&rows);
}

static void decode_handle(struct decode *d, const struct heif_image_handle *handle)
{
    struct heif_image *image = NULL;
    struct heif_decoding_options *options = heif_decoding_options_alloc();

    options->convert_hdr_to_8bit = 1;
    const struct heif_error why = heif_decode_image(
        handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options);
    if (why.code == heif_error_Ok) {
        give_image(d, image);
    } else {
        d->is_damaged = true;
    }
    heif_image_release(image);
    heif_decoding_options_free(options);
}

static bool is_within(const struct heif_image_handle *handle, uint64_t pixels)
{
    const int width = heif_image_handle_get_width(handle);
    const int height = heif_image_handle_get_height(handle);

    return width > 0 && height > 0 && (uint64_t)width * (uint64_t)height <= pixels;
}

/* libheif decodes a picture as a whole. Of one above the limit the thumbnail is read. */
static void decode_thumbnail(struct decode *d, const struct heif_image_handle *handle)
{
    heif_item_id id;
    struct heif_image_handle *thumbnail = NULL;

    d->is_shrunk = true;
    if (heif_image_handle_get_list_of_thumbnail_IDs(handle, &id, 1) == 1 &&
        heif_image_handle_get_thumbnail(handle, id, &thumbnail).code == heif_error_Ok &&
        is_within(thumbnail, d->pixels)) {
        decode_handle(d, thumbnail);
    }
    heif_image_handle_release(thumbnail);
}

void heif_decode(struct decode *d, struct slice bytes)
{
    struct heif_image_handle *handle = NULL;
    struct heif_context *context = heif_context_alloc();

    heif_context_set_max_decoding_threads(context, 0);
    if (heif_context_read_from_memory_without_copy(context, bytes.p, bytes.n, NULL)
                .code != heif_error_Ok ||
        heif_context_get_primary_image_handle(context, &handle).code != heif_error_Ok) {
        d->is_damaged = true;
    } else if (is_within(handle, d->pixels)) {
        decode_handle(d, handle);
    } else {
        decode_thumbnail(d, handle);
    }
    heif_image_handle_release(handle);
    heif_context_free(context);
}
