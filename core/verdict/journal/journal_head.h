/*
 * journal_head - the beginning of each file of the journal: its version, the key of its digests,
 * and the names of the numbers in its records.
 *
 * A newer version of gillnet therefore reads the traits, limits and words of identity of an older
 * one by their names. The head stands twice, each copy with a sum; one whole copy is enough.
 * Threads: pure.   Allocates: nothing; names point into the bytes that were read.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_HEAD_H
#define CORE_VERDICT_JOURNAL_JOURNAL_HEAD_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    JOURNAL_HEAD_COPY = 16384, /* bytes of one of the two copies */
    JOURNAL_HEAD = 2 * JOURNAL_HEAD_COPY,
    JOURNAL_NAMES_MAX = 1024 /* of one kind */
};

enum journal_name {
    JOURNAL_TRAIT,
    JOURNAL_IDENTITY,
    JOURNAL_LIMIT,
    JOURNAL_ANSWER,
    JOURNAL_SILENCE,
    JOURNAL_NAME_KINDS
};

struct journal_names {
    uint32_t key_id; /* of the digest key of this file */
    size_t n[JOURNAL_NAME_KINDS];
    struct slice v[JOURNAL_NAME_KINDS][JOURNAL_NAMES_MAX];
};

/* JOURNAL_HEAD bytes of this version into an empty ret. */
void journal_head_print(uint32_t key_id, struct buf *ret);
/* bytes: at least JOURNAL_HEAD, else ERR_CORRUPT, as for damage. ERR_VERSION: of a version that
 * this one cannot read. Texts of errors name the file. */
enum err journal_head_parse(struct slice bytes, const char *path,
                            struct journal_names *ret, struct errinfo *reterr);
/* The name of a number; "unknown" for one without. */
struct slice journal_name(const struct journal_names *names, enum journal_name kind,
                          size_t number);
/* The number of a name, or -1. */
int journal_number(const struct journal_names *names, enum journal_name kind,
                   struct slice name);

#endif
