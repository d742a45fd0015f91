/* webp - WebP by libwebp; animations composed by libwebpdemux. */

#include <webp/decode.h>
#include <webp/demux.h>

#include "core/reader/picture/rows.h"

/* A still picture; a cut one gives its first rows. */
static void read_still(struct decode *d, struct slice bytes)
{
    struct raster r;
    WebPDecoderConfig config;

    if (!WebPInitDecoderConfig(&config) ||
        WebPGetFeatures((const uint8_t *)bytes.p, bytes.n, &config.input) !=
            VP8_STATUS_OK ||
        config.input.width <= 0 || config.input.height <= 0) {
        d->is_damaged = true;
        return;
    }
    const uint32_t width = (uint32_t)config.input.width;
    const uint32_t height = (uint32_t)config.input.height;
    const uint32_t scale = rows_scale(width, height, d->pixels);
    if (raster_init(&r, (width - 1) / scale + 1, (height - 1) / scale + 1, d->pixels)) {
        config.options.use_scaling = scale > 1;
        config.options.scaled_width = (int)r.width;
        config.options.scaled_height = (int)r.height;
        d->is_shrunk = scale > 1;
        config.output.colorspace = MODE_RGBA;
        config.output.is_external_memory = 1;
        config.output.u.RGBA.rgba = r.p;
        config.output.u.RGBA.stride = (int)r.width * 4;
        config.output.u.RGBA.size = (size_t)r.width * r.height * 4;
        WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
        d->is_damaged =
            decoder == NULL ||
            WebPIUpdate(decoder, (const uint8_t *)bytes.p, bytes.n) != VP8_STATUS_OK;
        WebPIDelete(decoder);
        (void)d->frame(d->context, &r);
    } else {
        d->is_damaged = true;
    }
    raster_fini(&r);
}

/* The first frames and the last one. False: it cannot be read as an animation. */
static bool read_frames(struct decode *d, struct slice bytes)
{
    const WebPData data = {(const uint8_t *)bytes.p, bytes.n};
    WebPAnimDecoderOptions options;
    WebPAnimInfo info;
    uint8_t *pixel;
    int time;
    bool is_more = true;
    uint64_t done = 0;

    if (!WebPAnimDecoderOptionsInit(&options)) {
        return false;
    }
    options.color_mode = MODE_RGBA;
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&data, &options);
    if (decoder == NULL || !WebPAnimDecoderGetInfo(decoder, &info)) {
        WebPAnimDecoderDelete(decoder);
        return false;
    }
    const uint64_t size = (uint64_t)info.canvas_width * info.canvas_height;
    for (uint32_t i = 0; i < info.frame_count && is_more; i++) {
        if (!WebPAnimDecoderGetNext(decoder, &pixel, &time)) {
            d->is_damaged = true;
            break;
        }
        done += size;
        is_more = done / DECODE_SOURCE_FACTOR <= d->pixels;
        d->is_shrunk = d->is_shrunk || (!is_more && i + 1 < info.frame_count);
        if (i < DECODE_FRAMES || i + 1 == info.frame_count || !is_more) {
            const struct raster r = {pixel, info.canvas_width, info.canvas_height};
            is_more = d->frame(d->context, &r) && is_more;
        }
    }
    WebPAnimDecoderDelete(decoder);
    return true;
}

/* An animation that is too large to compose: its first frame alone. */
static void read_first(struct decode *d, struct slice bytes)
{
    const WebPData data = {(const uint8_t *)bytes.p, bytes.n};
    WebPIterator frame;
    WebPDemuxState state;
    WebPDemuxer *demuxer = WebPDemuxPartial(&data, &state);

    d->is_damaged = demuxer == NULL;
    if (demuxer != NULL && WebPDemuxGetFrame(demuxer, 1, &frame)) {
        read_still(d, slice_of(frame.fragment.bytes, frame.fragment.size));
        WebPDemuxReleaseIterator(&frame);
    }
    WebPDemuxDelete(demuxer);
}

void webp_decode(struct decode *d, struct slice bytes)
{
    WebPBitstreamFeatures features;

    if (WebPGetFeatures((const uint8_t *)bytes.p, bytes.n, &features) !=
        VP8_STATUS_OK) {
        d->is_damaged = true;
    } else if (!features.has_animation) {
        read_still(d, bytes);
    } else if ((uint64_t)features.width * (uint64_t)features.height > d->pixels ||
               !read_frames(d, bytes)) {
        read_first(d, bytes);
        d->is_shrunk = true;
    }
}
