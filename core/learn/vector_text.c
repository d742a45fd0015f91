/* vector_text - words of subject, text and names. */
#include "core/base/le.h"
#include "core/learn/vector_internal.h"
#include "core/message/text/ascii.h"

enum {
    LONG_WORD = 25,    /* bytes; a longer word is known by its length alone */
    ENGLISH_BYTES = 5, /* of the longest word below */
    ENGLISH_BITS = 7,
    DELIMITER_MIN = 20,   /* signs of a line that separates a footer */
    ATTRIBUTION_MAX = 320 /* bytes of a line that names who wrote the quoted text */
};

/* Words that stand in any English text, and in few others; each at its place by english_at. */
static const char english[1 << ENGLISH_BITS][ENGLISH_BYTES + 1] = {
    [0] = "by",    [1] = "to",     [2] = "it",    [7] = "at",    [18] = "our",
    [25] = "this", [26] = "be",    [39] = "are",  [41] = "of",   [42] = "is",
    [45] = "if",   [46] = "with",  [47] = "as",   [67] = "from", [70] = "for",
    [71] = "has",  [76] = "we",    [78] = "or",   [87] = "can",  [90] = "your",
    [92] = "that", [94] = "will",  [104] = "the", [108] = "on",  [110] = "not",
    [111] = "and", [116] = "have", [117] = "an",  [125] = "was", [126] = "you"};

static size_t english_at(uint64_t word)
{
    return (word * UINT64_C(0x7eb0adf422cedafb)) >>
           (64 - ENGLISH_BITS); /* no two at one place */
}

static bool is_english(struct slice w)
{
    if (w.n < 2 || w.n > ENGLISH_BYTES) {
        return false;
    }
    const char *other = english[english_at(le_get(w.p, w.n))];
    return memcmp(other, w.p, w.n) == 0 && other[w.n] == '\0';
}

/* The bit of the script of a word, by its first byte in UTF-8. */
static uint32_t script_bit(unsigned char c)
{
    return c < 0xc3 ? 0 : 1U << (c & 31);
}

/* The hash of a word; numbers and ids by their length. */
static uint32_t word_hash(enum vector_block block, const struct fold_word *word)
{
    char text[3] = {'\0', '\0', '\0'};
    switch (word->kind) {
    case FOLD_TEXT:
        if (word->text.n <= LONG_WORD) {
            return vector_hash(block, word->text);
        }
        text[0] = '+';
        text[1] = (char)('0' + vector_log2(word->text.n));
        break;
    case FOLD_NUMBER:
        text[0] = '0';
        text[1] = (char)('0' + (word->text.n < 9 ? word->text.n : 9));
        break;
    case FOLD_MIXED:
        text[0] = '#';
        text[1] = (char)('0' + vector_log2(word->text.n));
        break;
    case FOLD_ALONE:
    case FOLD_URL:
    case FOLD_ADDRESS:
        return vector_hash(block, word->text);
    }
    return vector_hash(block, slice_of(text, 2));
}

static void commit(struct vector_reader *r, enum fingerprint_group group,
                   const uint32_t *hash, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        vector_add_hash(r, VECTOR_TEXT, hash[i], group);
    }
}

/* Text behind a delimiter was too long for a signature: it counts. */
static void end_tail(struct vector_reader *r, bool is_text)
{
    if (is_text) {
        commit(r, r->tail_group, r->tail, r->ntail);
    }
    r->is_tail = false;
    r->ntail = 0;
    r->tail_bytes = 0;
}

static void add_word(struct vector_reader *r, enum fingerprint_group group,
                     uint32_t hash)
{
    if (r->is_tail) {
        if (r->ntail < VECTOR_TAIL) {
            r->tail[r->ntail++] = hash;
            return;
        }
        end_tail(r, true);
    }
    if (r->nline == VECTOR_LINE) {
        commit(r, group, r->line, r->nline); /* too long to be an attribution */
        r->nline = 0;
    }
    r->line[r->nline++] = hash;
}

void vector_on_word(void *context, enum fingerprint_group group,
                    const struct fold_word *word)
{
    struct vector_reader *r = context;
    struct vector_look *look = &r->look[group];
    look->nwords++;
    if (word->kind == FOLD_TEXT && look->nwords <= VECTOR_ENGLISH) {
        look->nenglish += is_english(word->text);
        look->scripts |= script_bit((unsigned char)word->text.p[0]);
    }
    if (word->kind == FOLD_TEXT && vector_is_name(r, word->text)) {
        return;
    }
    uint32_t hash = word_hash(VECTOR_TEXT, word);
    vector_note_name(r, VECTOR_TEXT, hash, "", word->text);
    if (word->kind == FOLD_ALONE) {
        uint32_t pair = r->last_alone; /* a pair says what a word says elsewhere */
        r->last_alone = hash;
        look->scripts |= script_bit((unsigned char)word->text.p[0]);
        if (pair == 0) {
            return;
        }
        hash = (pair * 31 + hash) & VECTOR_HASH_MASK;
    } else {
        r->last_alone = 0;
    }
    add_word(r, group, hash);
}

/* "--", "____________________": a signature or the footer of a list follows. */
static bool is_delimiter(struct slice line)
{
    size_t n = 0;
    if (line.n == 0 || (line.p[0] != '-' && line.p[0] != '_' && line.p[0] != '=')) {
        return false;
    }
    while (n < line.n && line.p[n] == line.p[0]) {
        n++;
    }
    return n == line.n && (n >= DELIMITER_MIN || slice_eq(line, SLICE_LIT("--")));
}

/* "On Tuesday Anna wrote:". */
static bool is_attribution(struct slice line)
{
    static const char *const verbs[] = {"wrote", "writes",  "schrieb", "escribi",
                                        "crit",  "scrisse", "schreef"};
    if (line.n < 6 || line.n > ATTRIBUTION_MAX || line.p[line.n - 1] != ':') {
        return false;
    }
    for (size_t i = 0; i < LENGTH(verbs); i++) {
        if (slice_find_slice(line, slice_str(verbs[i])) < line.n) {
            return true;
        }
    }
    return false;
}

static void note_bytes(struct vector_look *look, struct slice text)
{
    uint32_t capitals = 0;
    uint32_t exclamations = 0;
    uint32_t money = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        capitals += (uint32_t)((unsigned)c - 'A' < 26U);
        exclamations += c == '!';
        money += (uint32_t)((c == '$') + (c == '%'));
    }
    look->bytes += (uint32_t)text.n;
    look->capitals += capitals;
    look->exclamations += exclamations;
    look->money += money;
}

void vector_on_line(void *context, enum fingerprint_group group, struct slice text)
{
    struct vector_reader *r = context;
    text = slice_trim(text);
    r->last_alone = 0;
    note_bytes(&r->look[group], text);
    if (is_delimiter(text)) {
        end_tail(r, r->is_tail && r->tail_bytes > VECTOR_TAIL_BYTES);
        r->is_tail = true;
        r->tail_group = group;
    } else if (r->is_tail) {
        r->tail_bytes += text.n + 1;
        if (r->tail_bytes > VECTOR_TAIL_BYTES) {
            end_tail(r, true);
        }
    } else if (!is_attribution(text)) {
        commit(r, group, r->line, r->nline);
    } else {
        /* the line is the mail program's */
    }
    r->nline = 0;
}

void vector_text_end(struct vector_reader *r)
{
    end_tail(r, false);
    r->nline = 0;
    r->last_alone = 0;
}

struct words {
    struct vector_reader *reader;
    enum vector_block block;
};

static void on_other_word(void *context, const struct fold_word *word)
{
    struct words *w = context;
    if (word->kind != FOLD_TEXT || !vector_is_name(w->reader, word->text)) {
        uint32_t hash = word_hash(w->block, word);
        vector_add_hash(w->reader, w->block, hash, FINGERPRINT_OTHER);
        vector_note_name(w->reader, w->block, hash, "", word->text);
    }
}

void vector_words(struct vector_reader *r, enum vector_block block, struct slice text)
{
    struct words w = {.reader = r, .block = block};
    struct fold fold;
    fold_init(&fold, on_other_word, &w);
    fold.is_subject = true;
    fold_feed(&fold, text);
    fold_break(&fold);
}

/* Length of a leading "Re:", "Fwd[2]:" or "[list]"; 0: there is none. */
static size_t prefix_length(struct slice s)
{
    static const char *const marks[] = {"re",   "fwd", "fw", "aw",
                                        "antw", "sv",  "wg", "tr"};
    if (s.n > 2 && (s.p[0] == '[' || s.p[0] == '{')) {
        size_t end = slice_find(s, s.p[0] == '[' ? ']' : '}');
        return end < s.n && end <= 41 ? end + 1 : 0;
    }
    if (s.n > 5 && s.p[0] == '*' && s.p[1] == '*') { /* "*****SPAM*****" */
        size_t end = slice_find_slice(slice_from(s, 2), SLICE_LIT("** "));
        return end < 40 && end + 2 < s.n ? end + 4 : 0;
    }
    for (size_t i = 0; i < LENGTH(marks); i++) {
        size_t n = strlen(marks[i]);
        if (!slice_has_prefix_nocase(s, slice_str(marks[i]))) {
            continue;
        }
        if (n < s.n && s.p[n] == '[') {
            n += slice_find(slice_from(s, n), ']') + 1;
        }
        if (n < s.n && s.p[n] == ':') {
            return n + 1;
        }
    }
    return 0;
}

void vector_subject(struct vector_reader *r, struct slice subject)
{
    for (size_t n = prefix_length(subject); n > 0; n = prefix_length(subject)) {
        subject = slice_trim(slice_from(subject, n));
    }
    vector_words(r, VECTOR_SUBJECT, subject);
    if (slice_find(subject, '!') < subject.n) {
        vector_add(r, VECTOR_LOOK, SLICE_LIT("subject!"));
    }
    if (slice_find(subject, '?') < subject.n) {
        vector_add(r, VECTOR_LOOK, SLICE_LIT("subject?"));
    }
    for (size_t i = 0; i < subject.n; i++) {
        if ((unsigned char)subject.p[i] >= 0x80) {
            vector_add(r, VECTOR_LOOK, SLICE_LIT("subject8"));
            break;
        }
    }
    vector_add_number(r, VECTOR_LOOK, "subject-length=", vector_log2(subject.n));
}

void vector_add_look(struct vector_reader *r, const struct vector_look *look)
{
    unsigned share = look->bytes > 0 ? 100 * look->capitals / look->bytes : 0;
    vector_add_number(r, VECTOR_LOOK, "words=", vector_log2(look->nwords));
    vector_add_number(r, VECTOR_LOOK, "capitals=", vector_log2(share));
    vector_add_number(r, VECTOR_LOOK, "!=", vector_log2(look->exclamations));
    vector_add_number(r, VECTOR_LOOK, "money=", vector_log2(look->money));
    for (uint32_t bits = look->scripts; bits != 0; bits &= bits - 1) {
        vector_add_number(r, VECTOR_LOOK, "script=", (unsigned)__builtin_ctz(bits));
    }
}
