/*
 * fake_smfi - libmilter's functions for tests: they record their calls.
 *
 * Callback sequences become data: call the functions of callbacks_describe in any order with a
 * fake context, then read the recorded requests to the MTA.
 */
#ifndef TESTS_UNIT_MILTER_FAKE_SMFI_H
#define TESTS_UNIT_MILTER_FAKE_SMFI_H

#include "milter/libmilter.h"

enum { FAKE_MACROS_MAX = 8, FAKE_LOG_MAX = 64 * 1024 };

struct fake_ctx {
    void *priv;
    struct {
        const char *name;
        const char *value;
    } macros[FAKE_MACROS_MAX];
    bool fails_setpriv;
    bool fails_insert;
    bool fails_quarantine;
    bool fails_change;
    size_t n;
    char log[FAKE_LOG_MAX]; /* one line a call, such as "ins 1 NAME: VALUE" */
};

/* The context as libmilter's callbacks get it. */
SMFICTX *fake_smfi(struct fake_ctx *f);
void fake_clear_log(struct fake_ctx *f);

#endif
