/*
 * fuzz - what a fuzz target is, and the check that it may use.
 *
 * tests/fuzz/fuzz_NAME.c defines LLVMFuzzerTestOneInput; seeds lie in tests/fuzz/seeds/NAME/.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/slice.h"

enum { FUZZ_ARENA = 64 << 20 };

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition) fuzz_check((condition), __FILE__, __LINE__, #condition)

/* Ends the program, as a fuzzer wants it, when what must hold does not. */
static inline void fuzz_check(bool holds, const char *file, int line, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
        abort();
    }
}

#endif
