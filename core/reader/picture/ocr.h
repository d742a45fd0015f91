/*
 * ocr - text in pictures, by tesseract where the administrator wants it.
 *
 * The library is loaded at run time, so that gillnet-reader needs it only with --ocr. Languages are
 * loaded before the sandbox closes; the processes that read files share that memory.
 * Threads: one.
 */
#ifndef CORE_READER_PICTURE_OCR_H
#define CORE_READER_PICTURE_OCR_H

#include "core/base/err.h"
#include "core/reader/picture/raster.h"

/* languages: "eng", "eng+deu". Without it ocr_text finds nothing. */
enum err ocr_warm(const char *languages, struct errinfo *reterr);
/* Gives out the text of a picture, if the job wants it. */
bool ocr_text(const struct raster *r, struct found *f);

#endif
