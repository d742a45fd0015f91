/*
 * bloom_vector - which instructions test a batch of lines on this machine.
 */
#include "core/filter/bloom_vector.h"

/* gcc says it by a macro, clang by a feature. */
#if defined(__SANITIZE_THREAD__)
#    define HAS_TSAN 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define HAS_TSAN 1
#    endif
#endif
#ifndef HAS_TSAN
#    define HAS_TSAN 0
#endif

/* NULL until the first batch. Relaxed both ways: whoever comes first stores the same address,
 * and it points to code. */
static bloom_lines_fn *chosen;

static bloom_lines_fn *lines_of(enum bloom_vector kind)
{
    switch (kind) {
    case BLOOM_VECTOR_PLAIN:
        return bloom_lines_plain;
    case BLOOM_VECTOR_NEON:
#if defined(__aarch64__) && defined(__AARCH64EL__)
        return bloom_lines_neon;
#else
        return NULL;
#endif
    case BLOOM_VECTOR_AVX2:
#if defined(__x86_64__)
        return __builtin_cpu_supports("avx2") ? bloom_lines_avx2 : NULL;
#else
        return NULL;
#endif
    case BLOOM_VECTOR_AVX512:
#if defined(__x86_64__)
        return __builtin_cpu_supports("avx512f") ? bloom_lines_avx512 : NULL;
#else
        return NULL;
#endif
    }
    return NULL;
}

bloom_lines_fn *bloom_lines(void)
{
    bloom_lines_fn *fn = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (fn) {
        return fn;
    }
    /* the thread sanitizer sees only plain code: there vectors are for tests alone */
    enum bloom_vector kind = HAS_TSAN ? BLOOM_VECTOR_PLAIN : BLOOM_VECTOR_AVX512;
    while (!(fn = lines_of(kind))) {
        kind--;
    }
    __atomic_store_n(&chosen, fn, __ATOMIC_RELAXED);
    return fn;
}

bool bloom_vector_force(enum bloom_vector kind)
{
    bloom_lines_fn *fn = lines_of(kind);
    if (fn) {
        __atomic_store_n(&chosen, fn, __ATOMIC_RELAXED);
    }
    return fn != NULL;
}

const char *bloom_vector_name(void)
{
    static const char *const names[] = {
        [BLOOM_VECTOR_PLAIN] = "plain",
        [BLOOM_VECTOR_NEON] = "neon",
        [BLOOM_VECTOR_AVX2] = "avx2",
        [BLOOM_VECTOR_AVX512] = "avx512",
    };
    bloom_lines_fn *fn = bloom_lines();
    unsigned kind = BLOOM_VECTOR_AVX512;
    while (kind > BLOOM_VECTOR_PLAIN && lines_of(kind) != fn) {
        kind--;
    }
    return names[kind];
}
