/*
 * filter_cuckoo - the cuckoo filter as a subject: one writer, so one thread builds it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/lab/cuckoo.h"

#include "tests/bench/filter_subject.h"

static void cuckoo_subject_add(struct subject *s, const struct digest *d, size_t n)
{
    size_t added = 0;
    if (cuckoo_add_batch(s->own, d, n, &added) != ERR_OK) {
        s->refused += n - added; /* they will be missing */
    }
}

static void cuckoo_subject_test(const struct subject *s, const struct digest *d,
                                size_t n, uint8_t *rethit)
{
    cuckoo_test_batch(s->own, d, n, rethit);
}

static void cuckoo_subject_fini(struct subject *s)
{
    struct cuckoo *c = s->own;
    if (s->refused != 0) {
        (void)fprintf(stderr, "bench_filter: the cuckoo filter refused %llu keys\n",
                      (unsigned long long)s->refused);
    }
    (void)munmap(c->buckets, s->bytes);
    free(c);
}

bool subject_cuckoo(struct subject *s, uint64_t keys, const struct hashkey *key)
{
    uint64_t nbuckets = cuckoo_buckets_for(keys);
    struct cuckoo *c = calloc(1, sizeof(*c));
    if (!c || nbuckets == 0) {
        free(c);
        return false;
    }
    c->nbuckets = nbuckets;
    c->buckets = bench_memory(nbuckets * CUCKOO_BUCKET_BYTES);
    cuckoo_key(c, key);
    *s = (struct subject){
        .name = "cuckoo",
        .keys = keys,
        .memory = c->buckets,
        .bytes = nbuckets * CUCKOO_BUCKET_BYTES,
        .formula = cuckoo_error(nbuckets, keys),
        .k = 2, /* buckets */
        .own = c,
        .add = cuckoo_subject_add,
        .test = cuckoo_subject_test,
        .fini = cuckoo_subject_fini,
    };
    return true;
}
