/*
 * pattern - regular expressions of one kind of value in one pass: vectorscan, and PCRE2 with limits
 * for those that vectorscan refuses.
 *
 * Patterns are UTF-8, caseless, and match anywhere. Values are made valid UTF-8 first: other bytes
 * are U+FFFD to them.
 * Threads: a set is constant once made; a pattern_work belongs to one thread at a time.
 * ADR 0059.
 */
#ifndef CORE_VERDICT_RULE_PATTERN_H
#define CORE_VERDICT_RULE_PATTERN_H

#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/verdict/rule/pattern_cache.h"

/* One expression; id is what its match reports. */
struct pattern_source {
    const char *text;
    uint32_t id;
};

struct pattern_set;
/* Tells why the i-th source cannot be used. */
typedef void pattern_refuse_fn(void *context, size_t i, const char *why);

/* is_text: for a text that comes in pieces (pattern_stream); no PCRE2 then. Equal patterns in the
 * cache (or NULL) are taken from there, not compiled. NULL: refuse_one got all errors (i = 0
 * without memory). */
struct pattern_set *pattern_set_new(const struct pattern_source *sources, size_t n,
                                    bool is_text, const struct pattern_cache *cache,
                                    pattern_refuse_fn *refuse_one, void *context);
void pattern_set_free(struct pattern_set **s);
bool pattern_set_is_cached(const struct pattern_set *s);
/* Adds the set to the entries of a cache. False: no memory. */
bool pattern_set_pack(const struct pattern_set *s, struct buf *entries);
void pattern_set_counts(const struct pattern_set *s, size_t *retfast, size_t *retslow);

/* Memory for matching, big enough for every set that it was grown for. */
struct pattern_work;
struct pattern_work *pattern_work_new(void);
bool pattern_work_grow(struct pattern_work *w, const struct pattern_set *s);
struct pattern_work *pattern_work_clone(const struct pattern_work *w);
void pattern_work_free(struct pattern_work **w);
/* A new message begins: its budget of PCRE2 is whole again. */
void pattern_work_begin(struct pattern_work *w);

/* given_up: PCRE2 met a limit, so nobody knows. */
typedef void pattern_match_fn(void *context, uint32_t id, bool given_up);
void pattern_match(const struct pattern_set *s, struct pattern_work *w,
                   struct slice value, pattern_match_fn *on_match, void *context);

/* A text in pieces. NULL: no memory. */
struct pattern_stream;
struct pattern_stream *pattern_stream_new(const struct pattern_set *s);
/* bytes are valid UTF-8, cut between characters. */
void pattern_stream_add(struct pattern_stream *t, struct pattern_work *w,
                        struct slice bytes, pattern_match_fn *on_match, void *context);
/* Ends and frees it. */
void pattern_stream_end(struct pattern_stream **t, struct pattern_work *w,
                        pattern_match_fn *on_match, void *context);

/* Writes text to dst (of at least 3 bytes for each byte of it) as valid UTF-8. Returns the number
 * of bytes. */
size_t pattern_clean(struct slice text, char *dst);
bool pattern_is_clean(struct slice text);

#endif
