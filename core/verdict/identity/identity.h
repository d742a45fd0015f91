/*
 * identity - who sent a message, and what proves it.
 *
 * The words are one table, identity.def. A word that is absent says nothing: without results of a
 * trusted server a message has neither dmarc_pass nor dmarc_fail.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_VERDICT_IDENTITY_IDENTITY_H
#define CORE_VERDICT_IDENTITY_IDENTITY_H

#include "core/base/slice.h"

enum identity_word {
#define IDENTITY(name, help) IDENTITY_##name,
#include "core/verdict/identity/identity.def"
#undef IDENTITY
    IDENTITY_WORDS
};

struct identity {
    uint64_t words;      /* a bit for each enum identity_word */
    struct slice domain; /* organisational domain of From that is proved; empty: none */
};

static inline bool identity_has(const struct identity *i, enum identity_word word)
{
    return i != NULL && (i->words >> word & 1) != 0;
}

#endif
