#include "core/extract/imprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/checksum.h"
#include "core/extract/structure.h"

enum {
    SHORT_WORD = 16,
    PENDING = 1024, /* bytes that go into a checksum at once */
    BAND_TEXT = 48,
    BAND_HEX = 16,
    TEMPLATE_HEX = 32,
    PAIR_TEXT = 512
};

/* Folded words, exactly. */
struct exact {
    struct sha256 sum;
    bool has_sum;
    size_t nwords;
    size_t n;
    char pending[PENDING];
};

struct imprint {
    const struct imprint_options *options;
    struct fold fold;
    struct shingler shingler;
    struct exact *exact; /* of the group that is open */
    struct sketch sketch[IMPRINT_GROUPS];
    struct exact exacts[IMPRINT_GROUPS];
    struct structure structure;
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

static void on_word(void *context, const struct fold_word *word)
{
    struct imprint *p = context;
    struct exact *e = p->exact;
    if (e->n + word->text.n + 1 > PENDING) {
        exact_flush(e);
    }
    if (word->text.p == p->fold.word && word->text.n <= SHORT_WORD &&
        e->n + SHORT_WORD <= PENDING) {
        memcpy(e->pending + e->n, p->fold.word,
               SHORT_WORD); /* of fixed size: no call */
    } else {
        memcpy(e->pending + e->n, word->text.p, word->text.n);
    }
    e->n += word->text.n;
    e->pending[e->n++] = ' ';
    e->nwords++;
    if (p->options->keys.is_set) {
        shingler_word(&p->shingler, word);
    }
}

static void on_shingle(void *context, uint64_t shingle)
{
    struct imprint *p = context;
    if (p->learnt != NULL && p->nlearnt < IMPRINT_LEARNT_MAX) {
        p->learnt[p->nlearnt++] = shingle;
    }
    if (p->options->on_shingle != NULL) {
        p->options->on_shingle(p->options->context, shingle);
    }
}

struct imprint *imprint_new(struct arena *arena, const struct imprint_options *options)
{
    struct imprint *p = arena_alloc(arena, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->options = options;
    fold_init(&p->fold, on_word, p);
    p->shingler = (struct shingler){
        .keys = &options->keys, .guard = options->guard, .context = p};
    if (options->learner != NULL) {
        p->learnt = arena_alloc(arena, IMPRINT_LEARNT_MAX * sizeof p->learnt[0]);
    }
    if (p->learnt != NULL || options->on_shingle != NULL) {
        p->shingler.on_shingle = on_shingle;
    }
    for (size_t i = 0; i < IMPRINT_GROUPS; i++) {
        sketch_init(&p->sketch[i]);
    }
    imprint_part(p, IMPRINT_OTHER);
    return p;
}

void imprint_part(struct imprint *p, enum imprint_group group)
{
    fold_break(&p->fold);
    shingler_break(&p->shingler);
    p->exact = &p->exacts[group];
    p->shingler.sketch = &p->sketch[group];
}

void imprint_text(struct imprint *p, struct slice text)
{
    fold_feed(&p->fold, text);
    fold_break(&p->fold);
}

void imprint_tag(struct imprint *p, struct slice name)
{
    structure_tag(&p->structure, name);
}

/* Which of the alternatives is the message's text. */
static enum imprint_group alternative(const struct imprint *p)
{
    return p->exacts[IMPRINT_HTML].nwords >= IMPRINT_WORDS_MIN ? IMPRINT_HTML
                                                               : IMPRINT_PLAIN;
}

static void add_exact(struct imprint *p, struct featureset *set)
{
    struct exact *main = &p->exacts[IMPRINT_OTHER];
    struct exact *other = &p->exacts[alternative(p)];
    char hex[SHA256_HEX + 1];
    if (main->nwords + other->nwords < IMPRINT_WORDS_MIN) {
        return;
    }
    if (main->nwords == 0) {
        main = other;
    } else if (other->nwords > 0) { /* text around alternatives: a checksum of both */
        exact_flush(other);
        if (other->has_sum) {
            sha256_final_hex(&other->sum, hex);
            exact_flush(main);
            memcpy(main->pending, hex, SHA256_HEX);
            main->n = SHA256_HEX;
        }
    }
    exact_flush(main);
    if (main->has_sum) {
        sha256_final_hex(&main->sum, hex);
        featureset_add(set, FEATURE_text, slice_str(hex));
    }
}

static void put_hex(char to[BAND_HEX], uint64_t value)
{
    for (size_t i = 0; i < BAND_HEX; i++) {
        to[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    }
}

static void add_bands(const struct imprint *p, const struct sketch *sketch,
                      struct featureset *set)
{
    const struct shingle_keys *keys = &p->options->keys;
    for (unsigned e = 0; e < SHINGLE_EPOCHS; e++) {
        uint64_t band[SHINGLE_BANDS];
        char text[BAND_TEXT];
        if (!sketch_bands(sketch, keys, e, band)) {
            return;
        }
        int n = snprintf(text, sizeof text, "%x.??.", keys->epoch[e].number);
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
            snprintf(text, sizeof text, "%s %.*s", template, SLICE_ARGS(with->text));
        if (n > 0 && (size_t)n < sizeof text) {
            featureset_add(set, type, slice_of(text, (size_t)n));
        }
    }
}

/* The text without its numbers and ids, together with who sent it: so even a short text says
 * something. */
static void add_templates(const struct sketch *sketch, struct featureset *set)
{
    char hex[TEMPLATE_HEX + 1];
    if (sketch->nwords < IMPRINT_PAIR_WORDS_MIN) {
        return;
    }
    const struct feature *domain = featureset_first(set, FEATURE_from_domain);
    if (domain == NULL) {
        domain = featureset_first(set, FEATURE_envelope_domain);
    }
    (void)snprintf(hex, sizeof hex, "%016llx%016llx",
                   (unsigned long long)sketch->text[0],
                   (unsigned long long)sketch->text[1]);
    add_pair(set, FEATURE_template_sender, hex, domain);
    add_pair(set, FEATURE_template_network, hex,
             featureset_first(set, FEATURE_client_net));
}

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/* Domains, and what of the links one program makes: the rest differs from copy to copy. */
static void add_link_set(struct featureset *set, struct arena *scratch)
{
    size_t n = 0;
    size_t cap = featureset_count_type(set, FEATURE_url_domain) +
                 featureset_count_type(set, FEATURE_url_template);
    struct slice *links = arena_array(scratch, cap, sizeof *links);
    struct sha256 sum = {NULL};
    char hex[SHA256_HEX + 1];
    if (cap < IMPRINT_LINKS_MIN ||
        featureset_count_type(set, FEATURE_url) < IMPRINT_LINKS_MIN || links == NULL ||
        sha256_init(&sum) != ERR_OK) {
        return;
    }
    for (size_t i = 0; i < featureset_count(set) && n < cap; i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_url_domain || f->type == FEATURE_url_template) {
            links[n++] = f->text;
        }
    }
    qsort(links, n, sizeof *links, by_text);
    for (size_t i = 0; i < n; i++) {
        sha256_add(&sum, links[i]);
        sha256_add(&sum, SLICE_LIT("\n"));
    }
    sha256_final_hex(&sum, hex);
    featureset_add(set, FEATURE_link_set, slice_str(hex));
}

static bool was_folded(const struct fold *f)
{
    return f->nlookalike + f->nhidden > 0 || f->nleet >= IMPRINT_LEET_MIN;
}

void imprint_finish(struct imprint *p, struct featureset *set, struct arena *scratch,
                    bool is_cut)
{
    char hex[SHA256_HEX + 1];
    fold_break(&p->fold);
    if (was_folded(&p->fold)) {
        featureset_add(set, FEATURE_sign, slice_str(sign_name(SIGN_text_folded)));
    }
    sketch_merge(&p->sketch[IMPRINT_OTHER], &p->sketch[alternative(p)]);
    if (p->options->keys.is_set) {
        add_bands(p, &p->sketch[IMPRINT_OTHER], set);
    }
    if (!is_cut) {
        if (p->options->keys.is_set) {
            add_templates(&p->sketch[IMPRINT_OTHER], set);
        }
        add_exact(p, set);
        if (structure_end(&p->structure, IMPRINT_TAGS_MIN, hex)) {
            featureset_add(set, FEATURE_html_structure, slice_str(hex));
        }
        add_link_set(set, scratch);
        arena_reset(scratch);
    }
    imprint_drop(p);
}

void imprint_teach(const struct imprint *p, uint64_t sender, uint64_t day)
{
    if (p->nlearnt > 0) {
        ubiquity_learn_message(p->options->learner, p->learnt, p->nlearnt, sender, day);
    }
}

void imprint_drop(struct imprint *p)
{
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < IMPRINT_GROUPS; i++) {
        sha256_fini(&p->exacts[i].sum);
    }
    structure_fini(&p->structure);
}
