/*
 * fuzz_tnef - any bytes as winmail.dat and as compressed RTF: events are well nested, and all
 * bounds hold.
 */
#include "core/message/archive/rtf.h"
#include "core/message/archive/tnef.h"

#include "tests/fuzz/fuzz_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_archive file = {.budget = archive_budget_start()};
    struct fuzz_archive text = {.budget = archive_budget_start(), .is_open = true};
    struct slice bytes = slice_of((const char *)data, size);
    tnef_read(bytes, &file.budget, &fuzz_archive_events, &file);
    fuzz_archive_check(&file);
    (void)rtf_decompress(&text.budget, bytes, fuzz_archive_on_data, &text);
    FUZZ_CHECK(text.bytes <= 17 * size + size); /* two bytes give at most 17 */
    return 0;
}
