/* picture - a picture of any format: its frames are decoded and looked at. */

#include "core/reader/picture/code_search.h"
#include "core/reader/picture/decode.h"
#include "core/reader/wire/format.h"

enum { PART_PIXELS = 1 << 18 }; /* of a picture that is joined with others */

struct look {
    struct found *f;
    uint64_t room; /* pixels of further frames */
    unsigned nframes;
};

static bool on_frame(void *context, const struct raster *r)
{
    struct look *look = context;
    const uint64_t n = (uint64_t)r->width * r->height;

    look->nframes++;
    if (look->nframes == 1) {
        raster_look(r, false, look->f);
        return found_room(look->f) > 0;
    }
    if (n > look->room) {
        return false;
    }
    look->room -= n;
    found_at(look->f, "frame %u", look->nframes);
    return raster_codes(r, look->f);
}

static bool on_first_frame(void *context, const struct raster *r)
{
    struct raster *to = context;

    if (raster_init(to, r->width, r->height, UINT32_MAX)) {
        memcpy(to->p, r->p, (size_t)r->width * r->height * 4);
    }
    return false;
}

/* Copies the first frame. False: there is none. */
static bool read_part(struct raster *ret, struct slice bytes, uint64_t pixels)
{
    struct decode d = {.pixels = pixels < PART_PIXELS ? pixels : PART_PIXELS,
                       .frame = on_first_frame,
                       .context = ret};

    *ret = (struct raster){.p = NULL};
    return decode_picture(&d, bytes) && ret->p != NULL;
}

/* Seeks codes that are cut over the picture and the ones behind it. */
static void read_parts(const struct reader_job *job, struct found *f)
{
    struct raster part[CODE_PICTURES_MOST];
    size_t n = 0;

    for (size_t i = 0; i <= job->nnext && n < LENGTH(part); i++) {
        n += read_part(&part[n], i == 0 ? job->bytes : job->next[i - 1],
                       job->limits.pixels)
                 ? 1
                 : 0;
    }
    code_together(part, n, f);
    while (n > 0) {
        raster_fini(&part[--n]);
    }
}

void picture_read(const struct reader_job *job, struct found *f)
{
    struct look look = {.f = f, .room = job->limits.pixels};
    struct decode d = {
        .pixels = job->limits.pixels, .frame = on_frame, .context = &look};

    if (job->nnext > 0) {
        read_parts(job, f);
        return;
    }
    if (!decode_picture(&d, job->bytes)) {
        (void)found_fact(f, RECORD_UNKNOWN);
        return;
    }
    found_at(f, "%s", "");
    if (d.is_shrunk) {
        (void)found_fact(f, RECORD_PIXELS);
    }
    if (d.is_damaged) {
        (void)found_fact(f, RECORD_DAMAGED);
    }
}
