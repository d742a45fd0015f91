/* inflate - zlib is given the input in steps, so that its 32-bit counts and the budget hold. */
#define ZLIB_CONST /* next_in does not change what it points at */
#include "core/message/archive/inflate.h"

#include <zlib.h>

enum { OUT_STEP = 16 * 1024, IN_STEP = 1 << 20 };

struct archive_budget archive_budget_start(void)
{
    return (struct archive_budget){.entries = ARCHIVE_ENTRIES_MAX,
                                   .inflated = ARCHIVE_INFLATED_MAX,
                                   .ratio = ARCHIVE_RATIO_MAX};
}

bool archive_budget_entry(struct archive_budget *b)
{
    if (b->entries == 0) {
        b->limits_met |= ARCHIVE_LIMIT_ENTRIES;
        return false;
    }
    b->entries--;
    return true;
}

/* Takes n bytes of output from the budget; false: one of its bounds is met. */
static bool may_give(struct archive_budget *b, size_t n, uint64_t in, uint64_t out)
{
    if (n > b->inflated) {
        b->limits_met |= ARCHIVE_LIMIT_INFLATED;
        return false;
    }
    b->inflated -= n;
    if (b->has_time != NULL && !b->has_time(b->context, n)) {
        return false;
    }
    if (out > ARCHIVE_RATIO_FREE && out / b->ratio > in) {
        b->limits_met |= ARCHIVE_LIMIT_RATIO;
        return false;
    }
    return true;
}

size_t inflate_stream(struct archive_budget *budget, struct slice in,
                      enum inflate_format format,
                      bool (*data)(void *context, struct slice bytes), void *context,
                      bool *retwhole)
{
    unsigned char out[OUT_STEP];
    z_stream z = {0};
    size_t at = 0;
    uint64_t given = 0;
    int status = Z_OK;
    *retwhole = false;
    if (inflateInit2(&z, format == INFLATE_RAW ? -MAX_WBITS : MAX_WBITS) != Z_OK) {
        return 0;
    }
    while (status == Z_OK) {
        size_t step = in.n - at < IN_STEP ? in.n - at : IN_STEP;
        z.next_in = (const unsigned char *)in.p + at;
        z.avail_in = (uInt)step;
        z.next_out = out;
        z.avail_out = sizeof(out);
        status = inflate(&z, Z_NO_FLUSH);
        size_t n = sizeof(out) - z.avail_out;
        size_t used = step - z.avail_in;
        at += used;
        given += n;
        if (n == 0 && used == 0) {
            break; /* the input ends in mid-stream, or is none */
        }
        if (n > 0 && (!may_give(budget, n, at, given) ||
                      !data(context, slice_of((const char *)out, n)))) {
            status = Z_DATA_ERROR;
        }
    }
    *retwhole = status == Z_STREAM_END;
    (void)inflateEnd(&z);
    return at;
}
