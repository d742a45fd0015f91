/* record_write - a record as bytes. */
#include <math.h>

#include "core/base/checksum.h"
#include "core/base/le.h"
#include "core/verdict/journal/record_internal.h"

void record_init(struct record *r, enum record_kind kind)
{
    memset(r, 0, offsetof(struct record, trait));
    r->kind = kind;
    r->nsymbols = 0;
    r->nhits = 0;
    r->ntypes = 0;
    r->ncounts = 0;
    r->nhashes = 0;
    r->nitems = 0;
    r->from = SLICE_NONE;
    r->header_from = SLICE_NONE;
    r->subject = SLICE_NONE;
    r->ntexts_rcpt = 0;
    r->has_texts = true;
    r->is_erased = false;
}

/* ---- numbers and names ---- */

static void put_varint(struct buf *b, uint64_t v)
{
    char bytes[VARINT_MAX];
    size_t n = 0;

    if (v < VARINT_MORE && b->size - b->n > 1 &&
        !b->failed) { /* most, in a reserved buffer */
        b->p[b->n++] = (char)v;
        b->p[b->n] = '\0';
        return;
    }
    while (v >= VARINT_MORE) {
        bytes[n++] = (char)(v | VARINT_MORE);
        v >>= VARINT_BITS;
    }
    bytes[n++] = (char)v;
    buf_add(b, slice_of(bytes, n));
}

static void put_name(struct buf *b, struct slice s)
{
    s = slice_head(s, RECORD_NAME_MAX);
    put_varint(b, s.n);
    buf_add(b, s);
}

/* Most scores have few decimals: then a thousandth is one or two bytes. */
static void put_score(struct buf *b, double score)
{
    double scaled = score * SCORE_UNIT;
    double whole = rint(scaled);

    if (fabs(scaled) < SCORE_WHOLE_MAX && whole / SCORE_UNIT == score) {
        int64_t v = (int64_t)whole;
        put_varint(b, ((uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0)) << 1);
    } else if (score == HUGE_VAL) {
        put_varint(b, SCORE_OFF);
    } else {
        uint64_t bits = 0;
        memcpy(&bits, &score, sizeof(bits));
        put_varint(b, SCORE_BITS);
        buf_add_u64(b, bits);
    }
}

/* ---- sections of a message ---- */

static void print_message(const struct record *r, struct buf *b)
{
    put_varint(b, r->time_us);
    put_varint(b, r->case_id);
    put_varint(b, (r->is_outgoing ? FLAG_OUTGOING : 0U) |
                      (r->is_authenticated ? FLAG_AUTHENTICATED : 0U) |
                      (r->has_addr ? FLAG_ADDR : 0U) |
                      (r->is_of_users ? FLAG_USERS : 0U));
    if (r->has_addr) {
        buf_add(b, slice_of(r->addr, sizeof(r->addr)));
    }
    put_name(b, r->queue_id);
    buf_add_u64(b, r->message_id);
    put_varint(b, r->bytes);
    put_varint(b, r->us);
    put_varint(b, r->config_id);
    put_varint(b, r->nrcpt);
    put_varint(b, r->identity);
    put_varint(b, r->limits);
    put_name(b, r->unjudged);
}

static void print_verdict(const struct record *r, struct buf *b)
{
    put_varint(b, r->wanted);
    put_varint(b, r->done);
    put_varint(b, r->bulk_alone);
    put_varint(b, r->fault);
    put_score(b, r->score);
    put_score(b, r->sure);
    put_score(b, r->firm);
    for (size_t i = 0; i < RECORD_THRESHOLDS; i++) {
        put_score(b, r->threshold[i]);
    }
    put_name(b, r->allow);
}

static void print_symbols(const struct record *r, struct buf *b)
{
    put_varint(b, r->nsymbols);
    for (size_t i = 0; i < r->nsymbols; i++) {
        put_name(b, r->symbol[i].name);
        put_score(b, r->symbol[i].score);
        put_varint(b, r->symbol[i].part);
    }
}

static void print_hits(const struct record *r, struct buf *b)
{
    put_varint(b, r->nhits);
    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        put_name(b, h->list);
        put_name(b, h->origin);
        put_name(b, h->category);
        put_score(b, h->weight);
        put_score(b, h->factor);
        put_varint(b, h->type);
        put_varint(b, h->answer);
        put_varint(b, h->silence);
    }
}

static void print_traits(const struct record *r, struct buf *b)
{
    put_varint(b, r->ntraits);
    for (size_t i = 0; i < r->ntraits; i++) {
        put_varint(b, r->trait[i]);
    }
}

static void print_counts(const struct record *r, struct buf *b)
{
    put_varint(b, r->ntypes);
    for (size_t i = 0; i < r->ntypes; i++) {
        put_varint(b, r->type[i].type);
        put_varint(b, r->type[i].features);
        put_varint(b, r->type[i].kept);
    }
    put_varint(b, r->ncounts);
    for (size_t i = 0; i < r->ncounts; i++) {
        const struct record_count *c = &r->count[i];
        put_varint(b, (uint64_t)c->type << 1 | c->has_distinct);
        buf_add_u32(b, c->digest);
        for (size_t k = 0; k < RECORD_WINDOWS; k++) {
            put_varint(b, c->w[k]);
        }
        for (size_t k = 0; c->has_distinct && k < RECORD_DISTINCTS; k++) {
            put_varint(b, c->distinct[k]);
        }
    }
}

static void print_hashes(const struct record *r, struct buf *b)
{
    uint64_t left = 0;
    unsigned nleft = 0;

    put_varint(b, r->nhashes);
    for (size_t i = 0; i < r->nhashes; i++) {
        left |= (uint64_t)(r->hash[i] & HASH_MASK) << nleft;
        for (nleft += RECORD_HASH_BITS; nleft >= BYTE_BITS; nleft -= BYTE_BITS) {
            buf_add_u8(b, (uint8_t)left);
            left >>= BYTE_BITS;
        }
    }
    if (nleft > 0) {
        buf_add_u8(b, (uint8_t)left);
    }
}

static void print_items(const struct record *r, struct buf *b)
{
    put_varint(b, r->nitems);
    for (size_t i = 0; i < r->nitems; i++) {
        put_varint(b, r->item[i].type);
        buf_add_u8(b, r->item[i].proof);
        buf_add_u64(b, r->item[i].digest);
    }
}

/* ---- the frame ---- */

/* most: bytes of the frame up to here. A section that has no room is left out. */
static bool add_section(const struct record *r, struct buf *b, size_t most,
                        enum record_tag tag, record_section_fn *print)
{
    size_t begin = b->n;

    buf_add_u8(b, (uint8_t)tag);
    buf_add_u16(b, 0);
    print(r, b);
    if (buf_failed(b)) {
        return false;
    }
    if (b->n > most) {
        b->n = begin;
        return false;
    }
    le_put(b->p + begin + 1, b->n - begin - SECTION_HEAD, 2);
    return true;
}

static void put_text(struct buf *b, size_t from, struct slice s)
{
    s = slice_head(s, RECORD_TEXT_MAX);
    if (b->n - from + s.n + 2 > RECORD_TEXTS_MAX) {
        s = SLICE_NONE;
    }
    put_varint(b, s.n);
    buf_add(b, s);
}

/* The order is that of record_parse: addresses first, because other texts are cut before them. */
static void add_texts(const struct record *r, struct buf *b)
{
    size_t from = b->n;

    put_varint(b, r->ntexts_rcpt);
    put_text(b, from, r->from);
    put_text(b, from, r->header_from);
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        put_text(b, from, r->rcpt[i]);
    }
    put_text(b, from, r->subject);
    for (size_t i = 0; i < r->nsymbols; i++) {
        put_text(b, from, r->symbol[i].detail);
    }
    for (size_t i = 0; i < r->nhits; i++) {
        put_text(b, from, r->hit[i].value);
    }
}

static void add_evidence(const struct record *r, struct buf *b, size_t most)
{
    bool is_whole = !r->is_cut;

    is_whole = add_section(r, b, most, TAG_MESSAGE, print_message) &&
               add_section(r, b, most, TAG_VERDICT, print_verdict) &&
               add_section(r, b, most, TAG_SYMBOLS, print_symbols) &&
               add_section(r, b, most, TAG_HITS, print_hits) && is_whole;
    is_whole = add_section(r, b, most, TAG_TRAITS, print_traits) && is_whole;
    is_whole = add_section(r, b, most, TAG_COUNTS, print_counts) && is_whole;
    is_whole = add_section(r, b, most, TAG_ITEMS, print_items) && is_whole;
    is_whole = add_section(r, b, most, TAG_HASHES, print_hashes) && is_whole;
    if (!is_whole) {
        buf_add_u8(b, TAG_CUT);
        buf_add_u16(b, 0);
    }
}

/* Takes memory once: a record is written in many small steps. */
static void reserve(struct buf *b)
{
    buf_init(b, RECORD_ROOM);
    if (buf_extend(b, RECORD_MAX) != NULL) {
        b->n = 0;
    }
}

void record_print(const struct record *r, struct buf *ret)
{
    enum { ENDS = RECORD_SUM + RECORD_TEXTS_SUM + SECTION_HEAD };
    struct buf texts;

    reserve(ret);
    reserve(&texts);
    add_texts(r, &texts);
    buf_add_u32(ret, RECORD_MAGIC);
    buf_add_u16(ret, 0);
    buf_add_u16(ret, (uint16_t)texts.n);
    buf_add_u64(ret, 0);
    buf_add_u32(ret, r->kind);
    add_evidence(r, ret, RECORD_MAX - ENDS - texts.n);
    if (!buf_failed(ret) && !buf_failed(&texts)) {
        le_put(ret->p + OFFSET_N, ret->n - RECORD_HEAD, 2);
        buf_add_u64(ret, 0); /* record_number sets it */
        buf_add(ret, buf_slice(&texts));
        buf_add_u32(ret, checksum32(buf_slice(&texts)));
    }
    ret->failed = ret->failed || buf_failed(&texts);
    buf_fini(&texts);
}

void record_number(char *frame, uint64_t number)
{
    size_t n = RECORD_HEAD + (size_t)le_get(frame + OFFSET_N, 2);

    le_put(frame + OFFSET_NUMBER, number, 8);
    le_put(frame + n, checksum64(slice_of(frame, n)), RECORD_SUM);
}
