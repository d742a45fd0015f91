/*
 * advice - settings of a valid configuration that have no effect, for `gillnet config check`,
 * `gillnetd -t` and `gillnet doctor`.
 * Threads: pure.   Owns: nothing.
 */
#ifndef CORE_CONFIG_ADVICE_H
#define CORE_CONFIG_ADVICE_H

#include "core/config/config.h"

struct config_advice {
    const char *kind; /* of what it is about: "list ", "rule ", "trap ", or "" */
    const char *name; /* or "" */
    const char *what; /* is without effect, and why */
    const char *todo;
};

/* The i-th piece of advice about c, from 0 on. False: the last one was before it. */
bool config_advice(const struct config *c, size_t i, struct config_advice *ret);

#endif
