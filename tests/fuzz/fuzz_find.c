/* fuzz_find - any bytes as text: finds lie in the text, begin in order, and do not overlap but for
 * the readings of one that runs over lines or has a shorter one, and links at the host of an
 * address. */
#include "core/message/url/find.h"
#include "core/message/url/find_number.h"

#include "tests/fuzz/fuzz.h"

struct progress {
    struct slice text;
    size_t begun;   /* where the last find began */
    size_t done;    /* where the last find ended that had no second reading */
    bool is_turned; /* some of it is read once more, as it is shown */
};

static void on_find(void *context, const struct find *find)
{
    struct progress *p = context;
    size_t begin = 0;

    FUZZ_CHECK(find->raw.p >= p->text.p);
    begin = (size_t)(find->raw.p - p->text.p);
    FUZZ_CHECK(begin + find->raw.n <= p->text.n);
    FUZZ_CHECK(p->is_turned || (begin >= p->begun && begin >= p->done));
    FUZZ_CHECK(find->text.n > 0 && (find->kind == FIND_BARE || find->scheme.n > 0));
    p->begun = begin;
    if ((find->flags & (FIND_SHORT | FIND_JOINED)) == 0) {
        /* the host of an address may be a link, too */
        p->done = begin + (find->kind == FIND_ADDRESS ? 1 : find->raw.n);
    }
}

static void on_number(void *context, const struct find_number *number)
{
    struct slice *rest = context;

    FUZZ_CHECK(number->text.n > PHONE_DIGITS_MIN && number->text.n <= WALLET_BYTES_MAX);
    FUZZ_CHECK(number->raw.p >= rest->p &&
               number->raw.p + number->raw.n <= rest->p + rest->n);
    *rest = slice_from(*rest, (size_t)(number->raw.p + number->raw.n - rest->p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct progress p = {.text = slice_of((const char *)data, size)};

    p.is_turned = slice_find_slice(p.text, SLICE_LIT("\xe2\x80\xae")) < size;
    find_in_text(p.text, FIND_IN_PROSE, on_find, &p);
    p.begun = 0;
    p.done = 0;
    find_in_text(p.text, FIND_IN_CODE, on_find, &p);
    struct slice rest = p.text;
    find_numbers_in_text(p.text, on_number, &rest);
    return 0;
}
