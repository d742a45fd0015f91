#include "core/learn/vector.h"

#include "core/base/le.h"
#include "core/learn/url_vector.h"
#include "core/learn/vector_internal.h"

enum { NAME_MAX_BYTES = 80 };

static const char *const block_names[VECTOR_BLOCKS] = {
    "subject", "text", "name",      "field", "part",   "html",
    "look",    "link", "link-word", "sign",  "sender", "relation"};
static const char *const kind_names[VECTOR_KINDS] = {"person", "list", "notice",
                                                     "language"};

const char *vector_block_name(enum vector_block block)
{
    return block < VECTOR_BLOCKS ? block_names[block] : "unknown";
}

const char *vector_kind_name(enum vector_kind kind)
{
    return kind < VECTOR_KINDS ? kind_names[kind] : "unknown";
}

/* Eight bytes a step; the constants are odd and have no pattern (SplitMix64). The same on every
 * machine: hashes are kept in files. */
uint64_t vector_mix(uint64_t seed, struct slice bytes)
{
    uint64_t h = (seed + bytes.n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < bytes.n; i += 8) {
        size_t n = bytes.n - i < 8 ? bytes.n - i : 8;
        h = (h ^ le_get(bytes.p + i, n)) * UINT64_C(0xbf58476d1ce4e5b9);
        h ^= h >> 29;
    }
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 32);
}

uint32_t vector_hash(enum vector_block block, struct slice term)
{
    return (uint32_t)vector_mix((uint64_t)block, term) & VECTOR_HASH_MASK;
}

unsigned vector_log2(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

void vector_add_hash(struct vector_reader *r, enum vector_block block, uint32_t hash,
                     enum fingerprint_group group)
{
    uint32_t key = (uint32_t)block << VECTOR_HASH_BITS | hash;
    size_t at = (key * UINT32_C(0x9e3779b1)) >> 20;
    while (r->slot[at] != 0) {
        struct vector_term *t = &r->term[r->slot[at] - 1];
        if (t->key == key) {
            t->groups |= (uint8_t)(1U << group);
            return;
        }
        at = (at + 1) % VECTOR_SLOTS;
    }
    if (r->n == VECTOR_TERMS || (block == VECTOR_TEXT && r->nwords == VECTOR_WORDS)) {
        return;
    }
    r->nwords += block == VECTOR_TEXT;
    r->term[r->n] = (struct vector_term){.key = key, .groups = (uint8_t)(1U << group)};
    r->slot[at] = (uint16_t)++r->n;
}

void vector_add(struct vector_reader *r, enum vector_block block, struct slice term)
{
    uint32_t hash = vector_hash(block, term);
    vector_add_hash(r, block, hash, FINGERPRINT_OTHER);
    vector_note_name(r, block, hash, "", term);
}

void vector_note_name(struct vector_reader *r, enum vector_block block, uint32_t hash,
                      const char *prefix, struct slice text)
{
    char name[NAME_MAX_BYTES];
    if (r->names == NULL || r->nnamed == VECTOR_TERMS) {
        return;
    }
    int n = snprintf(name, sizeof(name), "%s%.*s", prefix, SLICE_ARGS(text));
    size_t length = n < (int)sizeof(name) ? (size_t)n : sizeof(name) - 1;
    r->names[r->nnamed++] =
        (struct vector_name){.key = (uint32_t)block << VECTOR_HASH_BITS | hash,
                             .text = arena_copy(r->arena, slice_of(name, length))};
}

static uint32_t pair_hash(enum vector_block block, const char *word, struct slice value)
{
    uint64_t seed = vector_mix((uint64_t)block, slice_str(word));
    return (uint32_t)vector_mix(seed, value) & VECTOR_HASH_MASK;
}

void vector_add_pair(struct vector_reader *r, enum vector_block block, const char *word,
                     struct slice value)
{
    uint32_t hash = pair_hash(block, word, value);
    vector_add_hash(r, block, hash, FINGERPRINT_OTHER);
    vector_note_name(r, block, hash, word, value);
}

void vector_add_number(struct vector_reader *r, enum vector_block block,
                       const char *word, uint64_t value)
{
    uint8_t bytes[8];
    char text[24];
    le_put(bytes, value, sizeof(bytes));
    uint32_t hash = pair_hash(block, word, slice_of(bytes, sizeof(bytes)));
    vector_add_hash(r, block, hash, FINGERPRINT_OTHER);
    if (r->names != NULL) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, value);
        vector_note_name(r, block, hash, word, slice_str(text));
    }
}

void vector_reader_keep_names(struct vector_reader *r)
{
    r->names = arena_array(r->arena, VECTOR_TERMS, sizeof(*r->names));
}

struct slice vector_reader_name(const struct vector_reader *r, uint32_t key)
{
    for (size_t i = 0; r->names != NULL && i < r->nnamed; i++) {
        if (r->names[i].key == key) {
            return r->names[i].text;
        }
    }
    return SLICE_NONE;
}

struct vector_reader *vector_reader_new(struct arena *arena,
                                        struct extract_limits *limits)
{
    /* Not zeroed whole: most of it is tables that few messages fill. */
    char *bytes = arena_bytes(arena, sizeof(struct vector_reader) +
                                         _Alignof(struct vector_reader));
    if (bytes == NULL) {
        return NULL;
    }
    size_t past = (uintptr_t)bytes % _Alignof(struct vector_reader);
    struct vector_reader *r = (void *)(bytes + (_Alignof(struct vector_reader) - past));
    memset(r, 0, offsetof(struct vector_reader, term));
    memset((char *)r + offsetof(struct vector_reader, n), 0,
           sizeof(*r) - offsetof(struct vector_reader, n));
    r->arena = arena;
    r->watch = (struct extract_watch){.field = vector_on_field,
                                      .part = vector_on_part,
                                      .tag = vector_on_tag,
                                      .attribute = vector_on_attribute,
                                      .context = r};
    r->words = (struct word_reader){
        .word = vector_on_word, .line = vector_on_line, .context = r};
    limits->watch = &r->watch;
    limits->imprint.reader = &r->words;
    return r;
}

/* Groups whose text a reader sees: of two alternatives the HTML, unless it is nearly empty. */
static unsigned seen_groups(const struct vector_reader *r)
{
    bool is_html = r->look[FINGERPRINT_HTML].nwords >= FINGERPRINT_WORDS_MIN;
    return 1U << FINGERPRINT_OTHER |
           1U << (is_html ? FINGERPRINT_HTML : FINGERPRINT_PLAIN);
}

static struct vector_look look_of(const struct vector_reader *r, unsigned groups)
{
    struct vector_look sum = {0};
    for (unsigned g = 0; g < FINGERPRINT_GROUPS; g++) {
        const struct vector_look *l = &r->look[g];
        if ((groups & 1U << g) != 0) {
            sum.nwords += l->nwords;
            sum.nenglish += l->nenglish;
            sum.bytes += l->bytes;
            sum.capitals += l->capitals;
            sum.exclamations += l->exclamations;
            sum.money += l->money;
            sum.scripts |= l->scripts;
        }
    }
    return sum;
}

/* HTML with a link: most of such mail is of programs, whatever its header says. */
static bool is_page(const struct vector_reader *r, const struct featureset *set)
{
    return r->has_html && featureset_first(set, FEATURE_url) != NULL;
}

bool vector_reader_finish(struct vector_reader *r, const struct extract *x,
                          const struct featureset *set, struct vector *ret)
{
    vector_text_end(r);
    unsigned groups = seen_groups(r);
    struct vector_look look = look_of(r, groups);
    const struct feature *subject = featureset_first(set, FEATURE_subject);
    if (subject != NULL) {
        vector_subject(r, subject->text);
    }
    vector_add_look(r, &look);
    vector_add_tags(r, look.nwords);
    vector_add_links(r, set);
    vector_add_sender(r, set);
    vector_add_signs(r, set);
    uint32_t *term = arena_array(r->arena, r->n + 1, sizeof(*term));
    if (term == NULL) {
        return false;
    }
    *ret = (struct vector){
        .kind = vector_kind_of(extract_conversation(x), &look, is_page(r, set)),
        .term = term};
    for (size_t i = 0; i < r->n; i++) {
        if ((r->term[i].groups & groups) != 0) {
            term[ret->n++] = r->term[i].key;
            ret->count[r->term[i].key >> VECTOR_HASH_BITS]++;
        }
    }
    ret->group = vector_group_of(set, ret);
    struct vector *url = arena_array(r->arena, VECTOR_URLS, sizeof(*url));
    ret->nurls = url != NULL ? url_vectors(r->arena, set, url) : 0;
    ret->url = url;
    return true;
}
