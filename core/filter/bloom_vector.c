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

/* NULL until the first batch. Relaxed both ways: each thread stores the same address of a
 * constant. */
static const struct bloom_lines *chosen;

static const struct bloom_lines *lines_of(enum bloom_vector kind)
{
    switch (kind) {
    case BLOOM_VECTOR_PLAIN:
        return &bloom_lines_plain;
    case BLOOM_VECTOR_NEON:
#if defined(__aarch64__) && defined(__AARCH64EL__)
        return &bloom_lines_neon;
#else
        return NULL;
#endif
    case BLOOM_VECTOR_AVX2:
#if defined(__x86_64__)
        return __builtin_cpu_supports("avx2") ? &bloom_lines_avx2 : NULL;
#else
        return NULL;
#endif
    case BLOOM_VECTOR_AVX512:
#if defined(__x86_64__)
        return __builtin_cpu_supports("avx512f") ? &bloom_lines_avx512 : NULL;
#else
        return NULL;
#endif
    }
    return NULL;
}

const struct bloom_lines *bloom_lines(void)
{
    const struct bloom_lines *lines = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (lines) {
        return lines;
    }
    /* the thread sanitizer sees only plain code: there vectors are for tests alone */
    enum bloom_vector kind = HAS_TSAN ? BLOOM_VECTOR_PLAIN : BLOOM_VECTOR_AVX512;
    while (!(lines = lines_of(kind))) {
        kind--;
    }
    __atomic_store_n(&chosen, lines, __ATOMIC_RELAXED);
    return lines;
}

bool bloom_vector_force(enum bloom_vector kind)
{
    const struct bloom_lines *lines = lines_of(kind);
    if (lines) {
        __atomic_store_n(&chosen, lines, __ATOMIC_RELAXED);
    }
    return lines != NULL;
}
