/*
 * textkey - a counted key and its period as one word of text, for export and import.
 *
 * PREFIX_DIGEST_TYPE_PERIOD_NUMBER: mass_in_5791f8cac2b7d8dd_14_10m_2831519 is a key of type 14
 * in the 10 minutes that begin at 2831519 x 600 s of Unix time, 2023-11-02 07:50 UTC; _1d_19663
 * would be the whole 2023-11-02. The digest has 32 lower-case hex digits; 16 name the first half,
 * which is all that runs hold. The prefix may contain underscores; without one the word begins
 * with the digest. One text has one meaning and one meaning one text: no signs, spaces, upper-case
 * digits or leading zeros.
 * Depends: base.   Threads: pure.   Allocates: nothing.
 * Source: the keys of an older system that counted in a key-value store, kept as they were.
 */
#ifndef CORE_COUNT_TEXTKEY_H
#define CORE_COUNT_TEXTKEY_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    TEXTKEY_PREFIX_MAX = 64, /* letters, digits, '-', '.' and '_' of ASCII */
    TEXTKEY_HALF_BYTES = DIGEST_BYTES / 2,
    TEXTKEY_MAX = 160 /* bytes of any text key, with its NUL */
};
/* A period begins before the year 10000. */
#define TEXTKEY_END_S UINT64_C(253402300800)

enum textkey_period { TEXTKEY_10M, TEXTKEY_1D };

struct textkey {
    struct slice prefix; /* borrowed; may be empty */
    struct digest digest;
    unsigned digest_bytes; /* DIGEST_BYTES, or TEXTKEY_HALF_BYTES: the others are 0 */
    uint16_t type;
    enum textkey_period period;
    uint64_t number; /* of the period since 1970 */
};

/* ERR_SYNTAX, or ERR_RANGE for a type or number too large; the text says what is wrong. The
 * prefix lies in text. */
enum err textkey_parse(struct slice text, struct textkey *ret, struct errinfo *reterr);

/* ERR_SYNTAX, ERR_RANGE: a prefix, length or number that no text key has. */
enum err textkey_print(const struct textkey *key, char ret[TEXTKEY_MAX]);

/* Seconds of a period, and where a key's period begins, in Unix time. */
uint64_t textkey_period_s(enum textkey_period period);
uint64_t textkey_begin_s(const struct textkey *key);

/* The first half as the number that runs and tables hold; 0 is held as 1. */
uint64_t textkey_key64(const struct textkey *key);

#endif
