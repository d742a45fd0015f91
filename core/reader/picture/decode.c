#include "core/reader/picture/decode.h"

#include "core/reader/wire/format.h"

static const struct {
    size_t at;
    struct slice bytes;
    decode_fn *decode;
} rows[] = {
    {0, {"\x89PNG\r\n\x1a\n", 8}, png_decode},
    {0, {"\xff\xd8\xff", 3}, jpeg_decode},
    {0, {"GIF8", 4}, gif_decode},
    {8, {"WEBP", 4}, webp_decode},
    {4, {"ftyp", 4}, heif_decode},
    {0, {"BM", 2}, bmp_decode},
    {0, {"P5", 2}, pgm_decode},
};

static decode_fn *decoder_of(struct slice bytes)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_has_prefix(slice_from(bytes, rows[i].at), rows[i].bytes)) {
            return rows[i].decode;
        }
    }
    return NULL;
}

bool picture_knows(struct slice bytes)
{
    return decoder_of(bytes) != NULL;
}

bool decode_picture(struct decode *d, struct slice bytes)
{
    decode_fn *decode = decoder_of(bytes);

    if (decode != NULL) {
        decode(d, bytes);
    }
    return decode != NULL;
}
