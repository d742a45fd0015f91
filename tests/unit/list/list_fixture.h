/*
 * list_fixture - a state folder with keys and a few hands to make and ask lists.
 */
#ifndef TESTS_UNIT_LIST_LIST_FIXTURE_H
#define TESTS_UNIT_LIST_LIST_FIXTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/list/list.h"
#include "core/list/writer.h"

#include "tests/unit/list/list_change.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define NAME SLICE_LIT("test")

struct fixture {
    char state[64];
    char dir[128];
    struct keyring keys;
    struct errinfo info;
    struct arena *arena;
};

static inline void fixture_write_key(const struct fixture *f, const char *name,
                                     const char *hex)
{
    char path[sizeof(f->state) + 32];
    snprintf(path, sizeof(path), "%s/keys", f->state);
    (void)mkdir(path, 0750); /* there since the first key */
    snprintf(path, sizeof(path), "%s/keys/%s", f->state, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    assert_true(fputs(hex, out) > 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, 0640), 0);
}

static inline int fixture_setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    snprintf(f->state, sizeof(f->state), "/tmp/gillnet-list-XXXXXX");
    assert_non_null(mkdtemp(f->state));
    snprintf(f->dir, sizeof(f->dir), "%s/lists/test", f->state);
    /* known keys: the order of the entries in the files is the same in every run */
    fixture_write_key(f, "digest.key", "000102030405060708090a0b0c0d0e0f\n");
    fixture_write_key(f, "filter.key", "101112131415161718191a1b1c1d1e1f\n");
    if (keyring_load_or_create(f->state, &f->keys, &f->info) != ERR_OK) {
        fail_msg("%s: %s", f->info.source, f->info.text);
    }
    f->arena = arena_new(1 << 20);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    (void)tempdir_remove(f->state);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static inline void must_at(struct fixture *f, enum err e, const char *what, int line)
{
    if (e != ERR_OK) {
        fail_msg("line %d: %s: %s: %s: %s", line, what, err_text(e), f->info.source,
                 f->info.text);
    }
}
#define MUST(f, call) must_at(f, call, #call, __LINE__)

static inline struct list_writer *open_writer(struct fixture *f)
{
    struct list_writer *w = NULL;
    MUST(f, list_writer_open(f->state, NAME, &f->keys, true, &w, &f->info));
    return w;
}

static inline struct list_reader *open_reader(struct fixture *f)
{
    struct list_reader *r = NULL;
    MUST(f, list_reader_open(f->state, NAME, &f->keys, &r, &f->info));
    return r;
}

/* The n-th test entry: a domain. The text lies in a buffer of the caller. */
static inline struct feature_entry entry_number(uint64_t n, char text[64])
{
    int length = snprintf(text, 64, "host-%llu.example", (unsigned long long)n);
    return (struct feature_entry){.class_type = FEATURE_domain,
                                  .text = slice_of(text, (size_t)length)};
}

static inline void add_number(struct fixture *f, struct list_writer *w, uint64_t n)
{
    char text[64];
    struct feature_entry e = entry_number(n, text);
    MUST(f, list_add(w, &e, SLICE_LIT("test"), 0, &f->info));
}

static inline void revoke_number(struct fixture *f, struct list_writer *w, uint64_t n)
{
    char text[64];
    struct feature_entry e = entry_number(n, text);
    MUST(f, list_revoke(w, &e, SLICE_LIT("test"), &f->info));
}

static inline struct list_import_result import_range(struct fixture *f,
                                                     struct list_writer *w,
                                                     uint64_t from, uint64_t to,
                                                     uint32_t expiry_s)
{
    struct list_import *im = NULL;
    struct list_import_result result;
    MUST(f, list_import_begin(w, SLICE_LIT("feed"), &im, &f->info));
    for (uint64_t n = from; n < to; n++) {
        char text[64];
        struct feature_entry e = entry_number(n, text);
        MUST(f, list_import_add(im, &e, expiry_s, &f->info));
    }
    MUST(f, list_import_commit(&im, NULL, NULL, &result, &f->info));
    assert_null(im);
    return result;
}

static inline struct digest digest_of(const struct list_reader *r, uint64_t n)
{
    char text[64];
    struct digest d;
    struct feature_entry e = entry_number(n, text);
    digest_make(list_reader_key(r), e.class_type, e.text, &d);
    return d;
}

/* State of the n-th entry in the list at time now_s, filters first as in the mail path. */
static inline enum list_answer ask_number(const struct list_reader *r, uint64_t n,
                                          uint64_t now_s)
{
    struct digest d = digest_of(r, n);
    uint8_t hit = 7;
    list_reader_test(r, &d, 1, &hit);
    return hit ? list_reader_confirm(r, &d, now_s) : LIST_NO;
}

static inline bool is_absent(enum list_answer a)
{
    return a == LIST_NO || a == LIST_FALSE_POSITIVE;
}

struct findings {
    unsigned n;
    bool is_loud;
    struct errinfo first;
};

static inline void count_finding(void *context, const struct errinfo *finding)
{
    struct findings *x = context;
    if (x->n++ == 0) {
        x->first = *finding;
    }
    if (x->is_loud) {
        print_error("finding: %s: %s\n", finding->source, finding->text);
    }
}

static inline void assert_verified(const struct fixture *f)
{
    struct findings x = {.is_loud = true};
    assert_int_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x), ERR_OK);
    assert_int_equal(x.n, 0);
}

/* Damage to a file of the list: the byte at offset (from the end when negative) is changed. */
static inline void flip_byte(const struct fixture *f, const char *file, long offset)
{
    char path[256];
    char c = 0;
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    off_t at = offset < 0 ? st.st_size + offset : offset;
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c = (char)(c ^ 0x10);
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static inline void cut_file(const struct fixture *f, const char *file, off_t size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    assert_int_equal(truncate(path, size), 0);
}

static inline void remove_file(const struct fixture *f, const char *file)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    assert_int_equal(unlink(path), 0);
}

static inline bool has_file(const struct fixture *f, const char *file)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->dir, file);
    return access(path, F_OK) == 0;
}

#endif
