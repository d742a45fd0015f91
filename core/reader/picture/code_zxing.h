/*
 * code_zxing - the codes of a grey picture, by the C++ library ZXing.
 *
 * No exception leaves it. This header is read by C++ too, so it includes nothing of gillnet.
 * Threads: pure.   Allocates: what the library needs, freed at return.   Depends: nothing.
 */
#ifndef CORE_READER_PICTURE_CODE_ZXING_H
#define CORE_READER_PICTURE_CODE_ZXING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct code_view {
    const uint8_t *p; /* a byte a pixel */
    uint32_t width;
    uint32_t height;
    uint32_t stride; /* bytes from row to row */
};

enum code_kind {
    CODE_QR = 1, /* no Micro QR: ADR 0096 */
    CODE_DATA_MATRIX = 2,
    CODE_AZTEC = 4,
    CODE_PDF417 = 8,
    CODE_BARS = 16
};

/* One code: payload is UTF-8; borrowed. False: no more are wanted. */
typedef bool code_found_fn(void *context, enum code_kind kind, const char *payload,
                           size_t npayload);

enum code_effort {
    CODE_LOCAL, /* thresholds by place */
    CODE_FIXED  /* the picture is black and white */
};

/* Reads codes of the kinds (bits of enum code_kind). */
void code_zxing_read(const struct code_view *view, unsigned kinds,
                     enum code_effort effort, code_found_fn *on_code, void *context);

#ifdef __cplusplus
}
#endif

#endif
