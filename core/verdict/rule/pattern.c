#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/verdict/rule/pattern.h"

#include <hs.h>
#include <pcre2.h>

#include "core/base/cursor.h"
#include "core/base/le.h"
#include "core/base/utf8.h"
#include "core/base/version.h"
#include "core/verdict/rule/pattern_size.h"
#include "core/verdict/rule/rule.h"

enum {
    PATTERN_VALUE_MAX = 16 * 1024, /* bytes of a value that patterns see */
    CLEAN_EACH = 3,                /* bytes of U+FFFD */
    OVECTOR_PAIRS = 1,
    WHY_MAX = 400,
    NAMED_MAX = 64 << 20, /* bytes of all patterns of a set */
    INDEX_BYTES = 4,
    COMPILE_TRIES_MAX = 64 /* patterns too large for vectorscan that are sorted out */
};

static const unsigned fast_flags =
    HS_FLAG_CASELESS | HS_FLAG_UTF8 | HS_FLAG_DOTALL | HS_FLAG_SINGLEMATCH;

/* One of PCRE2. */
struct slow {
    pcre2_code *code;
    uint32_t source;
};

struct pattern_set {
    bool is_text;
    bool is_cached;
    struct hash256 name; /* in the cache */
    uint32_t *ids; /* of each source: vectorscan reports the number of the source */
    hs_database_t *fast; /* NULL: none */
    size_t nfast;
    size_t nslow;
    struct slow *slow;
    pcre2_match_context *limits;
};

struct pattern_work {
    hs_scratch_t *scratch; /* NULL: no set needs it */
    pcre2_match_data *match;
    unsigned runs;
    unsigned given_up;
    char clean[PATTERN_VALUE_MAX * CLEAN_EACH];
};

struct pattern_stream {
    const struct pattern_set *set;
    hs_stream_t *stream;
};

/* ---- UTF-8 ---- */

static size_t ascii_run(struct slice s)
{
    size_t i = 0;
    uint64_t eight = 0;

    for (; i + sizeof(eight) <= s.n; i += sizeof(eight)) {
        memcpy(&eight, s.p + i, sizeof(eight));
        if ((eight & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80) {
        i++;
    }
    return i;
}

bool pattern_is_clean(struct slice text)
{
    for (size_t i = ascii_run(text); i < text.n; i += ascii_run(slice_from(text, i))) {
        size_t n = utf8_length((const unsigned char *)text.p + i, text.n - i);

        if (n == 0) {
            return false;
        }
        i += n;
    }
    return true;
}

size_t pattern_clean(struct slice text, char *dst)
{
    size_t used = 0;

    for (size_t i = 0; i < text.n;) {
        size_t n = ascii_run(slice_from(text, i));

        if (n == 0) {
            n = utf8_length((const unsigned char *)text.p + i, text.n - i);
        }
        if (n == 0) {
            used += utf8_put(dst + used, 0xfffd);
            n = 1;
        } else {
            memcpy(dst + used, text.p + i, n);
            used += n;
        }
        i += n;
    }
    return used;
}

/* ---- compiling ---- */

struct making {
    const struct pattern_source *sources;
    pattern_refuse_fn *refuse;
    void *context;
    bool is_refused;
    unsigned sizes; /* of the patterns that go to vectorscan */
    struct pattern_set *set;
    size_t n; /* of the arrays, which go to vectorscan */
    const char **texts;
    unsigned *flags;
    unsigned *from; /* in sources */
};

static void refuse_pattern(struct making *m, size_t i, const char *why)
{
    m->is_refused = true;
    m->refuse(m->context, i, why);
}

/* A pattern for PCRE2; reason: vectorscan's message. */
static void add_slow(struct making *m, size_t i, const char *reason)
{
    struct pattern_set *s = m->set;
    char why[WHY_MAX];
    char said[WHY_MAX / 2] = "";
    int number = 0;
    PCRE2_SIZE at = 0;
    uint32_t matches_empty = 0;
    pcre2_code *code = NULL;

    if (s->is_text) {
        int n = (int)strlen(reason);

        (void)snprintf(
            why, sizeof(why),
            "vectorscan, which reads the text, refuses the pattern: %.*s; mend "
            "it, and use no look-around or back-reference",
            n > 0 && reason[n - 1] == '.' ? n - 1 : n, reason);
        refuse_pattern(m, i, why);
        return;
    }
    code = pcre2_compile((PCRE2_SPTR)m->sources[i].text, PCRE2_ZERO_TERMINATED,
                         PCRE2_CASELESS | PCRE2_UTF | PCRE2_DOTALL |
                             PCRE2_NEVER_BACKSLASH_C,
                         &number, &at, NULL);
    if (code == NULL) {
        (void)pcre2_get_error_message(number, (PCRE2_UCHAR *)said, sizeof(said));
        (void)snprintf(why, sizeof(why), "the pattern is wrong at character %zu: %s",
                       (size_t)at + 1, said);
        refuse_pattern(m, i, why);
        return;
    }
    (void)pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &matches_empty);
    if (matches_empty != 0) {
        refuse_pattern(
            m, i,
            "the pattern matches the empty text, so every value; remove a * or ?");
        pcre2_code_free(code);
        return;
    }
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* slower without it */
    s->slow[s->nslow++] = (struct slow){code, (uint32_t)i};
}

/* vectorscan would compile it for minutes. */
static bool is_unbounded(struct making *m, size_t i)
{
    unsigned size = pattern_size(slice_str(m->sources[i].text));
    bool is_large = size > PATTERN_SIZE_MAX;
    char why[WHY_MAX];

    if (!is_large && m->sizes + size <= PATTERN_SIZES_MAX) {
        m->sizes += size;
        return false;
    }
    if (is_large && !m->set->is_text) {
        add_slow(m, i, "");
        return true;
    }
    (void)snprintf(
        why, sizeof(why),
        "%s too large with %u of at most %u characters, after each x{m,n} is "
        "written out (a . counts 4, a \\p 80); write fewer or shorter {m,n}",
        is_large ? "the pattern is" : "all such patterns together are",
        is_large ? size : m->sizes + size,
        (unsigned)(is_large ? PATTERN_SIZE_MAX : PATTERN_SIZES_MAX));
    refuse_pattern(m, i, why);
    return true;
}

/* To vectorscan, to PCRE2, or refused. */
static void sort_out(struct making *m, size_t i)
{
    hs_expr_info_t *info = NULL;
    hs_compile_error_t *error = NULL;
    const char *text = m->sources[i].text;

    if (is_unbounded(m, i)) {
        return;
    }
    if (hs_expression_info(text, fast_flags, &info, &error) != HS_SUCCESS) {
        add_slow(m, i, error != NULL ? error->message : "no memory");
    } else if (info->min_width == 0) {
        refuse_pattern(
            m, i,
            "the pattern matches the empty text, so every value; remove a * or ?");
    } else {
        m->texts[m->n] = text;
        m->flags[m->n] = fast_flags;
        m->from[m->n++] = (unsigned)i;
    }
    (void)hs_free_compile_error(error);
    free(info);
}

/* The k-th of vectorscan's arrays is too large for it. */
static void move_to_slow(struct making *m, size_t k, const char *reason)
{
    size_t i = m->from[k];

    for (; k + 1 < m->n; k++) {
        m->texts[k] = m->texts[k + 1];
        m->from[k] = m->from[k + 1];
    }
    m->n--;
    add_slow(m, i, reason);
}

static bool compile_fast(struct making *m)
{
    unsigned mode = m->set->is_text ? HS_MODE_STREAM : HS_MODE_BLOCK;

    for (unsigned tries = 0; m->n > 0 && tries < COMPILE_TRIES_MAX; tries++) {
        hs_compile_error_t *error = NULL;
        hs_error_t e = hs_compile_multi(m->texts, m->flags, m->from, (unsigned)m->n,
                                        mode, NULL, &m->set->fast, &error);
        bool is_one = e != HS_SUCCESS && error != NULL && error->expression >= 0;

        if (is_one) {
            move_to_slow(m, (size_t)error->expression, error->message);
        } else if (e != HS_SUCCESS) {
            refuse_pattern(m, m->from[0],
                           error != NULL ? error->message : "out of memory");
        }
        (void)hs_free_compile_error(error);
        if (!is_one) {
            return e == HS_SUCCESS;
        }
    }
    if (m->n > 0) {
        refuse_pattern(m, m->from[0],
                       "too many patterns are too large; make them shorter");
    }
    return m->n == 0;
}

static bool make_arrays(struct making *m, size_t n)
{
    m->texts = calloc(n, sizeof(m->texts[0]));
    m->flags = calloc(n, sizeof(m->flags[0]));
    m->from = calloc(n, sizeof(m->from[0]));
    m->set = calloc(1, sizeof(*m->set));
    if (m->set != NULL) {
        m->set->slow = calloc(n, sizeof(m->set->slow[0]));
        m->set->ids = calloc(n, sizeof(m->set->ids[0]));
        m->set->limits = pcre2_match_context_create(NULL);
    }
    return m->texts != NULL && m->flags != NULL && m->from != NULL && m->set != NULL &&
           m->set->slow != NULL && m->set->ids != NULL && m->set->limits != NULL;
}

static void free_arrays(struct making *m)
{
    free(m->texts);
    free(m->flags);
    free(m->from);
}

/* All that the compiled set depends on. False: no memory. */
static bool name_set(struct making *m, size_t n)
{
    hs_platform_info_t platform;
    struct buf text;

    memset(&platform, 0, sizeof(platform));
    (void)hs_populate_platform(&platform);
    buf_init(&text, NAMED_MAX);
    buf_printf(&text, GILLNET_VERSION " %s %d ", hs_version(), m->set->is_text);
    buf_add(&text, slice_of(&platform, sizeof(platform)));
    for (size_t i = 0; i < n; i++) {
        buf_add_u32(&text, fast_flags);
        buf_add_u32(&text, (uint32_t)strlen(m->sources[i].text));
        buf_add_str(&text, m->sources[i].text);
    }
    hash256_of(buf_slice(&text), &m->set->name);
    bool ok = !buf_failed(&text);
    buf_fini(&text);
    return ok;
}

/* False: the cache has not the set. */
static bool take_cached(struct making *m, const struct pattern_cache *cache, size_t n)
{
    struct cursor c = cursor_of(pattern_cache_find(cache, &m->set->name));
    size_t nslow = cursor_u32(&c);
    struct slice slow = cursor_bytes(&c, nslow * INDEX_BYTES);

    if (!cursor_ok(&c) || nslow > n ||
        (nslow < n &&
         hs_deserialize_database(c.rest.p, c.rest.n, &m->set->fast) != HS_SUCCESS)) {
        return false;
    }
    m->n = n - nslow;
    for (size_t k = 0; k < nslow; k++) {
        size_t i = le_get(slow.p + k * INDEX_BYTES, INDEX_BYTES);

        if (i < n) {
            add_slow(m, i, "");
        }
    }
    return true;
}

bool pattern_set_pack(const struct pattern_set *s, struct buf *entries)
{
    char *bytes = NULL;
    size_t n = 0;
    struct buf entry;

    if (s->fast != NULL && hs_serialize_database(s->fast, &bytes, &n) != HS_SUCCESS) {
        return false;
    }
    buf_init(&entry, PATTERN_CACHE_MAX);
    buf_add_u32(&entry, (uint32_t)s->nslow);
    for (size_t i = 0; i < s->nslow; i++) {
        buf_add_u32(&entry, s->slow[i].source);
    }
    buf_add(&entry, slice_of(bytes, n));
    free(bytes);
    bool ok = !buf_failed(&entry);
    if (ok) {
        pattern_cache_add(entries, &s->name, buf_slice(&entry));
    }
    buf_fini(&entry);
    return ok && !buf_failed(entries);
}

static bool fill_set(struct making *m, size_t n, const struct pattern_cache *cache)
{
    struct pattern_set *s = m->set;

    (void)pcre2_set_match_limit(s->limits, RULE_PCRE_MATCH_MAX);
    (void)pcre2_set_depth_limit(s->limits, RULE_PCRE_DEPTH_MAX);
    (void)pcre2_set_heap_limit(s->limits, RULE_PCRE_HEAP_KB);
    for (size_t i = 0; i < n; i++) {
        s->ids[i] = m->sources[i].id;
    }
    s->is_cached = take_cached(m, cache, n);
    for (size_t i = 0; i < n && !s->is_cached; i++) {
        sort_out(m, i);
    }
    bool ok = !m->is_refused && (s->is_cached || compile_fast(m)) && !m->is_refused;
    s->nfast = m->n;
    return ok;
}

struct pattern_set *pattern_set_new(const struct pattern_source *sources, size_t n,
                                    bool is_text, const struct pattern_cache *cache,
                                    pattern_refuse_fn *refuse_one, void *context)
{
    struct making m = {.sources = sources, .refuse = refuse_one, .context = context};
    bool is_fit = hs_valid_platform() == HS_SUCCESS;
    bool ok = is_fit && make_arrays(&m, n);

    if (ok) {
        m.set->is_text = is_text;
        ok = name_set(&m, n);
    }
    if (!ok) {
        refuse_pattern(&m, 0,
                       is_fit ? "out of memory"
                              : "vectorscan does not run on this processor");
    } else {
        ok = fill_set(&m, n, cache);
    }
    free_arrays(&m);
    if (!ok) {
        pattern_set_free(&m.set);
    }
    return m.set;
}

bool pattern_set_is_cached(const struct pattern_set *s)
{
    return s->is_cached;
}

void pattern_set_free(struct pattern_set **s)
{
    struct pattern_set *was = *s;

    *s = NULL;
    if (was == NULL) {
        return;
    }
    (void)hs_free_database(was->fast);
    for (size_t i = 0; i < was->nslow; i++) {
        pcre2_code_free(was->slow[i].code);
    }
    free(was->slow);
    free(was->ids);
    pcre2_match_context_free(was->limits);
    free(was);
}

void pattern_set_counts(const struct pattern_set *s, size_t *retfast, size_t *retslow)
{
    *retfast = s->nfast;
    *retslow = s->nslow;
}

/* ---- memory ---- */

struct pattern_work *pattern_work_new(void)
{
    struct pattern_work *w = malloc(sizeof(*w));

    if (w != NULL) {
        w->scratch = NULL;
        w->match = pcre2_match_data_create(OVECTOR_PAIRS, NULL);
        pattern_work_begin(w);
        if (w->match == NULL) {
            pattern_work_free(&w);
        }
    }
    return w;
}

bool pattern_work_grow(struct pattern_work *w, const struct pattern_set *s)
{
    return s->fast == NULL || hs_alloc_scratch(s->fast, &w->scratch) == HS_SUCCESS;
}

struct pattern_work *pattern_work_clone(const struct pattern_work *w)
{
    struct pattern_work *made = pattern_work_new();

    if (made != NULL && w->scratch != NULL &&
        hs_clone_scratch(w->scratch, &made->scratch) != HS_SUCCESS) {
        made->scratch = NULL;
        pattern_work_free(&made);
    }
    return made;
}

void pattern_work_free(struct pattern_work **w)
{
    struct pattern_work *was = *w;

    *w = NULL;
    if (was != NULL) {
        (void)hs_free_scratch(was->scratch);
        pcre2_match_data_free(was->match);
        free(was);
    }
}

void pattern_work_begin(struct pattern_work *w)
{
    w->runs = 0;
    w->given_up = 0;
}

/* ---- matching ---- */

struct reporting {
    const struct pattern_set *set;
    pattern_match_fn *on_match;
    void *context;
};

static int on_fast(unsigned source, unsigned long long from, unsigned long long to,
                   unsigned flags, void *context)
{
    const struct reporting *r = context;

    (void)from;
    (void)to;
    (void)flags;
    r->on_match(r->context, r->set->ids[source], false);
    return 0;
}

static void match_slow(const struct pattern_set *s, struct pattern_work *w,
                       struct slice value, const struct reporting *r)
{
    while (value.n > RULE_PCRE_VALUE_MAX ||
           (value.n > 0 && !pattern_is_clean(value))) { /* cut within a character */
        value.n = value.n > RULE_PCRE_VALUE_MAX ? RULE_PCRE_VALUE_MAX : value.n - 1;
    }
    for (size_t i = 0; i < s->nslow; i++) {
        bool is_spent =
            w->runs++ >= RULE_PCRE_RUNS_MAX || w->given_up >= RULE_PCRE_GIVEN_UP_MAX;
        int e = is_spent ? PCRE2_ERROR_MATCHLIMIT
                         : pcre2_match(s->slow[i].code, (PCRE2_SPTR)value.p, value.n, 0,
                                       PCRE2_NO_UTF_CHECK, w->match, s->limits);

        if (e >= 0) {
            r->on_match(r->context, s->ids[s->slow[i].source], false);
        } else if (e != PCRE2_ERROR_NOMATCH) {
            w->given_up++;
            r->on_match(r->context, s->ids[s->slow[i].source], true);
        }
    }
}

void pattern_match(const struct pattern_set *s, struct pattern_work *w,
                   struct slice value, pattern_match_fn *on_match, void *context)
{
    struct reporting r = {s, on_match, context};

    value = slice_head(value, PATTERN_VALUE_MAX);
    if (!pattern_is_clean(value)) {
        value = slice_of(w->clean, pattern_clean(value, w->clean));
    }
    if (s->fast != NULL) {
        (void)hs_scan(s->fast, value.p, (unsigned)value.n, 0, w->scratch, on_fast, &r);
    }
    if (s->nslow > 0) {
        match_slow(s, w, value, &r);
    }
}

struct pattern_stream *pattern_stream_new(const struct pattern_set *s)
{
    struct pattern_stream *t = malloc(sizeof(*t));

    if (t != NULL && hs_open_stream(s->fast, 0, &t->stream) != HS_SUCCESS) {
        free(t);
        return NULL;
    }
    if (t != NULL) {
        t->set = s;
    }
    return t;
}

void pattern_stream_add(struct pattern_stream *t, struct pattern_work *w,
                        struct slice bytes, pattern_match_fn *on_match, void *context)
{
    struct reporting r = {t->set, on_match, context};

    (void)hs_scan_stream(t->stream, bytes.p, (unsigned)bytes.n, 0, w->scratch, on_fast,
                         &r);
}

void pattern_stream_end(struct pattern_stream **t, struct pattern_work *w,
                        pattern_match_fn *on_match, void *context)
{
    struct pattern_stream *was = *t;

    *t = NULL;
    if (was != NULL) {
        struct reporting r = {was->set, on_match, context};

        (void)hs_close_stream(was->stream, w != NULL ? w->scratch : NULL,
                              w != NULL ? on_fast : NULL, &r);
        free(was);
    }
}
