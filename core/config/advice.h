/*
 * advice - what a good configuration says that can have no effect. `gillnet config check`, `gillnetd -t` and
 * `gillnet doctor` say the same.
 * Threads: pure.   Owns: nothing.
 */
#ifndef CORE_CONFIG_ADVICE_H
#define CORE_CONFIG_ADVICE_H

#include "core/config/config.h"

struct config_advice {
    const char *list; /* that it is about; NULL: none */
    const char *what; /* is without effect, and why */
    const char *todo;
};

/* The i-th piece of advice about c, from 0 on; false: there are no more. */
bool config_advice(const struct config *c, size_t i, struct config_advice *ret);

#endif
