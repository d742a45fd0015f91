#include "core/message/extract/fingerprint.h"

#include "core/base/checksum.h"
#include "core/message/extract/closing.h"
#include "core/message/extract/structure.h"

enum {
    SHORT_WORD = 16,
    PENDING = 1024, /* bytes that go into a checksum at once */
    BAND_TEXT = 48,
    BAND_HEX = 16,
    TEMPLATE_HEX = 32,
    PAIR_TEXT = 512,
    HEARD_WORDS = 64,     /* of 64 bits: words that a text has, by a hash */
    HEARD_BYTES = 8,      /* of a word that are hashed */
    HEARD_LETTERS_MIN = 4 /* bytes of a word; shorter ones stand in any text */
};

/* Folded words, exactly. */
struct exact {
    struct sha256 sum;
    bool has_sum;
    size_t nwords;
    size_t n;
    char pending[PENDING +
                 SHORT_WORD]; /* the last word may be copied with what follows it */
};

/* The text of a group. */
struct text {
    struct fingerprint *imprint;
    struct exact exact;
    struct wordsum words;
    uint64_t heard[HEARD_WORDS];
    bool has_quoted;
    struct sketch own; /* in the end: of all that counts */
    struct sketch quoted;
    struct closing closing;
};

struct fingerprint {
    const struct fingerprint_options *options;
    struct arena *arena;
    struct fold fold;
    struct shingler shingler;
    enum fingerprint_group group;
    struct text *open;                      /* of the group; NULL before it has text */
    struct text *texts[FINGERPRINT_GROUPS]; /* NULL: of this group there is none */
    struct structure structure;
    const struct sketch *sketch; /* of the message; NULL until it has ended */
    uint64_t list;               /* of fingerprint_finish */
    size_t nlearnt;
    uint64_t *learnt; /* the first shingles, for options->learner; NULL: it gets none */
};

static void exact_flush(struct exact *e)
{
    if (!e->has_sum) {
        e->has_sum = sha256_init(&e->sum) == ERR_OK;
    }
    if (e->has_sum) {
        sha256_add(&e->sum, slice_of(e->pending, e->n));
    }
    e->n = 0;
}

static void exact_word(struct exact *e, struct slice word)
{
    if (e->n + word.n + 1 > PENDING) {
        exact_flush(e);
    }
    memcpy(e->pending + e->n, word.p, SHORT_WORD); /* of fixed size: no call */
    if (word.n > SHORT_WORD) {
        memcpy(e->pending + e->n, word.p, word.n);
    }
    e->n += word.n;
    e->pending[e->n++] = ' ';
    e->nwords++;
}

/* FOLD_WORD_MAX bytes of a word can be read. */
static void hear_word(struct text *t, struct slice word)
{
    uint64_t bytes = 0;
    memcpy(&bytes, word.p, HEARD_BYTES);
    if (word.n < HEARD_BYTES) {
        bytes &= (UINT64_C(1) << (8 * word.n)) - 1;
    }
    uint64_t hash = (bytes * UINT64_C(0x9e3779b97f4a7c15)) >> 52;
    t->heard[hash / 64] |= UINT64_C(1) << (hash % 64);
}

static void on_word(void *context, const struct fold_word *word)
{
    struct fingerprint *p = context;
    struct text *t = p->open;
    uint64_t shingle = 0;
    exact_word(&t->exact, word->text);
    if (p->options->reader != NULL) {
        p->options->reader->word(p->options->reader->context, p->group, word);
    }
    if (p->group != FINGERPRINT_OTHER && word->text.n >= HEARD_LETTERS_MIN) {
        hear_word(t, word->text);
    }
    if (!p->options->keys.is_set) {
        return;
    }
    if (word->text.n >= CLOSING_LONG_WORD) {
        closing_long_word(&t->closing, word->text);
    }
    if (shingler_word(&p->shingler, &t->words, word, &shingle)) {
        closing_shingle(&t->closing, shingle);
    }
}

/* Shingles of lines whose kind is known. */
static void on_shingles(void *context, enum closing_kind kind, const uint64_t *shingles,
                        size_t n)
{
    struct text *t = context;
    struct fingerprint *p = t->imprint;
    if (p->learnt != NULL) {
        size_t room = FINGERPRINT_LEARNT_MAX - p->nlearnt;
        size_t taken = n < room ? n : room;
        memcpy(p->learnt + p->nlearnt, shingles, taken * sizeof(*shingles));
        p->nlearnt += taken;
    }
    for (size_t i = 0; i < n && p->options->on_shingle != NULL; i++) {
        p->options->on_shingle(p->options->context, shingles[i]);
    }
    if (kind == CLOSING_QUOTED && !t->has_quoted) {
        sketch_init(&t->quoted);
        t->has_quoted = true;
    }
    sketch_add(kind == CLOSING_QUOTED ? &t->quoted : &t->own, &p->options->keys,
               p->options->guard, shingles, n);
}

struct fingerprint *fingerprint_new(struct arena *arena,
                                    const struct fingerprint_options *options)
{
    struct fingerprint *p = arena_alloc(arena, sizeof(*p));
    if (p == NULL) {
        return NULL;
    }
    p->options = options;
    p->arena = arena;
    fold_init(&p->fold, on_word, p);
    p->shingler.keys = &options->keys;
    if (options->learner != NULL) {
        p->learnt = arena_alloc(arena, FINGERPRINT_LEARNT_MAX * sizeof(p->learnt[0]));
    }
    fingerprint_part(p, FINGERPRINT_OTHER);
    return p;
}

void fingerprint_part(struct fingerprint *p, enum fingerprint_group group)
{
    shingler_break(&p->shingler);
    p->group = group;
    p->open = p->texts[group];
}

/* The first line of text, or all of it where it is one; returns its length. */
static size_t take_line(struct fingerprint *p, struct slice text, bool is_one)
{
    struct text *t = p->open;
    size_t n = text.n;
    size_t nwords = t->exact.nwords;
    if (closing_begin(&t->closing, text)) {
        shingler_break(&p->shingler);
    }
    p->shingler.line = 0;
    if (is_one) {
        fold_feed(&p->fold, text);
    } else {
        n = fold_line(&p->fold, text);
    }
    fold_break(&p->fold);
    closing_end(&t->closing, slice_head(text, n), p->shingler.line,
                t->exact.nwords - nwords);
    if (p->options->reader != NULL) {
        p->options->reader->line(p->options->reader->context, p->group,
                                 slice_head(text, n));
    }
    return n;
}

/* Not zeroed: few messages use most of this memory. */
static struct text *text_new(struct fingerprint *p)
{
    char *bytes = arena_bytes(p->arena, sizeof(struct text) + _Alignof(struct text));
    if (bytes == NULL) {
        return NULL;
    }
    size_t past = (uintptr_t)bytes % _Alignof(struct text);
    struct text *t = (void *)(bytes + (_Alignof(struct text) - past));
    t->imprint = p;
    t->words = (struct wordsum){.nwords = 0};
    memset(t->heard, 0, sizeof(t->heard));
    t->has_quoted = false;
    t->exact.sum = (struct sha256){NULL};
    t->exact.has_sum = false;
    t->exact.nwords = 0;
    t->exact.n = 0;
    sketch_init(&t->own);
    closing_init(&t->closing, on_shingles, t);
    return t;
}

/* False: there is no memory for the text. */
static bool open_text(struct fingerprint *p)
{
    if (p->open == NULL) {
        p->texts[p->group] = text_new(p);
        p->open = p->texts[p->group];
    }
    return p->open != NULL;
}

void imprint_line(struct fingerprint *p, struct slice line)
{
    while (line.n > 0 && (unsigned char)line.p[0] <= ' ') {
        line = slice_from(line, 1); /* a line feed would end it */
    }
    if (open_text(p)) {
        (void)take_line(p, line, true);
    }
}

void fingerprint_text(struct fingerprint *p, struct slice text)
{
    while (text.n > 0 && open_text(p)) {
        text = slice_from(text, take_line(p, text, false));
    }
}

void fingerprint_tag(struct fingerprint *p, struct slice name)
{
    structure_tag(&p->structure, name);
}

static size_t words_of(const struct text *t)
{
    return t != NULL ? t->exact.nwords : 0;
}

/* Which of the alternatives is the message's text; NULL when neither says a word. */
static struct text *alternative(const struct fingerprint *p)
{
    struct text *html = p->texts[FINGERPRINT_HTML];
    struct text *t =
        words_of(html) >= FINGERPRINT_WORDS_MIN ? html : p->texts[FINGERPRINT_PLAIN];
    return words_of(t) > 0 ? t : NULL;
}

bool fingerprint_texts_differ(const struct fingerprint *p)
{
    const struct text *plain = p->texts[FINGERPRINT_PLAIN];
    const struct text *html = p->texts[FINGERPRINT_HTML];
    size_t nplain = 0;
    size_t nhtml = 0;
    size_t nboth = 0;
    for (size_t i = 0; plain != NULL && html != NULL && i < HEARD_WORDS; i++) {
        nplain += (size_t)__builtin_popcountll(plain->heard[i]);
        nhtml += (size_t)__builtin_popcountll(html->heard[i]);
        nboth += (size_t)__builtin_popcountll(plain->heard[i] & html->heard[i]);
    }
    size_t least = nplain < nhtml ? nplain : nhtml;
    return least >= FINGERPRINT_BOTH_MIN && nboth * FINGERPRINT_BOTH_SHARE < least;
}

static void add_exact(struct text *main, struct text *other, struct featureset *set)
{
    char hex[SHA256_HEX + 1];
    if (words_of(main) + words_of(other) < FINGERPRINT_WORDS_MIN) {
        return;
    }
    struct exact *e = &main->exact;
    if (other != NULL) { /* text around alternatives: a checksum of both */
        exact_flush(&other->exact);
        if (other->exact.has_sum) {
            sha256_final_hex(&other->exact.sum, hex);
            exact_flush(e);
            memcpy(e->pending, hex, SHA256_HEX);
            e->n = SHA256_HEX;
        }
    }
    exact_flush(e);
    if (e->has_sum) {
        sha256_final_hex(&e->sum, hex);
        featureset_add(set, FEATURE_text, slice_str(hex));
    }
}

/* The sketch of the text that counts. At most half of the message is left out, and the rest has
 * keys, so a sender who marks all text as quote or signature gains nothing. */
static const struct sketch *sketch_text(struct fingerprint *p, struct text *texts[2])
{
    struct text *main = texts[0];
    size_t total = 0;
    size_t left = 0;
    size_t quoted = 0;
    for (size_t i = 0; i < 2 && texts[i] != NULL; i++) {
        struct text *t = texts[i];
        total += t->exact.nwords;
        left += closing_mark(&t->closing, p->options->guard, p->list);
        quoted += t->closing.nquoted;
        closing_give(&t->closing, CLOSING_OWN);
        closing_give(&t->closing, CLOSING_QUOTED);
        if (i > 0) {
            sketch_merge(&main->own, &t->own);
        }
    }
    if (2 * (left + quoted) > total ||
        sketch_distinct(&main->own) < SHINGLE_DISTINCT_MIN) {
        for (size_t i = 0; i < 2 && texts[i] != NULL; i++) {
            if (texts[i]->has_quoted) {
                sketch_merge(&main->own, &texts[i]->quoted);
            }
        }
    }
    if (2 * left > total || sketch_distinct(&main->own) < SHINGLE_DISTINCT_MIN) {
        for (size_t i = 0; i < 2 && texts[i] != NULL; i++) {
            closing_give(&texts[i]->closing, CLOSING_LEFT);
            if (i > 0) {
                sketch_merge(&main->own, &texts[i]->own);
            }
        }
    }
    return &main->own;
}

static void put_hex(char to[BAND_HEX], uint64_t value)
{
    for (size_t i = 0; i < BAND_HEX; i++) {
        to[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    }
}

static void add_bands(const struct fingerprint *p, const struct sketch *sketch,
                      struct featureset *set)
{
    const struct shingle_keys *keys = &p->options->keys;
    for (unsigned e = 0; e < SHINGLE_EPOCHS; e++) {
        uint64_t band[SHINGLE_BANDS];
        char text[BAND_TEXT];
        if (!sketch_bands(sketch, keys, e, band)) {
            return;
        }
        int n = snprintf(text, sizeof(text), "%x.??.", keys->epoch[e].number);
        size_t digits = (size_t)n - 3;
        for (unsigned i = 0; i < SHINGLE_BANDS; i++) {
            text[digits] = (char)('0' + i / 10);
            text[digits + 1] = (char)('0' + i % 10);
            put_hex(text + n, band[i]);
            featureset_add(set, FEATURE_text_band,
                           slice_of(text, (size_t)n + BAND_HEX));
        }
    }
}

static void add_pair(struct featureset *set, enum feature_type type,
                     const char template[TEMPLATE_HEX + 1], const struct feature *with)
{
    char text[PAIR_TEXT];
    if (with != NULL) {
        int n =
            snprintf(text, sizeof(text), "%s %.*s", template, SLICE_ARGS(with->text));
        if (n > 0 && (size_t)n < sizeof(text)) {
            featureset_add(set, type, slice_of(text, (size_t)n));
        }
    }
}

/* The text without its numbers and ids, together with who sent it: so even a short text says
 * something. */
static void add_templates(const struct wordsum *words, struct featureset *set)
{
    char hex[TEMPLATE_HEX + 1];
    if (words->nwords < FINGERPRINT_PAIR_WORDS_MIN) {
        return;
    }
    const struct feature *domain = featureset_first(set, FEATURE_from_domain);
    if (domain == NULL) {
        domain = featureset_first(set, FEATURE_envelope_domain);
    }
    (void)snprintf(hex, sizeof(hex), "%016llx%016llx",
                   (unsigned long long)words->sum[0],
                   (unsigned long long)words->sum[1]);
    add_pair(set, FEATURE_template_sender, hex, domain);
    add_pair(set, FEATURE_template_network, hex,
             featureset_first(set, FEATURE_client_net));
}

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/* Domains, and the templates of links: the rest differs from copy to copy. */
static void add_link_set(struct featureset *set, struct arena *scratch)
{
    size_t n = 0;
    size_t cap = featureset_count_type(set, FEATURE_url_domain) +
                 featureset_count_type(set, FEATURE_url_template);
    struct slice *links = arena_array(scratch, cap, sizeof(*links));
    struct sha256 sum = {NULL};
    char hex[SHA256_HEX + 1];
    if (cap < FINGERPRINT_LINKS_MIN ||
        featureset_count_type(set, FEATURE_url) < FINGERPRINT_LINKS_MIN ||
        links == NULL || sha256_init(&sum) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < featureset_count(set) && n < cap; i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_url_domain || f->type == FEATURE_url_template) {
            links[n++] = f->text;
        }
    }
    qsort(links, n, sizeof(*links), by_text);
    for (size_t i = 0; i < n; i++) {
        sha256_add(&sum, links[i]);
        sha256_add(&sum, SLICE_LIT("\n"));
    }
    sha256_final_hex(&sum, hex);
    featureset_add(set, FEATURE_link_set, slice_str(hex));
}

static bool was_folded(const struct fold *f)
{
    return f->nlookalike + f->nhidden > 0 || f->nleet >= FINGERPRINT_LEET_MIN;
}

/* The texts of the message: one, or both, the alternative behind. */
static size_t choose(const struct fingerprint *p, struct text *rettexts[2])
{
    size_t n = 0;
    if (words_of(p->texts[FINGERPRINT_OTHER]) > 0) {
        rettexts[n++] = p->texts[FINGERPRINT_OTHER];
    }
    struct text *other = alternative(p);
    if (other != NULL) {
        rettexts[n++] = other;
    }
    return n;
}

size_t fingerprint_words(const struct fingerprint *p)
{
    struct text *texts[2] = {NULL, NULL};
    (void)choose(p, texts);
    return words_of(texts[0]) + words_of(texts[1]);
}

static void add_texts(struct fingerprint *p, struct featureset *set, bool is_cut)
{
    struct text *texts[2] = {NULL, NULL};
    if (choose(p, texts) == 0) {
        return;
    }
    struct wordsum words = texts[0]->words;
    if (p->options->keys.is_set) {
        p->sketch = sketch_text(p, texts);
        add_bands(p, p->sketch, set);
        if (texts[1] != NULL) {
            wordsum_merge(&words, &texts[1]->words);
        }
    }
    if (!is_cut) {
        if (p->options->keys.is_set) {
            add_templates(&words, set);
        }
        add_exact(texts[0], texts[1], set);
    }
}

void fingerprint_finish(struct fingerprint *p, struct featureset *set,
                        struct arena *scratch, uint64_t list, bool is_cut)
{
    char hex[SHA256_HEX + 1];
    p->list = list;
    if (was_folded(&p->fold)) {
        featureset_add(set, FEATURE_trait, slice_str(trait_name(TRAIT_text_folded)));
    }
    add_texts(p, set, is_cut);
    if (!is_cut) {
        if (structure_end(&p->structure, FINGERPRINT_TAGS_MIN, hex)) {
            featureset_add(set, FEATURE_html_structure, slice_str(hex));
        }
        add_link_set(set, scratch);
        arena_reset(scratch);
    }
    fingerprint_drop(p);
}

void fingerprint_document(struct fingerprint *p, struct featureset *set, bool is_cut)
{
    struct text *texts[2] = {NULL, NULL};

    if (choose(p, texts) == 0) {
        return;
    }
    if (p->options->keys.is_set) {
        p->sketch = sketch_text(p, texts);
        add_bands(p, p->sketch, set);
    }
    if (!is_cut) {
        add_exact(texts[0], NULL, set);
    }
}

/* The lines at the end, by a message of a mailing list that has keys of its own. */
static void teach_footer(const struct fingerprint *p, uint64_t day)
{
    uint64_t front[SHINGLE_BANDS];
    uint64_t lines[2 * CLOSING_FOOTER_LINES];
    struct text *texts[2] = {NULL, NULL};
    if (p->list == 0 || p->sketch == NULL ||
        !sketch_bands(p->sketch, &p->options->keys, 0, front)) {
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < choose(p, texts); i++) {
        n += closing_footer(&texts[i]->closing, p->list, lines + n);
    }
    for (size_t i = 0; i < SHINGLE_BANDS; i++) {
        front[i] ^= p->list;
    }
    boilerplate_learn_footer(p->options->learner, front, SHINGLE_BANDS, lines, n, day);
}

void fingerprint_teach(const struct fingerprint *p, uint64_t sender, uint64_t day)
{
    if (p->options->learner == NULL) {
        return;
    }
    teach_footer(p, day);
    if (sender != 0 && p->nlearnt > 0) {
        boilerplate_learn_message(p->options->learner, p->learnt, p->nlearnt, sender,
                                  day);
    }
}

void fingerprint_drop(struct fingerprint *p)
{
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < FINGERPRINT_GROUPS; i++) {
        if (p->texts[i] != NULL) {
            sha256_fini(&p->texts[i]->exact.sum);
        }
    }
    structure_fini(&p->structure);
}
