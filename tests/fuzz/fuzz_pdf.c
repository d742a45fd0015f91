/* fuzz_pdf - any bytes as a PDF file: links within their bound, and no more text than there is. */
#include "core/message/archive/pdf.h"

#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t links;
    uint64_t bytes;
};

static void on_link(void *context, struct slice text, bool is_wide)
{
    struct seen *s = context;
    FUZZ_CHECK(text.n > 0 && text.n <= PDF_LINK_MAX);
    s->links += is_wide ? 2 : 1;
    s->bytes += text.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen s = {0};
    struct archive_budget budget = archive_budget_start();
    (void)pdf_read(slice_of((const char *)data, size), &budget, on_link, &s);
    FUZZ_CHECK(s.bytes <= size + ARCHIVE_INFLATED_MAX - budget.inflated);
    return 0;
}
