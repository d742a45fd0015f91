#include "core/message/extract/password.h"

#include "core/base/uninitialized.h"
#include "core/message/extract/password_internal.h"
#include "core/message/text/ascii.h"

enum {
    /* bytes between a dense word for password and the password: "是", "は", "는" */
    DENSE_LINK = 12,
    FOLDED_TOKEN = PASSWORD_TOKEN * 4
};

static void add_candidate(struct password_finder *f, struct slice s, bool is_likely)
{
    size_t at;

    if (s.n == 0 || s.n > PASSWORD_BYTES) {
        return;
    }
    for (at = 0; at < f->ncandidates; at++) {
        struct password_candidate *c = &f->candidate[at];
        if (slice_eq(slice_of(c->bytes, c->n), s)) {
            c->is_likely = c->is_likely || is_likely;
            return;
        }
    }
    if (at == PASSWORD_CANDIDATES) {
        while (is_likely && at > 0 && f->candidate[at - 1].is_likely) {
            at--;
        }
        if (!is_likely || at == 0) {
            return;
        }
        at--; /* replaces the last unlikely candidate */
    } else {
        f->ncandidates++;
    }
    f->candidate[at].n = (uint8_t)s.n;
    f->candidate[at].is_likely = is_likely;
    memcpy(f->candidate[at].bytes, s.p, s.n);
}

/* A token in the forms that a person may mean. */
static void add_token(struct password_finder *f, struct slice s, bool is_likely)
{
    const struct slice bare = password_bare(s);
    const struct slice inner = password_unquoted(s);

    add_candidate(f, bare, is_likely);
    add_candidate(f, inner, is_likely && bare.n > 0);
    if (inner.n == s.n || password_opening(s) == 0) {
        add_candidate(f, s, false);
    }
}

static void keep_token(struct password_candidate *c, struct slice s)
{
    c->n = (uint8_t)(s.n <= PASSWORD_BYTES ? s.n : 0);
    if (c->n > 0) {
        memcpy(c->bytes, s.p, c->n);
    }
}

static size_t fold_token(struct slice s, char dst[FOLDED_TOKEN])
{
    size_t n = 0;

    while (s.n > 0 && n + PASSWORD_CHARACTER <= FOLDED_TOKEN) {
        uint32_t point = ' ';
        const size_t length = utf8_decode(s.p, s.n, &point);
        n += password_fold(point, dst + n);
        s = slice_from(s, length > 0 ? length : 1);
    }
    return n;
}

static bool is_link(struct slice s)
{
    char text[FOLDED_TOKEN] UNINITIALIZED;
    return password_is_link(slice_of(text, fold_token(s, text)));
}

/* The rest of a line behind a separator may be a password with spaces. */
static void add_to_rest(struct password_finder *f, struct slice s)
{
    if (f->rest_tokens == 0) {
        return;
    }
    if (f->nrest + 1 + s.n > sizeof(f->rest)) {
        f->rest_tokens = 0;
        return;
    }
    if (f->nrest > 0) {
        f->rest[f->nrest++] = ' ';
    }
    memcpy(f->rest + f->nrest, s.p, s.n);
    f->nrest += s.n;
    f->rest_tokens++;
}

static void separate(struct password_finder *f)
{
    f->is_separated = true;
    f->nrest = 0;
    f->rest_tokens = 1;
}

/* A token behind a word for password. */
static void consider(struct password_finder *f, struct slice s)
{
    struct slice bare;
    size_t n;

    while (s.n > 0 && (n = password_separator(s)) > 0) {
        separate(f);
        s = slice_from(s, n);
    }
    bare = password_bare(s);
    if (bare.n == 0) {
        if (f->is_separated && s.n >= PASSWORD_LIKELY) {
            add_candidate(f, s, false); /* signs alone */
        }
        return;
    }
    if (password_dash(bare) == bare.n) {
        return;
    }
    f->words--;
    if (f->is_next && !f->is_separated && is_link(bare)) {
        return;
    }
    add_to_rest(f, s);
    const bool is_likely = f->is_separated || password_is_likely(s);
    if (password_ends_separated(s) && !is_likely) {
        separate(f); /* "Password of the file:" */
        return;
    }
    if (is_likely || f->is_next) {
        add_token(f, s, is_likely);
    }
    f->is_next = false;
    f->is_separated = false;
}

static void arm(struct password_finder *f)
{
    f->words = PASSWORD_WORDS;
    f->lines = 0;
    f->is_next = true;
    f->is_separated = false;
    f->rest_tokens = 0;
    if (f->before.n > 0 && f->before_age <= PASSWORD_BEFORE) {
        add_token(f, slice_of(f->before.bytes, f->before.n), false);
    }
}

/* Takes the end of a token behind a word for password: ":1234", "'s", "):". */
static void consider_rest(struct password_finder *f, struct slice rest)
{
    size_t n = password_opening(rest);

    if (n > 0 && password_separator(slice_from(rest, n)) > 0) {
        rest = slice_from(rest, n);
    }
    rest = slice_from(rest, password_dash(rest)); /* "pass-1234" */
    if (password_separator(rest) > 0 || password_is_likely(rest)) {
        consider(f, rest);
    }
}

/* Appends a folded word to the last words; the oldest make room. */
static void append_word(struct password_finder *f, struct slice word)
{
    if (word.n + 1 > PASSWORD_PHRASE) {
        f->nphrase = 0;
        return;
    }
    if (f->nphrase + 1 + word.n > PASSWORD_PHRASE) {
        const size_t cut = f->nphrase + 1 + word.n - PASSWORD_PHRASE;
        memmove(f->phrase, f->phrase + cut, f->nphrase - cut);
        f->nphrase -= cut;
    }
    f->phrase[f->nphrase++] = ' ';
    memcpy(f->phrase + f->nphrase, word.p, word.n);
    f->nphrase += word.n;
}

/* Reads the runs of letters of a token. Returns where the last word for password in it ends; 0: it
 * has none. */
static size_t read_runs(struct password_finder *f, struct slice s)
{
    char word[FOLDED_TOKEN] UNINITIALIZED;
    size_t n = 0;
    size_t end = 0;
    size_t at = 0;

    while (at <= s.n) {
        uint32_t point = ' ';
        while (at < s.n && ASCII_IS(s.p[at], ASCII_ALPHA) &&
               n + PASSWORD_CHARACTER <= sizeof(word)) {
            word[n++] = ASCII_LOWER(s.p[at++]);
        }
        const size_t length = at < s.n ? utf8_decode(s.p + at, s.n - at, &point) : 0;
        const bool is_in =
            length > 0 && (password_is_letter(point) ||
                           (point < 0x80 && ASCII_IS(point, ASCII_ALPHA)));
        if (is_in && n + PASSWORD_CHARACTER <= sizeof(word)) {
            n += password_fold(point, word + n);
        } else if (!is_in && n > 0) {
            append_word(f, slice_of(word, n));
            n = 0;
            if (password_ends_phrase(slice_of(f->phrase, f->nphrase))) {
                end = at;
            }
        }
        at += length > 0 ? length : 1;
    }
    return end;
}

static bool is_web_address(struct slice s)
{
    const struct slice scheme = slice_from(s, slice_find(s, ':'));

    return slice_find_slice(scheme, SLICE_LIT("://")) < scheme.n ||
           slice_has_prefix_nocase(s, SLICE_LIT("www."));
}

static void take_token(struct password_finder *f, struct slice s)
{
    const bool is_near = f->words > 0;

    if (f->line_tokens++ == 0) {
        keep_token(&f->first, s);
    }
    f->before_age += f->before_age <= PASSWORD_BEFORE;
    if (is_near) {
        consider(f, s);
    }
    const size_t end = read_runs(f, s);
    if (end > 0) {
        arm(f);
        consider_rest(f, slice_from(s, end));
        f->before.n = 0;
    } else if (password_is_likely(s)) {
        keep_token(&f->before, s);
        f->before_age = 0;
    }
}

/* Text without spaces: a word for password may stand anywhere in it, and a particle behind it. */
static void take_dense(struct password_finder *f, struct slice s)
{
    char text[FOLDED_TOKEN] UNINITIALIZED;
    const struct slice folded = slice_of(text, fold_token(s, text));
    const size_t end = password_in_dense(folded);

    f->line_tokens++;
    f->nphrase = 0;
    if (f->words > 0 && f->is_separated) {
        consider(f, s);
    }
    if (end == 0) {
        f->before_age += f->before_age <= PASSWORD_BEFORE;
        return;
    }
    arm(f);
    f->before.n = 0;
    if (folded.n - end <= DENSE_LINK) {
        separate(f);
    }
}

static void end_token(struct password_finder *f)
{
    const struct slice s = slice_of(f->token, f->ntoken);

    if (f->is_long || is_web_address(s)) {
        f->line_tokens++;
        f->nphrase = 0;
        f->rest_tokens = 0;
        f->words -= f->words > 0;
    } else if (s.n > 0 && f->is_dense) {
        take_dense(f, s);
    } else if (s.n > 0) {
        take_token(f, s);
    }
    f->ntoken = 0;
    f->is_long = false;
}

static void end_line(struct password_finder *f)
{
    if (f->words > 0) {
        /* alone in its line, behind that of the word for password */
        if (f->line_tokens == 1 && f->lines > 0 && f->first.n > 0) {
            add_token(f, slice_of(f->first.bytes, f->first.n), true);
        }
        if (f->rest_tokens > 2) {
            add_candidate(f, slice_of(f->rest, f->nrest), false);
        }
        if (++f->lines > PASSWORD_LINES) {
            f->words = 0;
        }
    }
    f->rest_tokens = 0;
    f->line_tokens = 0;
    f->first.n = 0;
}

static void take_character(struct password_finder *f, struct slice bytes,
                           uint32_t point)
{
    const enum password_kind kind = password_kind(point);

    if (kind == PASSWORD_DROP) {
        return;
    }
    const bool is_dense = kind == PASSWORD_DENSE;
    if (kind == PASSWORD_SPACE || kind == PASSWORD_LINE ||
        (f->ntoken > 0 && is_dense != f->is_dense)) {
        end_token(f);
    }
    if (kind == PASSWORD_LINE) {
        end_line(f);
    }
    if (kind == PASSWORD_SPACE || kind == PASSWORD_LINE) {
        return;
    }
    if (f->ntoken + bytes.n > PASSWORD_TOKEN && is_dense) {
        end_token(f);
    }
    if (f->ntoken + bytes.n > PASSWORD_TOKEN) {
        f->is_long = true;
        return;
    }
    f->is_dense = is_dense;
    memcpy(f->token + f->ntoken, bytes.p, bytes.n);
    f->ntoken += bytes.n;
}

/* Appends the ASCII text at the head of s that belongs to one token. Returns the bytes. */
static size_t take_plain(struct password_finder *f, struct slice s)
{
    const size_t most = f->is_dense && f->ntoken > 0 ? 0 : PASSWORD_TOKEN - f->ntoken;
    size_t n = 0;

    while (n < most && n < s.n && s.p[n] > ' ' && s.p[n] < 0x7f) {
        f->token[f->ntoken + n] = s.p[n];
        n++;
    }
    if (n > 0) {
        f->ntoken += n;
        f->is_dense = false;
    }
    return n;
}

void password_finder_init(struct password_finder *f)
{
    memset(f, 0, sizeof(*f));
}

/* Bytes of the character that begins with this one. */
static size_t length_by_first(unsigned char c)
{
    return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

/* Whether s is the beginning of a character, cut by the end of a piece. */
static bool is_cut(struct slice s)
{
    if (length_by_first((unsigned char)s.p[0]) <= s.n) {
        return false;
    }
    for (size_t i = 1; i < s.n; i++) {
        if (((unsigned char)s.p[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

/* The character that the last piece ended in. */
static void take_cut_character(struct password_finder *f, struct slice *piece)
{
    const size_t want = length_by_first((unsigned char)f->part[0]);
    uint32_t point = ' ';

    while (f->npart < want && piece->n > 0 &&
           ((unsigned char)piece->p[0] & 0xc0) == 0x80) {
        f->part[f->npart++] = piece->p[0];
        *piece = slice_from(*piece, 1);
    }
    if (f->npart < want && piece->n == 0) {
        return;
    }
    (void)utf8_decode(f->part, f->npart, &point);
    take_character(f, slice_of(f->part, f->npart), point);
    f->npart = 0;
}

void password_finder_text(struct password_finder *f, struct slice piece)
{
    if (f->npart > 0) {
        take_cut_character(f, &piece);
    }
    while (piece.n > 0) {
        uint32_t point = ' ';
        size_t n = take_plain(f, piece);
        if (n > 0) {
            piece = slice_from(piece, n);
            continue;
        }
        n = utf8_decode(piece.p, piece.n, &point);
        if (n == 0 && is_cut(piece)) {
            memcpy(f->part, piece.p, piece.n);
            f->npart = piece.n;
            return;
        }
        n = n > 0 ? n : 1;
        take_character(f, slice_head(piece, n), point);
        piece = slice_from(piece, n);
    }
}

void password_finder_break(struct password_finder *f)
{
    f->npart = 0;
    end_token(f);
    end_line(f);
    f->words = 0;
    f->nphrase = 0;
    f->before.n = 0;
}

size_t password_finder_end(struct password_finder *f,
                           struct slice ret[PASSWORD_CANDIDATES])
{
    size_t n = 0;

    password_finder_break(f);
    for (int is_likely = 1; is_likely >= 0; is_likely--) {
        for (size_t i = 0; i < f->ncandidates; i++) {
            if (f->candidate[i].is_likely == is_likely) {
                ret[n++] = slice_of(f->candidate[i].bytes, f->candidate[i].n);
            }
        }
    }
    return n;
}
