/*
 * fuzz - what a fuzz target is, and the check that it may use.
 *
 * tests/fuzz/fuzz_NAME.c defines LLVMFuzzerTestOneInput; seeds lie in tests/fuzz/seeds/NAME/.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/slice.h"

enum { FUZZ_ARENA = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program, as a fuzzer wants it, when what must hold does not. */
#define FUZZ_CHECK(condition)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
                          #condition);                                         \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
