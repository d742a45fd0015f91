/* run_image - runs that tests write, and their bytes, to be damaged and written again. */
#ifndef TESTS_UNIT_STORE_RUN_IMAGE_H
#define TESTS_UNIT_STORE_RUN_IMAGE_H

#include <fcntl.h>

#include "core/base/file.h"
#include "core/store/run.h"

#include "tests/unit/tempdir.h"

static const struct run_id an_id = {
    .origin = {1, 2, 3}, .inc = 77, .start_s = 600000, .len_s = 600, .key_id = 9};

static inline void write_run(const char *path, const struct run_id *id,
                             const struct run_record *records, size_t n)
{
    struct run_writer *w = NULL;
    assert_int_equal(run_writer_new(path, id, &w, NULL), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        run_writer_add(w, &records[i]);
    }
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
    assert_null(w);
}

struct image {
    char *p;
    size_t n;
};

static inline struct image read_image(const char *path)
{
    struct buf b;
    buf_init(&b, 1 << 24);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    return (struct image){b.p, b.n};
}

static inline void write_image(const char *path, const char *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, p, n), (ssize_t)n);
    assert_int_equal(close(fd), 0);
}

#endif
