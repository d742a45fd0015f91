/*
 * test_shingle - similar texts share a key, others do not, and an old key does not help an
 * attacker.
 *
 * Texts are words drawn from a vocabulary as language has them: the k-th as often as 1/k.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/extract/shingle.h"

#include "tests/unit/unit.h"

enum {
    VOCABULARY = 20000,
    TRIES = 400,
    WORDS = 100,
    WORDS_MAX = 400,
    ATTACK_WORDS = 20,
    ATTACK_TEXTS = 60,
    ATTACK_CHOICE = 1500, /* words that an attacker tries for each that is appended */
    WORD_TEXT = FOLD_WORD_MAX
};

static const struct hashkey ring = {1, "key of the tests"};
static const uint64_t now_s = (uint64_t)700 * SHINGLE_EPOCH_S + 1000;

struct text {
    size_t n;
    unsigned word[WORDS_MAX];
};

static uint64_t seed;
static double cumulated[VOCABULARY];

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

static unsigned draw_word(void)
{
    double at = (double)draw() / 2147483648.0 * cumulated[VOCABULARY - 1];
    size_t low = 0;
    size_t high = VOCABULARY - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cumulated[middle] < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (unsigned)low;
}

static int setup(void **state)
{
    double sum = 0;
    (void)state;
    for (size_t i = 0; i < VOCABULARY; i++) {
        sum += 1.0 / (double)(i + 1);
        cumulated[i] = sum;
    }
    return base_init() == ERR_OK ? 0 : -1;
}

static void append_words(struct text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        t->word[t->n++] = draw_word();
    }
}

static void put(struct shingler *s, struct sketch *sketch, unsigned number)
{
    char text[WORD_TEXT] = "";
    int n = snprintf(text, sizeof(text), "w%uq", number);
    struct fold_word word = {FOLD_TEXT, slice_of(text, (size_t)n)};
    uint64_t shingle = 0;
    if (shingler_word(s, NULL, &word, &shingle)) {
        sketch_add(sketch, s->keys, NULL, &shingle, 1);
    }
}

static void sketch_of(const struct text *t, const struct shingle_keys *keys,
                      struct sketch *ret)
{
    struct shingler s = {.keys = keys};
    sketch_init(ret);
    for (size_t i = 0; i < t->n; i++) {
        put(&s, ret, t->word[i]);
    }
}

/* Bands of one epoch that two sketches share. */
static unsigned shared(const struct sketch *a, const struct sketch *b,
                       const struct shingle_keys *keys, unsigned epoch)
{
    uint64_t x[SHINGLE_BANDS];
    uint64_t y[SHINGLE_BANDS];
    unsigned n = 0;
    if (!sketch_bands(a, keys, epoch, x) || !sketch_bands(b, keys, epoch, y)) {
        return 0;
    }
    for (size_t i = 0; i < SHINGLE_BANDS; i++) {
        n += x[i] == y[i];
    }
    return n;
}

enum change { REPLACE_TENTH, DOUBLE, OTHER_TEXT };

static void change_text(const struct text *from, enum change change, struct text *ret)
{
    *ret = *from;
    switch (change) {
    case REPLACE_TENTH:
        for (size_t left = from->n / 10; left > 0;) {
            size_t at = draw() % from->n;
            if (ret->word[at] == from->word[at]) {
                ret->word[at] = draw_word();
                left -= ret->word[at] != from->word[at];
            }
        }
        break;
    case DOUBLE:
        append_words(ret, from->n);
        break;
    case OTHER_TEXT:
        ret->n = 0;
        append_words(ret, from->n);
        break;
    }
}

/* Of TRIES pairs, how many share a band of one epoch. */
static unsigned pairs_sharing(enum change change)
{
    struct shingle_keys keys;
    unsigned sharing = 0;
    shingle_keys_make(&ring, now_s, &keys);
    for (unsigned i = 0; i < TRIES; i++) {
        struct text text = {.n = 0};
        struct text changed;
        struct sketch a;
        struct sketch b;
        seed = 1000 + i;
        append_words(&text, WORDS);
        change_text(&text, change, &changed);
        sketch_of(&text, &keys, &a);
        sketch_of(&changed, &keys, &b);
        sharing += shared(&a, &b, &keys, i % SHINGLE_EPOCHS) > 0;
    }
    return sharing;
}

static void test_bands__of_like_texts__are_shared(void **state)
{
    unsigned replaced = pairs_sharing(REPLACE_TENTH);
    unsigned doubled = pairs_sharing(DOUBLE);
    unsigned others = pairs_sharing(OTHER_TEXT);
    (void)state;
    print_message(
        "%d words, %d pairs, one epoch: a tenth replaced %u, doubled %u, others %u\n",
        WORDS, TRIES, replaced, doubled, others);
    assert_true(replaced * 100 >= TRIES * 90);
    assert_true(doubled * 100 >= TRIES * 75);
    assert_int_equal(others, 0);
}

/* The attacker appends words, each the one of ATTACK_CHOICE that breaks most bands of the epoch
 * whose key is known. Returns how many words it took to break all, or one more than there are. */
static unsigned attack(struct text *t, const struct shingle_keys *keys, unsigned epoch)
{
    struct sketch before;
    struct sketch now;
    struct shingler s = {.keys = keys};
    unsigned needed = ATTACK_WORDS + 1;
    sketch_of(t, keys, &before);
    sketch_init(&now);
    for (size_t i = 0; i < t->n; i++) {
        put(&s, &now, t->word[i]);
    }
    for (unsigned k = 0; k < ATTACK_WORDS; k++) {
        unsigned least = SHINGLE_BANDS + 1;
        unsigned best = 0;
        for (unsigned c = 0; c < ATTACK_CHOICE; c++) {
            struct sketch with = now;
            struct shingler trial = s;
            unsigned word = (unsigned)(draw() % VOCABULARY);
            put(&trial, &with, word);
            unsigned left = shared(&before, &with, keys, epoch);
            if (left < least) {
                least = left;
                best = word;
            }
        }
        put(&s, &now, best);
        t->word[t->n++] = best;
        if (least == 0 && needed > ATTACK_WORDS) {
            needed = k + 1;
        }
    }
    return needed;
}

static void test_attack__with_the_key_of_another_epoch__breaks_nothing(void **state)
{
    struct shingle_keys keys;
    unsigned broken[SHINGLE_EPOCHS] = {0, 0};
    unsigned words = 0;
    (void)state;
    shingle_keys_make(&ring, now_s, &keys);
    for (unsigned i = 0; i < ATTACK_TEXTS; i++) {
        struct text text = {.n = 0};
        struct text attacked;
        struct sketch a;
        struct sketch b;
        seed = 5000 + i;
        append_words(&text, WORDS);
        attacked = text;
        words += attack(&attacked, &keys, 1); /* the previous one is known */
        sketch_of(&text, &keys, &a);
        sketch_of(&attacked, &keys, &b);
        for (unsigned e = 0; e < SHINGLE_EPOCHS; e++) {
            broken[e] += shared(&a, &b, &keys, e) == 0;
        }
    }
    print_message(
        "%d texts of %d words, %d appended: broken under the key not known %u, under "
        "the known one %u (by %.1f words)\n",
        ATTACK_TEXTS, WORDS, ATTACK_WORDS, broken[0], broken[1],
        (double)words / ATTACK_TEXTS);
    assert_true(broken[0] * 100 <= ATTACK_TEXTS * 10);
    assert_true(broken[1] > broken[0]); /* or the attacker is none */
}

static void test_bands__of_few_shingles__are_none(void **state)
{
    struct shingle_keys keys;
    struct text text = {.n = 0};
    struct sketch sketch;
    uint64_t bands[SHINGLE_BANDS];
    (void)state;
    shingle_keys_make(&ring, now_s, &keys);
    seed = 1;
    for (size_t i = 0; i < WORDS_MAX; i++) { /* the same five words again and again */
        text.word[text.n++] = (unsigned)(i % 5);
    }
    sketch_of(&text, &keys, &sketch);
    assert_int_equal(sketch_distinct(&sketch), 5);
    assert_false(sketch_bands(&sketch, &keys, 0, bands));
    text.n = 0;
    for (unsigned i = 0; i < SHINGLE_DISTINCT_MIN + SHINGLE_WORDS - 1; i++) {
        sketch_of(&text, &keys, &sketch);
        assert_false(sketch_bands(&sketch, &keys, 0, bands));
        text.word[text.n++] = i;
    }
    text.word[text.n++] = 1000; /* one more: two shingles may be taken for one */
    text.word[text.n++] = 1001;
    sketch_of(&text, &keys, &sketch);
    assert_true(sketch_bands(&sketch, &keys, 0, bands));
    assert_true(sketch_bands(&sketch, &keys, 1, bands));
}

static void test_merge__of_two_parts__has_the_bands_of_both_together(void **state)
{
    struct shingle_keys keys;
    struct text text = {.n = 0};
    struct sketch whole;
    struct sketch first;
    struct sketch second;
    (void)state;
    shingle_keys_make(&ring, now_s, &keys);
    seed = 7;
    append_words(&text, WORDS_MAX);
    struct shingler s = {.keys = &keys};
    sketch_init(&whole);
    sketch_init(&first);
    sketch_init(&second);
    for (size_t i = 0; i < text.n; i++) {
        if (i == WORDS) {
            shingler_break(&s);
        }
        put(&s, &whole, text.word[i]);
    }
    s = (struct shingler){.keys = &keys};
    for (size_t i = 0; i < text.n; i++) {
        if (i == WORDS) {
            shingler_break(&s);
        }
        put(&s, i < WORDS ? &first : &second, text.word[i]);
    }
    sketch_merge(&first, &second);
    assert_int_equal(shared(&whole, &first, &keys, 0), SHINGLE_BANDS);
    assert_int_equal(shared(&whole, &first, &keys, 1), SHINGLE_BANDS);
    assert_int_equal(sketch_distinct(&whole), sketch_distinct(&first));
}

static void test_keys__of_the_next_epoch__keep_the_one_before(void **state)
{
    struct shingle_keys now;
    struct shingle_keys later;
    struct shingle_keys foreign;
    struct hashkey other = {2, "other digest key"};
    (void)state;
    shingle_keys_make(&ring, now_s, &now);
    shingle_keys_make(&ring, now_s + SHINGLE_EPOCH_S, &later);
    shingle_keys_make(&other, now_s, &foreign);
    assert_int_equal(now.epoch[0].number, 700);
    assert_int_equal(now.epoch[1].number, 699);
    assert_int_equal(later.epoch[1].number, now.epoch[0].number);
    assert_memory_equal(later.epoch[1].key, now.epoch[0].key, sizeof(now.epoch[0].key));
    assert_memory_equal(later.word, now.word, sizeof(now.word));
    assert_memory_not_equal(later.epoch[0].key, now.epoch[0].key,
                            sizeof(now.epoch[0].key));
    assert_memory_not_equal(foreign.epoch[0].key, now.epoch[0].key,
                            sizeof(now.epoch[0].key));
    assert_memory_not_equal(foreign.word, now.word, sizeof(now.word));
    assert_memory_not_equal(now.word, now.epoch[0].key, sizeof(now.word));
    shingle_keys_make(&ring, 0, &now); /* there is no epoch before the first */
    assert_int_equal(now.epoch[1].number, 0);
}

static void test_guard__of_common_shingles__takes_them_out(void **state)
{
    struct shingle_keys keys;
    struct text text = {.n = 0};
    struct sketch sketch;
    struct shingler s = {.keys = &keys};
    struct boilerplate *guard = boilerplate_new(1 << 16);
    uint64_t shingles[WORDS];
    size_t n = 0;
    (void)state;
    shingle_keys_make(&ring, now_s, &keys);
    seed = 9;
    append_words(&text, WORDS);
    sketch_of(&text, &keys, &sketch);
    unsigned distinct = sketch_distinct(&sketch);
    for (size_t i = 0; i < WORDS; i++) {
        char word[WORD_TEXT] = "";
        int length = snprintf(word, sizeof(word), "w%uq", text.word[i]);
        struct fold_word folded = {FOLD_TEXT, slice_of(word, (size_t)length)};
        n += shingler_word(&s, NULL, &folded, &shingles[n]);
    }
    for (uint64_t sender = 1; sender <= BOILERPLATE_SENDERS; sender++) {
        for (size_t i = 0; i < n; i++) {
            (void)boilerplate_learn(guard, shingles[i], sender);
        }
        sketch_init(&sketch);
        sketch_add(&sketch, &keys, guard, shingles, n);
        assert_int_equal(sketch_distinct(&sketch),
                         sender < BOILERPLATE_SENDERS ? distinct : 0);
    }
    boilerplate_free(&guard);
}

/* "12 http://.. 7" is in all mail, and in each copy another. */
static void test_shingle__of_numbers_ids_and_links__is_none(void **state)
{
    static const struct {
        enum fold_kind kind[4];
        size_t shingles;
    } rows[] = {
        {{FOLD_NUMBER, FOLD_MIXED, FOLD_URL, FOLD_ADDRESS}, 0},
        {{FOLD_TEXT, FOLD_MIXED, FOLD_URL, FOLD_ADDRESS}, 1},
        {{FOLD_NUMBER, FOLD_NUMBER, FOLD_NUMBER, FOLD_TEXT}, 1},
        {{FOLD_NUMBER, FOLD_TEXT, FOLD_NUMBER, FOLD_NUMBER}, 2},
        {{FOLD_ALONE, FOLD_NUMBER, FOLD_NUMBER, FOLD_NUMBER}, 1},
    };
    struct shingle_keys keys;
    (void)state;
    shingle_keys_make(&ring, now_s, &keys);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const char text[FOLD_WORD_MAX] = "x";
        struct shingler s = {.keys = &keys};
        uint64_t shingle = 0;
        size_t n = 0;
        for (size_t k = 0; k < 4; k++) {
            struct fold_word word = {rows[i].kind[k], slice_of(text, 1)};
            n += shingler_word(&s, NULL, &word, &shingle);
        }
        assert_int_equal(n, rows[i].shingles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands__of_like_texts__are_shared),
        cmocka_unit_test(test_attack__with_the_key_of_another_epoch__breaks_nothing),
        cmocka_unit_test(test_bands__of_few_shingles__are_none),
        cmocka_unit_test(test_merge__of_two_parts__has_the_bands_of_both_together),
        cmocka_unit_test(test_keys__of_the_next_epoch__keep_the_one_before),
        cmocka_unit_test(test_guard__of_common_shingles__takes_them_out),
        cmocka_unit_test(test_shingle__of_numbers_ids_and_links__is_none),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
