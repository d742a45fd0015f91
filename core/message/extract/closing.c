#include "core/message/extract/closing.h"

enum { STEM = CLOSING_LONG_WORD, INITIALS_MAX = 4, MARK_BITS = 6 };

/* How words of disclaimers begin, folded, in eleven languages; by their first letter, a space
 * behind each. */
static const char *const stems[26] = {
    ['a' - 'a'] =
        "absender addresse afsender afzender authoris authoriz autorise autoriza avsender ",
    ['c' - 'a'] = "confiden ",
    ['d' - 'a'] =
        "destinat disclosi disclosu dissemin ditberic divulgac divulgat divulgaz ",
    ['e' - 'a'] = "empfange erroneou expedite ",
    ['f' - 'a'] = "fortroli ",
    ['g' - 'a'] = "geadress gestatte ",
    ['i' - 'a'] = "intended interdit irrtumli ",
    ['k' - 'a'] = "konfiden ",
    ['l' - 'a'] = "luottamu ",
    ['m' - 'a'] = "modtager mottagar ",
    ['n' - 'a'] = "nieupraw ",
    ['o' - 'a'] = "obehorig onbevoeg onrechtm ",
    ['p' - 'a'] = "poufnosc privileg prohibid prohibit proibida ",
    ['r' - 'a'] = "rechtlic recipien remitent ",
    ['u' - 'a'] = "unauthor unbefugt ",
    ['v' - 'a'] = "vastaano vernicht vertraul vertrouw ",
    ['w' - 'a'] = "weiterga ",
};

/* The bit of a word that is typical of disclaimers; 0: another word. */
static uint64_t mark_of(struct slice word)
{
    unsigned letter = (unsigned char)word.p[0] - (unsigned)'a';
    const char *stem = letter < LENGTH(stems) ? stems[letter] : NULL;
    for (; stem != NULL && *stem != '\0'; stem += STEM + 1) {
        if (memcmp(stem, word.p, STEM) == 0) {
            uint64_t v = 0;
            memcpy(&v, stem, sizeof(v));
            return (uint64_t)1 << (v * 0x9e3779b97f4a7c15u >> (64 - MARK_BITS));
        }
    }
    return 0;
}

void closing_init(struct closing *c, closing_fn *take, void *context)
{
    c->take = take;
    c->context = context;
    c->nquoted = 0;
    c->is_after_blank = true;
    c->is_after_quote = false;
    c->is_after_delimiter = false;
    c->nlines = 0;
    c->nshingles = 0;
}

static struct closing_line *open_line(struct closing *c)
{
    return &c->line[c->nlines];
}

/* "> ", or "JM> " with a quoted person's initials. text: the begin of a line. */
static bool is_quoted(struct slice text)
{
    size_t n = 0;
    while (n < text.n && n < INITIALS_MAX && text.p[n] >= 'A' && text.p[n] <= 'Z') {
        n++;
    }
    return n < text.n && text.p[n] == '>';
}

/* With the space behind that some drop, and that HTML writes as U+00A0. */
static bool is_delimiter(struct slice text)
{
    size_t n = sizeof "--" - 1;
    if (!slice_has_prefix(text, SLICE_LIT("--"))) {
        return false;
    }
    if (slice_has_prefix(slice_from(text, n), SLICE_LIT("\xc2\xa0"))) {
        n += sizeof "\xc2\xa0" - 1;
    }
    while (n < text.n && (text.p[n] == ' ' || text.p[n] == '\r')) {
        n++;
    }
    return n == text.n || text.p[n] == '\n';
}

static bool ends_in_colon(struct slice line)
{
    const struct slice wide = SLICE_LIT("\xef\xbc\x9a"); /* U+FF1A */
    while (line.n > 0 && (unsigned char)line.p[line.n - 1] <= ' ') {
        line.n--;
    }
    return line.n > 0 &&
           (line.p[line.n - 1] == ':' ||
            (line.n >= wide.n && slice_eq(slice_from(line, line.n - wide.n), wide)));
}

/* Lines before the first quoted one that say who wrote it: "On Monday Jane Doe\n<j@..> wrote:". */
static void take_attribution(struct closing *c)
{
    size_t from = c->nlines;
    size_t nwords = 0;
    if (c->nlines == 0 || !c->line[c->nlines - 1].ends_in_colon || c->is_after_quote) {
        return;
    }
    do {
        from--;
        nwords += c->line[from].nwords;
    } while (from > 0 && !c->line[from].begins_paragraph &&
             !c->line[from].follows_quote);
    if (c->nlines - from > CLOSING_ATTRIBUTION_LINES ||
        nwords > CLOSING_ATTRIBUTION_WORDS) {
        from = c->nlines - 1; /* the last line of more than that */
    }
    for (; from < c->nlines; from++) {
        c->line[from].kind = CLOSING_QUOTED;
        c->nquoted += c->line[from].nwords;
    }
}

bool closing_begin(struct closing *c, struct slice text)
{
    size_t n = 0;
    while (n < text.n && (text.p[n] == ' ' || text.p[n] == '\t' || text.p[n] == '\r')) {
        n++;
    }
    text = slice_from(text, n);
    bool was_quoted = c->is_after_quote;
    bool is_blank = text.n == 0 || text.p[0] == '\n';
    c->is_after_blank = c->is_after_blank || is_blank;
    struct closing_line *line = open_line(c);
    *line = (struct closing_line){.kind = CLOSING_OWN,
                                  .begins_paragraph = c->is_after_blank,
                                  .follows_quote = was_quoted,
                                  .follows_delimiter = c->is_after_delimiter};
    if (is_blank) {
        return false;
    }
    bool quotes = is_quoted(text);
    if (quotes) {
        take_attribution(c);
        line->kind = CLOSING_QUOTED;
        c->is_after_quote = true;
        c->is_after_delimiter = false;
    } else if (is_delimiter(text)) {
        c->is_after_delimiter = true;
    } else {
        /* a line as any other */
    }
    return quotes != was_quoted;
}

void closing_long_word(struct closing *c, struct slice word)
{
    open_line(c)->marks |= mark_of(word);
}

/* Hands on the oldest lines, or what there is of the open one when it fills all the room. */
static void hand_on(struct closing *c)
{
    struct closing_line *open = open_line(c);
    size_t nlines = (c->nlines + 1) / 2;
    size_t n = 0;
    if (nlines == 0) {
        c->take(c->context, (enum closing_kind)open->kind, c->shingle, c->nshingles);
        open->nshingles = 0;
        c->nshingles = 0;
        return;
    }
    for (size_t i = 0; i < nlines; i++) {
        c->take(c->context, (enum closing_kind)c->line[i].kind, c->shingle + n,
                c->line[i].nshingles);
        n += c->line[i].nshingles;
    }
    memmove(c->shingle, c->shingle + n, (c->nshingles - n) * sizeof(c->shingle[0]));
    memmove(c->line, c->line + nlines, (c->nlines + 1 - nlines) * sizeof(c->line[0]));
    c->nshingles -= n;
    c->nlines -= nlines;
}

void closing_make_room(struct closing *c)
{
    do { /* lines of few words give no room */
        hand_on(c);
    } while (c->nshingles == CLOSING_SHINGLES);
}

void closing_end(struct closing *c, struct slice line, uint64_t hash, size_t nwords)
{
    struct closing_line *held = open_line(c);
    if (nwords == 0) {
        return;
    }
    held->hash = hash;
    held->nwords = (uint32_t)nwords;
    held->ends_in_colon = ends_in_colon(line);
    c->is_after_blank = false;
    if (held->kind == CLOSING_QUOTED) {
        c->nquoted += held->nwords;
        c->nshingles -= held->nshingles;
        c->take(c->context, CLOSING_QUOTED, c->shingle + c->nshingles, held->nshingles);
        return;
    }
    c->is_after_quote = false;
    c->is_after_delimiter = false;
    c->nlines++;
    if (c->nlines == CLOSING_LINES) {
        open_line(c)->nshingles = 0;
        closing_make_room(c);
    }
}

static uint64_t learnt_as(const struct closing_line *line, uint64_t list)
{
    uint64_t h = (line->hash ^ list) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static size_t footer_from(const struct closing *c)
{
    return c->nlines > CLOSING_FOOTER_LINES ? c->nlines - CLOSING_FOOTER_LINES : 0;
}

static bool may_be_footer(const struct closing_line *line)
{
    return line->kind != CLOSING_QUOTED && line->nwords <= CLOSING_FOOTER_WORDS;
}

static void mark_footer(struct closing *c, const struct boilerplate *guard,
                        uint64_t list)
{
    for (size_t i = footer_from(c); i < c->nlines; i++) {
        if (may_be_footer(&c->line[i]) &&
            boilerplate_has(guard, learnt_as(&c->line[i], list))) {
            c->line[i].kind = CLOSING_LEFT;
        }
    }
}

/* Lines from..to, as far as they are of the message itself, are left out. */
static void leave_out(struct closing *c, size_t from, size_t to)
{
    for (; from < to; from++) {
        if (c->line[from].kind == CLOSING_OWN) {
            c->line[from].kind = CLOSING_LEFT;
        }
    }
}

/* The line that a signature ends before: at a quote, the next delimiter or the end. */
static size_t signature_end(const struct closing *c, size_t from)
{
    size_t to = from + 1;
    while (to < c->nlines && !c->line[to].follows_quote &&
           !c->line[to].follows_delimiter && c->line[to].kind != CLOSING_QUOTED) {
        to++;
    }
    return to;
}

static void mark_signatures(struct closing *c)
{
    for (size_t i = 0; i < c->nlines;) {
        size_t to = i + 1;
        if (c->line[i].follows_delimiter) {
            size_t nlines = 0;
            size_t nwords = 0;
            to = signature_end(c, i);
            for (size_t k = i; k < to; k++) {
                bool is_own = c->line[k].kind == CLOSING_OWN;
                nlines += is_own;
                nwords += is_own ? c->line[k].nwords : 0;
            }
            if (nlines <= CLOSING_SIGNATURE_LINES &&
                nwords <= CLOSING_SIGNATURE_WORDS) {
                leave_out(c, i, to);
            }
        }
        i = to;
    }
}

/* Paragraphs from the end on, up to the first that is neither left out nor a disclaimer. */
static void mark_disclaimers(struct closing *c)
{
    for (size_t to = c->nlines; to > 0;) {
        size_t from = to;
        size_t nwords = 0;
        size_t nown = 0;
        uint64_t marks = 0;
        do {
            from--;
            nown += c->line[from].kind == CLOSING_OWN;
            nwords += c->line[from].nwords;
            marks |= c->line[from].marks;
        } while (from > 0 && !c->line[from].begins_paragraph);
        bool is_disclaimer = nwords <= CLOSING_DISCLAIMER_WORDS &&
                             __builtin_popcountll(marks) >= CLOSING_DISCLAIMER_MARKS;
        if (nown > 0 && !is_disclaimer) {
            return;
        }
        leave_out(c, from, to);
        to = from;
    }
}

size_t closing_mark(struct closing *c, const struct boilerplate *guard, uint64_t list)
{
    size_t nwords = 0;
    if (guard != NULL && list != 0) {
        mark_footer(c, guard, list);
    }
    mark_disclaimers(c); /* below a signature, then above it */
    mark_signatures(c);
    mark_disclaimers(c);
    for (size_t i = 0; i < c->nlines; i++) {
        nwords += c->line[i].kind == CLOSING_LEFT ? c->line[i].nwords : 0;
    }
    return nwords;
}

void closing_give(const struct closing *c, enum closing_kind kind)
{
    const uint64_t *shingles = c->shingle;
    size_t n = 0; /* of lines one after the other that are alike */
    for (size_t i = 0; i <= c->nlines; i++) {
        bool is_alike = i < c->nlines && c->line[i].kind == kind;
        if (is_alike) {
            n += c->line[i].nshingles;
        } else {
            if (n > 0) {
                c->take(c->context, kind, shingles, n);
            }
            shingles += n + (i < c->nlines ? c->line[i].nshingles : 0);
            n = 0;
        }
    }
}

size_t closing_footer(const struct closing *c, uint64_t list,
                      uint64_t ret[CLOSING_FOOTER_LINES])
{
    size_t n = 0;
    for (size_t i = footer_from(c); i < c->nlines; i++) {
        if (may_be_footer(&c->line[i])) {
            ret[n++] = learnt_as(&c->line[i], list);
        }
    }
    return n;
}
