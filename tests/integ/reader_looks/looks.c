/*
 * looks - the keys of pictures that another program decoded: a line a file, keys between blanks.
 *
 *   looks FILE...        PAM (P7) of RGB_ALPHA, 8 bits
 *
 * Exit status: 0, 1 a file is no such picture.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/reader/picture/raster.h"

enum { FILE_MOST = 256 << 20, SIDE_MOST = 1 << 14 };

static bool on_records(void *context, struct slice bytes)
{
    struct record r;

    (void)context;
    while (record_next(&bytes, &r) == RECORD_OK) {
        if (r.kind == RECORD_LOOK) {
            (void)printf("%.*s ", (int)r.value.n, r.value.p);
        }
    }
    return true;
}

/* The pixels behind a head that names width and height. */
static bool decode(struct slice bytes, struct raster *r)
{
    char head[256] = "";
    unsigned w = 0;
    unsigned h = 0;
    int nhead = 0;

    memcpy(head, bytes.p, bytes.n < sizeof head - 1 ? bytes.n : sizeof head - 1);
    (void)sscanf(head,
                 "P7\nWIDTH %u\nHEIGHT %u\nDEPTH 4\nMAXVAL 255\nTUPLTYPE "
                 "RGB_ALPHA\nENDHDR%n",
                 &w, &h, &nhead);
    bytes = slice_from(bytes, (size_t)nhead + 1);
    if (nhead == 0 || w == 0 || h == 0 || w > SIDE_MOST || h > SIDE_MOST ||
        bytes.n < (size_t)w * h * 4) {
        return false;
    }
    *r = (struct raster){.p = malloc(bytes.n), .width = w, .height = h};
    if (r->p != NULL) {
        memcpy(r->p, bytes.p, bytes.n);
    }
    return r->p != NULL;
}

static bool print_keys(const char *path)
{
    static const struct reader_job job = {
        .limits = {10, 1 << 20, 200, 1, 1 << 28, false}};
    struct raster r = {.p = NULL};
    struct errinfo why;
    struct buf b;

    buf_init(&b, FILE_MOST);
    const bool ok = file_read(path, &b, &why) == ERR_OK && decode(buf_slice(&b), &r);
    if (ok) {
        struct found *f = found_new(&job, on_records, NULL);

        if (f != NULL) {
            (void)raster_keys(&r, f);
        }
        found_free(&f);
        (void)putchar('\n');
    } else {
        (void)fprintf(stderr, "looks: %s: no PAM\n", path);
    }
    free(r.p);
    buf_fini(&b);
    return ok;
}

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        if (!print_keys(argv[i])) {
            return 1;
        }
    }
    return 0;
}
