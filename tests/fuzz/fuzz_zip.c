/*
 * fuzz_zip - any bytes as a zip file: events are well nested, all bounds hold, and reading it again
 * gives the same.
 */
#include "core/message/archive/zip.h"

#include "tests/fuzz/fuzz_archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_archive once = {.budget = archive_budget_start()};
    struct fuzz_archive again = {.budget = archive_budget_start()};
    struct slice file = slice_of((const char *)data, size);
    zip_read(file, &once.budget, &fuzz_archive_events, &once);
    zip_read(file, &again.budget, &fuzz_archive_events, &again);
    fuzz_archive_check(&once);
    FUZZ_CHECK(once.sum == again.sum);
    return 0;
}
