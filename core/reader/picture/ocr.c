#include "core/reader/picture/ocr.h"

#include <dlfcn.h>

enum {
    SIDE_LEAST = 32, /* pixels of a picture that may hold a line */
    PIXEL_BYTES = 4,
    DOTS_PER_INCH = 150 /* a picture does not tell */
};

/* Functions of libtesseract 5, as its capi.h declares them. */
struct tesseract {
    void *(*create)(void);
    int (*init)(void *api, const char *folder, const char *languages);
    void (*set_image)(void *api, const unsigned char *pixels, int width, int height,
                      int pixel_bytes, int line_bytes);
    void (*set_resolution)(void *api, int dots);
    char *(*text)(void *api);
    void (*free_text)(const char *text);
    void *api; /* NULL: no text is read */
};

static struct tesseract tesseract;

static bool load(struct tesseract *t, void *library)
{
    const struct {
        const char *name;
        void *place;
    } functions[] = {
        {"TessBaseAPICreate", &t->create},
        {"TessBaseAPIInit3", &t->init},
        {"TessBaseAPISetImage", &t->set_image},
        {"TessBaseAPISetSourceResolution", &t->set_resolution},
        {"TessBaseAPIGetUTF8Text", &t->text},
        {"TessDeleteText", &t->free_text},
    };

    for (size_t i = 0; i < LENGTH(functions); i++) {
        void *function = dlsym(library, functions[i].name);
        if (function == NULL) {
            return false;
        }
        memcpy(functions[i].place, &function, sizeof(function)); /* as POSIX says */
    }
    return true;
}

enum err ocr_warm(const char *languages, struct errinfo *reterr)
{
    struct tesseract t = {.api = NULL};
    void *library = NULL;

    /* threads are refused later. NOLINTNEXTLINE(concurrency-mt-unsafe): there is one now */
    (void)setenv("OMP_THREAD_LIMIT", "1", 1);
    library = dlopen("libtesseract.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !load(&t, library)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "--ocr", 0,
                           "libtesseract.so.5 is missing: install the package "
                           "libtesseract5");
    }
    t.api = t.create();
    if (t.api == NULL || t.init(t.api, NULL, languages) != 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "--ocr", 0,
                           "no data of the languages %s: install tesseract-ocr-eng and "
                           "the like",
                           languages);
    }
    tesseract = t;
    return ERR_OK;
}

bool ocr_text(const struct raster *r, struct found *f)
{
    struct tesseract *t = &tesseract;

    if (t->api == NULL || !found_job(f)->limits.with_ocr || r->width < SIDE_LEAST ||
        r->height < SIDE_LEAST || r->width > INT_MAX / PIXEL_BYTES ||
        r->height > INT_MAX) {
        return true;
    }
    t->set_image(t->api, r->p, (int)r->width, (int)r->height, PIXEL_BYTES,
                 (int)r->width * PIXEL_BYTES);
    t->set_resolution(t->api, DOTS_PER_INCH);
    char *text = t->text(t->api);
    const bool is_more = text == NULL || found_text(f, slice_str(text), false);
    t->free_text(text);
    return is_more;
}
