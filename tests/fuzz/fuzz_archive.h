/*
 * fuzz_archive - what the events of every reader of archives must keep to.
 */
#ifndef TESTS_FUZZ_FUZZ_ARCHIVE_H
#define TESTS_FUZZ_FUZZ_ARCHIVE_H

#include "core/message/archive/archive.h"

#include "tests/fuzz/fuzz.h"

struct fuzz_archive {
    struct archive_budget budget;
    bool is_open;
    uint64_t files;
    uint64_t bytes;
    uint64_t sum; /* of names and data, wherever these were cut */
};

static inline void fuzz_archive_mix(struct fuzz_archive *f, struct slice bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        f->sum = f->sum * 31 + (unsigned char)bytes.p[i] + 1;
    }
}

static void fuzz_archive_on_name(void *context, struct slice name, struct slice charset)
{
    struct fuzz_archive *f = context;
    FUZZ_CHECK(!f->is_open && name.n <= ARCHIVE_NAME_MAX);
    fuzz_archive_mix(f, name);
    fuzz_archive_mix(f, charset);
}

static bool fuzz_archive_on_begin(void *context, const struct archive_file *file)
{
    struct fuzz_archive *f = context;
    FUZZ_CHECK(!f->is_open && file->name.n <= ARCHIVE_NAME_MAX);
    fuzz_archive_mix(f, file->name);
    f->files++;
    f->is_open = !file->is_encrypted;
    return f->is_open;
}

static bool fuzz_archive_on_data(void *context, struct slice bytes)
{
    struct fuzz_archive *f = context;
    FUZZ_CHECK(f->is_open && bytes.n > 0);
    f->bytes += bytes.n;
    fuzz_archive_mix(f, bytes);
    return true;
}

static void fuzz_archive_on_end(void *context, bool whole)
{
    struct fuzz_archive *f = context;
    FUZZ_CHECK(f->is_open);
    f->is_open = false;
    f->sum = f->sum * 31 + whole;
}

static const struct archive_events fuzz_archive_events
    __attribute__((unused)) = {fuzz_archive_on_name, fuzz_archive_on_begin,
                               fuzz_archive_on_data, fuzz_archive_on_end};

static inline void fuzz_archive_check(const struct fuzz_archive *f)
{
    FUZZ_CHECK(!f->is_open && f->files <= ARCHIVE_ENTRIES_MAX);
}

#endif
