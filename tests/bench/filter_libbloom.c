/*
 * filter_libbloom - Debian's libbloom as a subject; loaded by dlopen, because its names clash with
 * gillnet's.
 */
#include <bloom.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/filter_subject.h"

typedef int init_fn(struct bloom *bloom, int entries, double error);
typedef int add_fn(struct bloom *bloom, const void *buffer, int len);
typedef void free_fn(struct bloom *bloom);

struct libbloom {
    struct bloom bloom;
    void *library;
    init_fn *init;
    add_fn *add;
    add_fn *check;
    free_fn *release;
};

static void libbloom_add(struct subject *s, const struct digest *d, size_t n)
{
    struct libbloom *l = s->own;
    for (size_t i = 0; i < n; i++) {
        l->add(&l->bloom, d[i].b, DIGEST_BYTES);
    }
}

static void libbloom_test(const struct subject *s, const struct digest *d, size_t n,
                          uint8_t *rethit)
{
    struct libbloom *l = s->own;
    for (size_t i = 0; i < n; i++) {
        rethit[i] = l->check(&l->bloom, d[i].b, DIGEST_BYTES) == 1;
    }
}

static void libbloom_close(struct libbloom *l)
{
    if (l->library) {
        (void)dlclose(l->library);
    }
    free(l);
}

static void libbloom_fini(struct subject *s)
{
    struct libbloom *l = s->own;
    l->release(&l->bloom);
    libbloom_close(l);
}

static bool functions_found(struct libbloom *l)
{
    l->library = dlopen("libbloom.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!l->library) {
        return false;
    }
    *(void **)&l->init = dlsym(l->library, "bloom_init");
    *(void **)&l->add = dlsym(l->library, "bloom_add");
    *(void **)&l->check = dlsym(l->library, "bloom_check");
    *(void **)&l->release = dlsym(l->library, "bloom_free");
    return l->init && l->add && l->check && l->release;
}

bool subject_libbloom(struct subject *s, uint64_t keys, double error)
{
    struct libbloom *l = calloc(1, sizeof(*l));
    if (!l || !functions_found(l)) {
        (void)fputs("bench_filter: libbloom.so.1 is not here: its line is left out\n",
                    stderr);
        if (l) {
            libbloom_close(l);
        }
        return false;
    }
    if (keys > INT_MAX || l->init(&l->bloom, (int)keys, error) != 0) {
        (void)fprintf(stderr, "bench_filter: libbloom refuses %llu keys\n",
                      (unsigned long long)keys);
        libbloom_close(l);
        return false;
    }
    *s = (struct subject){
        .name = "libbloom",
        .keys = keys,
        .memory = l->bloom.bf,
        .bytes = (uint64_t)l->bloom.bytes,
        .formula = error,
        .k = (unsigned)l->bloom.hashes,
        .own = l,
        .add = libbloom_add,
        .test = libbloom_test,
        .fini = libbloom_fini,
    };
    return true;
}
