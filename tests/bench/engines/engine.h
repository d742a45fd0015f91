/*
 * engine - the three stores under one harness (engines.c): gillnet's lists, RocksDB, plain LMDB.
 *
 * Entry i is the text value-I.example under the digest that the engine makes of it. A function that
 * fails at what the harness cannot go on without prints why and exits with ENGINE_REFUSED.
 */
#ifndef TESTS_BENCH_ENGINES_ENGINE_H
#define TESTS_BENCH_ENGINES_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENGINE_REFUSED = 3, ENGINE_TEXT = 40, ENGINE_DIGEST = 16, ENGINE_VALUE = 12 };

struct engine_entry {
    char text[ENGINE_TEXT];
    size_t length;
    uint8_t digest[ENGINE_DIGEST];
};

enum engine_mode { ENGINE_WRITE, ENGINE_READ };
enum engine_answer { ENGINE_NO, ENGINE_YES, ENGINE_WRONG, ENGINE_ERROR };

struct engine {
    const char *name;
    /* Into a new store, all or nothing. The digests of 0..n-1. */
    void (*load)(const char *dir, uint64_t n);
    void (*open)(const char *dir, enum engine_mode mode);
    void (*digest)(struct engine_entry *e);
    /* Durable on return when is_synced. */
    void (*put)(const struct engine_entry *e, size_t n, bool is_synced);
    void (*get)(const struct engine_entry *e, size_t n, enum engine_answer *ret);
    void (*refresh)(void);   /* called four times a second by a thread of its own */
    bool (*has_fault)(void); /* a reader that knows of damage */
    void (*close)(void);
};

extern const struct engine engine_built; /* one engine in each program */

void engine_text(uint64_t i, struct engine_entry *ret);
_Noreturn void engine_refuse(const char *what, const char *why);

/* For engines that have no digest and no import of their own. */
void engine_digest_keyed(struct engine_entry *e);
void engine_value(const uint8_t digest[ENGINE_DIGEST], uint8_t ret[ENGINE_VALUE]);
typedef void engine_sorted_fn(void *context, const uint8_t digest[ENGINE_DIGEST]);
/* All digests of 0..n-1 in order; in memory, 32 bytes an entry. */
void engine_sorted(uint64_t n, engine_sorted_fn *fn, void *context);

#endif
