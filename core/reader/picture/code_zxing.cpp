#include "core/reader/picture/code_zxing.h"

#define ZX_USE_UTF8 1
#include <ZXing/ReadBarcode.h>

using namespace ZXing;

namespace
{

BarcodeFormats formats_of(unsigned kinds)
{
    BarcodeFormats formats;

    if ((kinds & CODE_QR) != 0) {
        formats |= BarcodeFormat::QRCode;
    }
    if ((kinds & CODE_DATA_MATRIX) != 0) {
        formats |= BarcodeFormat::DataMatrix;
    }
    if ((kinds & CODE_AZTEC) != 0) {
        formats |= BarcodeFormat::Aztec;
    }
    if ((kinds & CODE_PDF417) != 0) {
        formats |= BarcodeFormat::PDF417;
    }
    if ((kinds & CODE_BARS) != 0) {
        formats |= BarcodeFormat::LinearCodes;
    }
    return formats;
}

enum code_kind kind_of(BarcodeFormat format)
{
    switch (format) {
    case BarcodeFormat::QRCode:
        return CODE_QR;
    case BarcodeFormat::DataMatrix:
        return CODE_DATA_MATRIX;
    case BarcodeFormat::Aztec:
        return CODE_AZTEC;
    case BarcodeFormat::PDF417:
        return CODE_PDF417;
    default:
        return CODE_BARS;
    }
}

} // namespace

extern "C" void code_zxing_read(const struct code_view *view, unsigned kinds,
                                enum code_effort effort, code_found_fn *on_code,
                                void *context)
{
    try {
        const ImageView image(view->p, static_cast<int>(view->width),
                              static_cast<int>(view->height), ImageFormat::Lum,
                              static_cast<int>(view->stride));
        const bool is_turned = (kinds & ~static_cast<unsigned>(CODE_QR)) != 0;
        DecodeHints hints;
        hints.setFormats(formats_of(kinds))
            .setTryHarder(true)
            .setTryRotate(is_turned)
            .setTryDownscale(false)
            .setBinarizer(effort == CODE_FIXED ? Binarizer::FixedThreshold
                                               : Binarizer::LocalAverage);
        for (const Result &code : ReadBarcodes(image, hints)) {
            const std::string payload = code.text();
            if (code.isValid() && !payload.empty() &&
                !on_code(context, kind_of(code.format()), payload.data(),
                         payload.size())) {
                return;
            }
        }
    } catch (...) { /* its memory was not enough, or it met a fault: no code is found */
    }
}
