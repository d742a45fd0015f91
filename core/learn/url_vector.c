#include "core/learn/url_vector.h"

#include "core/learn/vector_internal.h"
#include "core/message/text/ascii.h"
#include "core/message/url/known_name.h"
#include "core/message/url/suffix.h"

enum {
    WORD_MIN = 2,
    WORD_MAX = 24,
    LABEL_GRAMS = 48, /* bytes of a label of which n-grams are made */
    FEW = 8,          /* counts above it are one */
    SLOTS = 512,      /* of the table of terms, twice URL_VECTOR_TERMS */
    BLOB_MIN = 16     /* bytes of a word with digits that is a code, not a word */
};
/* The two groups, by blocks that ftrl.c keeps apart. */
#define BLOCK_HOST VECTOR_LINK
#define BLOCK_PATH VECTOR_SIGN
#define BLOCK_GRAM VECTOR_BLOCKS /* in hashes of n-grams alone */
static const unsigned gram_sizes[] = {3, 4};

struct url_terms {
    uint32_t term[URL_VECTOR_TERMS];
    size_t n;
    uint8_t slot[SLOTS]; /* 0: free; else index of a term, plus one */
    uint16_t count[VECTOR_BLOCKS];
};

static void add_hash(struct url_terms *t, enum vector_block block, uint64_t hash)
{
    uint32_t key = (uint32_t)block << VECTOR_HASH_BITS |
                   ((uint32_t)hash & (URL_VECTOR_HASHES - 1));
    size_t at = key % SLOTS;

    while (t->slot[at] != 0) {
        if (t->term[t->slot[at] - 1] == key) {
            return;
        }
        at = (at + 1) % SLOTS;
    }
    if (t->n < URL_VECTOR_TERMS) {
        t->term[t->n++] = key;
        t->slot[at] = (uint8_t)t->n;
        t->count[block]++;
    }
}

/* A fixed word, and a value. */
static void add_term(struct url_terms *t, enum vector_block block, const char *word,
                     struct slice value)
{
    add_hash(t, block, vector_mix(vector_mix((uint64_t)block, slice_str(word)), value));
}

static void add_number(struct url_terms *t, enum vector_block block, const char *word,
                       size_t value)
{
    char digit = (char)('0' + (value < FEW ? value : FEW));
    add_term(t, block, word, slice_of(&digit, 1));
}

static void add_flag(struct url_terms *t, enum vector_block block, const char *word,
                     bool is_set)
{
    if (is_set) {
        add_term(t, block, word, SLICE_NONE);
    }
}

/* ---- the form of a run of bytes ---- */

struct form {
    size_t digits;
    size_t hyphens;
    size_t vowels;
    size_t letters;
    size_t changes;    /* between letters and digits */
    size_t consonants; /* of the longest run */
    size_t hex;
    bool has_upper;
};

static struct form form_of(struct slice s)
{
    struct form f = {0};
    size_t run = 0;
    char last = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = ASCII_LOWER(s.p[i]);
        bool is_digit = ASCII_IS(c, ASCII_DIGIT);
        bool is_letter = ASCII_IS(c, ASCII_ALPHA);
        bool is_vowel = is_letter && strchr("aeiouy", c) != NULL;
        f.digits += is_digit;
        f.letters += is_letter;
        f.hyphens += c == '-';
        f.vowels += is_vowel;
        f.hex += ASCII_IS(c, ASCII_HEX);
        f.has_upper = f.has_upper || c != s.p[i];
        run = is_letter && !is_vowel ? run + 1 : 0;
        f.consonants = run > f.consonants ? run : f.consonants;
        f.changes += i > 0 && ((is_digit && ASCII_IS(last, ASCII_ALPHA)) ||
                               (is_letter && ASCII_IS(last, ASCII_DIGIT)));
        last = c;
    }
    return f;
}

/* ---- the host ---- */

/* Words of letters; digits and all else end them. prefix says where. */
static void add_words(struct url_terms *t, enum vector_block block, const char *prefix,
                      struct slice s)
{
    char word[WORD_MAX];
    size_t n = 0;

    for (size_t i = 0; i <= s.n; i++) {
        bool is_letter = i < s.n && ASCII_IS(s.p[i], ASCII_ALPHA);
        if (is_letter && n < sizeof(word)) {
            word[n] = ASCII_LOWER(s.p[i]);
        }
        n += is_letter;
        if (!is_letter) {
            if (n >= WORD_MIN && n <= WORD_MAX) {
                add_term(t, block, prefix, slice_of(word, n));
            }
            n = 0;
        }
    }
}

/* Runs of 3 and 4 bytes of "^label$": they know parts of words, and how random a label is. */
static void add_grams(struct url_terms *t, struct slice label)
{
    char text[LABEL_GRAMS + 2];
    size_t n = label.n < LABEL_GRAMS ? label.n : LABEL_GRAMS;

    text[0] = '^';
    for (size_t i = 0; i < n; i++) {
        char c = label.p[i];
        text[i + 1] = ASCII_IS(c, ASCII_DIGIT) ? '0' : ASCII_LOWER(c);
    }
    text[n + 1] = '$';
    for (size_t k = 0; k < LENGTH(gram_sizes); k++) {
        for (size_t i = 0; i + gram_sizes[k] <= n + 2; i++) {
            add_hash(t, BLOCK_HOST,
                     vector_mix(BLOCK_GRAM, slice_of(text + i, gram_sizes[k])));
        }
    }
}

static void add_label_form(struct url_terms *t, struct slice label)
{
    struct form f = form_of(label);

    add_number(t, BLOCK_HOST, "label-size=", label.n / 3);
    add_number(t, BLOCK_HOST, "label-digits=", f.digits);
    add_number(t, BLOCK_HOST, "label-hyphens=", f.hyphens);
    add_number(t, BLOCK_HOST, "label-changes=", f.changes);
    add_number(t, BLOCK_HOST, "label-consonants=", f.consonants);
    add_number(t, BLOCK_HOST,
               "label-vowels=", f.letters > 0 ? f.vowels * FEW / f.letters : FEW);
    add_flag(t, BLOCK_HOST, "punycode",
             slice_find_slice(label, SLICE_LIT("xn--")) < label.n);
}

/* Labels before the registrable domain. */
static void add_below(struct url_terms *t, struct slice below)
{
    struct form f = form_of(below);
    size_t depth = below.n > 0;

    for (size_t i = 0; i < below.n; i++) {
        depth += below.p[i] == '.';
    }
    add_number(t, BLOCK_HOST, "below=", depth);
    if (below.n > 0) {
        add_number(t, BLOCK_HOST, "below-size=", below.n / 4);
        add_number(t, BLOCK_HOST, "below-digits=", f.digits);
        add_number(t, BLOCK_HOST, "below-hyphens=", f.hyphens);
        add_words(t, BLOCK_HOST, "below-word=", below);
    }
}

static bool host_is_address(struct slice host)
{
    struct form f = form_of(host);
    return host.n > 0 &&
           (host.p[0] == '[' || (f.letters == 0 && f.digits > 0 && f.hyphens == 0));
}

static uint16_t group_of(struct slice host)
{
    size_t n = suffix_registrable(host);
    return (uint16_t)vector_mix(0, slice_from(host, n > 0 ? host.n - n : 0));
}

static void add_host_terms(struct url_terms *t, struct slice host)
{
    if (host_is_address(host)) {
        add_flag(t, BLOCK_HOST, "address", true);
        return;
    }
    host = slice_from(
        host, host.n > URL_VECTOR_HOST_BYTES ? host.n - URL_VECTOR_HOST_BYTES : 0);
    size_t nregistrable = suffix_registrable(host);
    struct slice domain = slice_from(host, host.n - nregistrable);
    size_t end = slice_find(domain, '.');
    struct slice label = slice_head(domain, end);
    size_t nbelow = host.n - nregistrable;

    add_term(t, BLOCK_HOST, "suffix=", slice_from(domain, end + 1));
    add_term(t, BLOCK_HOST, "name=", label);
    add_label_form(t, label);
    add_words(t, BLOCK_HOST, "word=", label);
    add_below(t, slice_head(host, nbelow > 0 ? nbelow - 1 : 0));
    add_grams(t, label);
}

/* ---- path and query ---- */

static unsigned count_char(struct slice s, char c)
{
    unsigned n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += s.p[i] == c;
    }
    return n;
}

static bool is_blob_byte(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT);
}

/* Long runs of letters and digits: a hexadecimal number, or another code. */
static void add_blobs(struct url_terms *t, struct slice s)
{
    size_t at = 0;

    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && is_blob_byte(s.p[i])) {
            continue;
        }
        struct slice run = slice_of(s.p + at, i - at);
        struct form f = form_of(run);
        if (run.n >= BLOB_MIN && f.digits > 0) {
            add_number(t, BLOCK_PATH,
                       f.hex == run.n ? "hex=" : "code=", run.n / BLOB_MIN);
            add_flag(t, BLOCK_PATH, "code-upper", f.has_upper && f.hex < run.n);
        } else if (f.digits == run.n && run.n > 0) {
            add_number(t, BLOCK_PATH, "number=", run.n);
        } else {
            /* a word, or too short to be a code */
        }
        at = i + 1;
    }
}

static void add_extension(struct url_terms *t, struct slice path)
{
    size_t at = path.n;

    while (at > 0 && path.n - at < FEW && is_blob_byte(path.p[at - 1])) {
        at--;
    }
    if (at > 1 && at < path.n && path.p[at - 1] == '.') {
        add_term(t, BLOCK_PATH, "extension=", slice_from(path, at));
    }
}

static void add_query(struct url_terms *t, struct slice query)
{
    add_number(t, BLOCK_PATH, "query=", vector_log2(query.n));
    add_number(t, BLOCK_PATH, "parameters=", count_char(query, '='));
    add_flag(t, BLOCK_PATH, "inner-url",
             slice_find_slice(query, SLICE_LIT("http")) < query.n);
    while (query.n > 0) {
        struct slice pair = slice_cut(&query, '&');
        struct slice name = slice_head(pair, slice_find(pair, '='));
        if (name.n < pair.n && name.n <= WORD_MAX) {
            add_term(t, BLOCK_PATH, "parameter=", name);
        } else {
            add_number(t, BLOCK_PATH, "bare=", pair.n / FEW);
        }
    }
}

static void add_path_terms(struct url_terms *t, struct slice all)
{
    all = slice_head(all, URL_VECTOR_PATH_BYTES);
    size_t mark = slice_find(all, '?');
    struct slice path = slice_head(all, mark);

    if (all.n <= 1) {
        return; /* a host alone: only its name speaks */
    }
    add_number(t, BLOCK_PATH, "depth=", count_char(path, '/'));
    add_number(t, BLOCK_PATH, "path=", vector_log2(path.n));
    add_flag(t, BLOCK_PATH, "tilde", slice_find(path, '~') < path.n);
    add_flag(t, BLOCK_PATH, "at", slice_find(all, '@') < all.n);
    add_flag(t, BLOCK_PATH, "double-slash",
             slice_find_slice(path, SLICE_LIT("//")) < path.n);
    add_number(t, BLOCK_PATH, "percent=", count_char(all, '%'));
    add_number(t, BLOCK_PATH, "hyphens=", count_char(path, '-'));
    add_extension(t, path);
    add_words(t, BLOCK_PATH, "path-word=", path);
    add_blobs(t, all);
    if (mark < all.n) {
        add_query(t, slice_from(all, mark + 1));
    }
}

/* ---- */

static struct slice authority_of(struct slice url)
{
    size_t slash = slice_find(url, '/');
    size_t mark = slice_find(url, '?');
    return slice_head(url, slash < mark ? slash : mark);
}

struct slice url_vector_host(struct slice url)
{
    struct slice authority = authority_of(url);

    if (authority.n > 0 && authority.p[0] == '[') {
        return slice_head(authority, slice_find(authority, ']') + 1);
    }
    return slice_head(authority, slice_find(authority, ':'));
}

bool url_vector_is_known(struct slice host)
{
    size_t n = suffix_registrable(host);
    struct slice domain = slice_from(host, host.n - n);

    return known_name_kind(host) != KNOWN_NAME_NONE ||
           (n > 0 && known_name_kind(domain) != KNOWN_NAME_NONE);
}

bool url_vector_is_same_site(struct slice host, struct slice other)
{
    size_t n = suffix_registrable(host);
    return n > 0 && slice_is_at_or_below(other, slice_from(host, host.n - n));
}

bool url_vector(struct arena *arena, struct slice url, struct vector *ret)
{
    struct url_terms t = {.n = 0};
    struct slice authority = authority_of(url);
    struct slice host = url_vector_host(url);

    add_host_terms(&t, host);
    add_flag(&t, BLOCK_HOST, "port", host.n < authority.n);
    add_path_terms(&t, slice_from(url, authority.n));
    uint32_t *term = arena_array(arena, t.n + 1, sizeof(*term));
    if (term == NULL) {
        return false;
    }
    memcpy(term, t.term, t.n * sizeof(*term));
    *ret = (struct vector){.kind = VECTOR_PERSON,
                           .group = group_of(host),
                           .n = t.n,
                           .term = term,
                           .text = url};
    memcpy(ret->count, t.count, sizeof(ret->count));
    return true;
}

/* The domain of the host is that of one of the n vectors. */
static bool has_vector_of_domain(const struct vector *v, size_t n, struct slice host)
{
    uint16_t group = group_of(host);

    for (size_t i = 0; i < n; i++) {
        if (v[i].group == group) {
            return true;
        }
    }
    return false;
}

size_t url_vectors(struct arena *arena, const struct featureset *set,
                   struct vector ret[VECTOR_URLS])
{
    struct slice last = SLICE_NONE; /* most links of a message have one host */
    size_t n = 0;

    for (size_t i = 0; i < featureset_count(set) && n < VECTOR_URLS; i++) {
        const struct feature *f = featureset_at(set, i);
        struct slice host =
            f->type == FEATURE_url ? url_vector_host(f->text) : SLICE_NONE;
        if (host.n == 0 || slice_eq(host, last)) {
            continue;
        }
        last = host;
        n += !has_vector_of_domain(ret, n, host) && !url_vector_is_known(host) &&
             url_vector(arena, f->text, &ret[n]);
    }
    return n;
}
