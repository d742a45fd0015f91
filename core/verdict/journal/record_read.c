/* record_read - a record from bytes that anybody may have damaged. */
#include <math.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/le.h"
#include "core/verdict/journal/record_internal.h"

/* ---- frames ---- */

enum record_state record_look(struct slice bytes, size_t *retn)
{
    if (bytes.n < RECORD_HEAD) {
        uint32_t magic = htole32(RECORD_MAGIC);
        size_t n = bytes.n < sizeof(magic) ? bytes.n : sizeof(magic);
        return memcmp(bytes.p, &magic, n) == 0 ? RECORD_CUT_OFF : RECORD_DAMAGED;
    }
    size_t n = RECORD_HEAD + (size_t)le_get(bytes.p + OFFSET_N, 2);
    size_t all =
        n + RECORD_SUM + (size_t)le_get(bytes.p + OFFSET_NTEXTS, 2) + RECORD_TEXTS_SUM;
    if (le_get(bytes.p, 4) != RECORD_MAGIC || all > RECORD_MAX) {
        return RECORD_DAMAGED;
    }
    if (bytes.n < all) {
        return RECORD_CUT_OFF;
    }
    *retn = all;
    return le_get(bytes.p + n, RECORD_SUM) == checksum64(slice_head(bytes, n))
               ? RECORD_WHOLE
               : RECORD_DAMAGED;
}

uint64_t record_number_of(const char *frame)
{
    return le_get(frame + OFFSET_NUMBER, 8);
}

/* The texts of a whole frame; *retsum: the sum that stands behind them. */
static struct slice texts_of(struct slice frame, uint32_t *retsum)
{
    size_t at = RECORD_HEAD + (size_t)le_get(frame.p + OFFSET_N, 2) + RECORD_SUM;
    size_t n = (size_t)le_get(frame.p + OFFSET_NTEXTS, 2);

    *retsum = (uint32_t)le_get(frame.p + at + n, RECORD_TEXTS_SUM);
    return slice_of(frame.p + at, n);
}

/* ---- numbers and names ---- */

static uint64_t get_varint(struct cursor *c)
{
    uint64_t v = 0;

    if (c->rest.n > 0 && !c->failed && (*c->rest.p & VARINT_MORE) == 0) { /* most */
        v = (uint8_t)*c->rest.p;
        c->rest = slice_of(c->rest.p + 1, c->rest.n - 1);
        return v;
    }
    for (unsigned shift = 0; shift < 64; shift += VARINT_BITS) {
        uint8_t b = cursor_u8(c);
        v |= (uint64_t)(b & (VARINT_MORE - 1)) << shift;
        if ((b & VARINT_MORE) == 0) {
            return v;
        }
    }
    c->failed = true;
    return 0;
}

/* A number of elements, at most `most`. */
static size_t get_n(struct cursor *c, size_t most)
{
    uint64_t n = get_varint(c);

    if (n > most) {
        c->failed = true;
        return 0;
    }
    return (size_t)n;
}

static struct slice get_bytes(struct cursor *c, size_t most)
{
    return cursor_bytes(c, get_n(c, most));
}

static double get_score(struct cursor *c)
{
    uint64_t v = get_varint(c);
    double score = 0;

    if (v == SCORE_OFF) {
        return HUGE_VAL;
    }
    if ((v & 1) != 0) {
        uint64_t bits = cursor_u64(c);
        memcpy(&score, &bits, sizeof(score));
        return score == score ? score : 0; /* no NaN */
    }
    v >>= 1;
    int64_t whole = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    return (double)whole / SCORE_UNIT;
}

/* ---- sections ---- */

static void parse_message(struct cursor *c, struct record *r)
{
    r->time_us = get_varint(c);
    r->case_id = get_varint(c);
    uint64_t flags = get_varint(c);
    r->is_outgoing = (flags & FLAG_OUTGOING) != 0;
    r->is_authenticated = (flags & FLAG_AUTHENTICATED) != 0;
    r->is_of_users = (flags & FLAG_USERS) != 0;
    r->has_addr = (flags & FLAG_ADDR) != 0;
    if (r->has_addr) {
        cursor_copy(c, r->addr, sizeof(r->addr));
    }
    r->queue_id = get_bytes(c, RECORD_NAME_MAX);
    r->message_id = cursor_u64(c);
    r->bytes = get_varint(c);
    r->us = get_varint(c);
    r->config_id = (uint32_t)get_varint(c);
    r->nrcpt = (uint32_t)get_varint(c);
    r->identity = get_varint(c);
    r->limits = get_varint(c);
    if (c->rest.n > 0) { /* an older version wrote none */
        r->unjudged = get_bytes(c, RECORD_NAME_MAX);
    }
}

static void parse_verdict(struct cursor *c, struct record *r)
{
    r->wanted = (uint8_t)get_n(c, RECORD_THRESHOLDS - 1);
    r->done = (uint8_t)get_n(c, RECORD_THRESHOLDS - 1);
    r->bulk_alone = (uint8_t)get_n(c, RECORD_THRESHOLDS - 1);
    r->fault = (uint32_t)get_varint(c);
    r->score = get_score(c);
    r->sure = get_score(c);
    r->firm = get_score(c);
    for (size_t i = 0; i < RECORD_THRESHOLDS; i++) {
        r->threshold[i] = get_score(c);
    }
    r->allow = get_bytes(c, RECORD_NAME_MAX);
}

static void parse_symbols(struct cursor *c, struct record *r)
{
    r->nsymbols = get_n(c, RECORD_SYMBOLS);
    for (size_t i = 0; i < r->nsymbols; i++) {
        struct record_symbol *s = &r->symbol[i];
        s->name = get_bytes(c, RECORD_NAME_MAX);
        s->score = get_score(c);
        s->part = (uint8_t)get_varint(c);
        s->detail = SLICE_NONE;
    }
}

static void parse_hits(struct cursor *c, struct record *r)
{
    r->nhits = get_n(c, RECORD_HITS);
    for (size_t i = 0; i < r->nhits; i++) {
        struct record_hit *h = &r->hit[i];
        h->list = get_bytes(c, RECORD_NAME_MAX);
        h->origin = get_bytes(c, RECORD_NAME_MAX);
        h->category = get_bytes(c, RECORD_NAME_MAX);
        h->weight = get_score(c);
        h->factor = get_score(c);
        h->type = (uint16_t)get_varint(c);
        h->answer = (uint8_t)get_varint(c);
        h->silence = (uint8_t)get_varint(c);
        h->value = SLICE_NONE;
    }
}

static void parse_traits(struct cursor *c, struct record *r)
{
    r->ntraits = get_n(c, RECORD_TRAITS);
    for (size_t i = 0; i < r->ntraits; i++) {
        r->trait[i] = (uint16_t)get_varint(c);
    }
}

static void parse_counts(struct cursor *c, struct record *r)
{
    r->ntypes = get_n(c, RECORD_TYPES);
    for (size_t i = 0; i < r->ntypes; i++) {
        r->type[i].type = (uint16_t)get_varint(c);
        r->type[i].features = (uint32_t)get_varint(c);
        r->type[i].kept = (uint32_t)get_varint(c);
    }
    r->ncounts = get_n(c, RECORD_COUNTS);
    for (size_t i = 0; i < r->ncounts; i++) {
        struct record_count *k = &r->count[i];
        uint64_t type = get_varint(c);
        k->type = (uint16_t)(type >> 1);
        k->has_distinct = (type & 1) != 0;
        k->digest = cursor_u32(c);
        for (size_t w = 0; w < RECORD_WINDOWS; w++) {
            k->w[w] = get_varint(c);
        }
        for (size_t d = 0; d < RECORD_DISTINCTS; d++) {
            k->distinct[d] = k->has_distinct ? get_varint(c) : 0;
        }
    }
}

static void parse_hashes(struct cursor *c, struct record *r)
{
    uint64_t left = 0;
    unsigned nleft = 0;
    size_t n = get_n(c, RECORD_HASHES);
    struct slice bytes =
        cursor_bytes(c, (n * RECORD_HASH_BITS + BYTE_BITS - 1) / BYTE_BITS);
    const char *p = bytes.p;

    r->nhashes = cursor_ok(c) ? n : 0;
    for (size_t i = 0; i < r->nhashes; i++) {
        for (; nleft < RECORD_HASH_BITS; nleft += BYTE_BITS) {
            left |= (uint64_t)(uint8_t)*p++ << nleft;
        }
        r->hash[i] = (uint32_t)left & HASH_MASK;
        left >>= RECORD_HASH_BITS;
        nleft -= RECORD_HASH_BITS;
    }
}

static void parse_items(struct cursor *c, struct record *r)
{
    r->nitems = get_n(c, RECORD_ITEMS);
    for (size_t i = 0; i < r->nitems; i++) {
        r->item[i].type = (uint16_t)get_varint(c);
        r->item[i].proof = cursor_u8(c) & PROOF_MASK;
        r->item[i].digest = cursor_u64(c);
    }
    r->nitems = cursor_ok(c) ? r->nitems : 0;
}

static void parse_section(uint8_t tag, struct slice bytes, struct record *r,
                          bool *retok)
{
    typedef void parse_fn(struct cursor * c, struct record * r);
    static parse_fn *const parsers[] = {
        [TAG_MESSAGE] = parse_message, [TAG_VERDICT] = parse_verdict,
        [TAG_SYMBOLS] = parse_symbols, [TAG_HITS] = parse_hits,
        [TAG_TRAITS] = parse_traits,   [TAG_COUNTS] = parse_counts,
        [TAG_HASHES] = parse_hashes,   [TAG_ITEMS] = parse_items};
    struct cursor c = cursor_of(bytes);

    r->is_cut = r->is_cut || tag == TAG_CUT;
    if (tag < LENGTH(parsers) && parsers[tag] != NULL) {
        parsers[tag](&c, r);
        *retok = *retok && cursor_ok(&c);
    }
}

/* ---- texts ---- */

static struct slice get_text(struct cursor *c, struct record *r)
{
    struct slice s = get_bytes(c, RECORD_TEXT_MAX);

    if (s.n > 0 && *s.p == '\0') {
        r->is_erased = true;
        return SLICE_NONE;
    }
    return s;
}

static void parse_texts(struct cursor *c, struct record *r)
{
    r->ntexts_rcpt = get_n(c, RECORD_RCPTS);
    r->from = get_text(c, r);
    r->header_from = get_text(c, r);
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        r->rcpt[i] = get_text(c, r);
    }
    r->subject = get_text(c, r);
    for (size_t i = 0; i < r->nsymbols; i++) {
        r->symbol[i].detail = get_text(c, r);
    }
    for (size_t i = 0; i < r->nhits; i++) {
        r->hit[i].value = get_text(c, r);
    }
}

static void drop_texts(struct record *r)
{
    r->has_texts = false;
    r->ntexts_rcpt = 0;
    r->from = r->header_from = r->subject = SLICE_NONE;
    for (size_t i = 0; i < r->nsymbols; i++) {
        r->symbol[i].detail = SLICE_NONE;
    }
    for (size_t i = 0; i < r->nhits; i++) {
        r->hit[i].value = SLICE_NONE;
    }
}

bool record_parse(struct slice frame, struct record *ret)
{
    size_t n = (size_t)le_get(frame.p + OFFSET_N, 2);
    struct cursor c = cursor_of(slice_of(frame.p + RECORD_HEAD, n));
    uint32_t sum = 0;
    bool ok = true;

    record_init(ret, (enum record_kind)le_get(frame.p + OFFSET_KIND, 4));
    ret->number = record_number_of(frame.p);
    while (ok && c.rest.n > 0) {
        uint8_t tag = cursor_u8(&c);
        struct slice section = cursor_bytes(&c, cursor_u16(&c));
        ok = cursor_ok(&c);
        if (ok) {
            parse_section(tag, section, ret, &ok);
        }
    }
    struct slice texts = texts_of(frame, &sum);
    struct cursor t = cursor_of(texts);
    if (ok && sum == checksum32(texts)) {
        parse_texts(&t, ret);
    }
    if (sum != checksum32(texts) || !cursor_ok(&t)) {
        drop_texts(ret);
    }
    return ok;
}

/* ---- forgetting ---- */

static bool is_of_address(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80 || (c != '\0' && strchr("!#$%&'*+-/?^_`{|}~.@", c));
}

/* "joe@a.example" stands in "from=joe@a.example (+2 more)" and not in "ajoe@a.example". */
static bool names_person(struct slice text, struct slice person)
{
    for (size_t i = 0; person.n > 0 && i + person.n <= text.n; i++) {
        struct slice after = slice_from(text, i + person.n);
        if (slice_eq_nocase(slice_head(slice_from(text, i), person.n), person) &&
            (i == 0 || text.p[i - 1] == '=' || !is_of_address(text.p[i - 1])) &&
            (after.n == 0 || !is_of_address(*after.p) || *after.p == '/')) {
            return true;
        }
    }
    return false;
}

unsigned record_erase(char *frame, size_t n, struct slice person, struct slice *retpart)
{
    uint32_t sum = 0;
    unsigned erased = 0;
    struct slice texts = texts_of(slice_of(frame, n), &sum);
    struct cursor c = cursor_of(texts);

    if (le_get(frame + OFFSET_KIND, 4) == RECORD_MESSAGE) {
        (void)get_varint(&c); /* the number of recipients */
    }
    while (cursor_ok(&c) && c.rest.n > 0) {
        struct slice s = get_bytes(&c, RECORD_TEXT_MAX);
        if (cursor_ok(&c) && names_person(s, person)) {
            memset(frame + (s.p - frame), 0, s.n);
            erased++;
        }
    }
    if (erased > 0) {
        le_put(frame + (texts.p - frame) + texts.n, checksum32(texts),
               RECORD_TEXTS_SUM);
    }
    *retpart = slice_of(texts.p, texts.n + RECORD_TEXTS_SUM);
    return erased;
}
