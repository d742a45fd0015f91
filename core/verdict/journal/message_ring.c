#include "core/verdict/journal/message_ring.h"

#include "core/base/case_id.h"
#include "core/base/le.h"

enum {
    SLOTS = 2 * MESSAGE_RING_NAMES, /* of the table of names; a power of two */
    SYMBOL_BYTES = 6,               /* name u16, score i32 */
    LENGTHS = 6,                    /* unjudged, id, from, header_from, subject, and: */
    ADDR_BYTES = 16,
    ADDR4_BYTES = 4,
    ADDR4_AT = ADDR_BYTES - ADDR4_BYTES,
    TEXT_MOST = UINT8_MAX,
    /* the most that a packed row takes */
    ROW_MOST = 512 + LENGTHS * TEXT_MOST + RECORD_RCPTS * (TEXT_MOST + 1) +
               RECORD_SYMBOLS * SYMBOL_BYTES
};
/* The parts of a row before its texts, at fixed places. */
enum {
    AT_NUMBER = 0,
    AT_TIME = 8,
    AT_CASE = 16,
    AT_MESSAGE_ID = 24,
    AT_FILE = 32,
    AT_SIZE = 40,
    AT_SCORE = 48,
    AT_NRCPT = 52,
    AT_FLAGS = 56,
    AT_ACTION = 57,
    AT_NSYMBOLS = 58,
    AT_NTO = 59,
    AT_LENGTHS = 60,
    AT_NTEXTS = 65, /* bytes of all texts and lengths behind */
    AT_TEXTS = 67
};
enum { HAS_ADDR = 1, IS_ADDR4 = 2, IS_OUTGOING = 4, IS_SAME_FROM = 8 };
#define SCORE_UNIT 1000.0 /* of the journal */

_Static_assert((int)RECORD_TEXT_MAX <= (int)TEXT_MOST, "a length is one byte");
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "a mask finds the slot");

struct names {
    uint16_t slot[SLOTS]; /* number + 1 of a name; 0: free */
    struct slice name[MESSAGE_RING_NAMES];
    size_t n;
    size_t used;
    char text[MESSAGE_RING_NAMES_BYTES];
};

struct message_ring {
    size_t rows; /* at most */
    size_t room; /* bytes */
    char *bytes;
    uint32_t *place; /* of row (first + i) % rows, in bytes */
    size_t first;
    size_t count;
    size_t end; /* where the next row begins, unless it must begin at 0 */
    struct names names;
};

/* ---- names of symbols ---- */

static uint32_t hash_symbol(struct slice s)
{
    uint32_t h = 2166136261U; /* FNV-1a: names are those of the configuration */

    for (size_t i = 0; i < s.n; i++) {
        h = (h ^ (unsigned char)s.p[i]) * 16777619U;
    }
    return h;
}

/* The number of a name. False: there is no room for another. */
static bool find_name(struct names *n, struct slice name, uint16_t *ret)
{
    size_t at = hash_symbol(name) & (SLOTS - 1);

    while (n->slot[at] != 0) {
        *ret = (uint16_t)(n->slot[at] - 1);
        if (slice_eq(n->name[*ret], name)) {
            return true;
        }
        at = (at + 1) & (SLOTS - 1);
    }
    if (n->n == MESSAGE_RING_NAMES || name.n > sizeof(n->text) - n->used) {
        return false;
    }
    memcpy(n->text + n->used, name.p, name.n);
    n->name[n->n] = slice_of(n->text + n->used, name.n);
    n->used += name.n;
    *ret = (uint16_t)n->n++;
    n->slot[at] = (uint16_t)n->n;
    return true;
}

/* ---- packing ---- */

static int32_t units_of(double score)
{
    const double units = score * SCORE_UNIT;

    return !(units > INT32_MIN)   ? INT32_MIN
           : !(units < INT32_MAX) ? INT32_MAX
                                  : (int32_t)(units < 0 ? units - 0.5 : units + 0.5);
}

static double score_of(const char *p)
{
    return (int32_t)(uint32_t)le_get(p, 4) / SCORE_UNIT;
}

static bool is_addr4(const uint8_t addr[ADDR_BYTES])
{
    static const uint8_t mapped[ADDR4_AT] = {[10] = 0xff, [11] = 0xff};

    return memcmp(addr, mapped, sizeof(mapped)) == 0;
}

static unsigned flags_of(const struct message_row *row)
{
    return (row->has_addr ? HAS_ADDR : 0U) |
           (row->has_addr && is_addr4(row->addr) ? IS_ADDR4 : 0U) |
           (row->is_outgoing ? IS_OUTGOING : 0U) |
           (slice_eq(row->from, row->header_from) ? IS_SAME_FROM : 0U);
}

static char *put_text(char *to, struct slice s)
{
    if (s.n > 0) {
        memcpy(to, s.p, s.n);
    }
    return to + s.n;
}

static char *put_addr(char *to, const struct message_row *row, unsigned flags)
{
    const struct slice addr = slice_of(row->addr, ADDR_BYTES);

    return put_text(to, (flags & IS_ADDR4) != 0   ? slice_from(addr, ADDR4_AT)
                        : (flags & HAS_ADDR) != 0 ? addr
                                                  : SLICE_NONE);
}

/* *retn: how many there are. */
static char *put_symbols(struct names *names, char *to, const struct message_row *row,
                         size_t *retn)
{
    uint16_t name = 0;

    *retn = 0;
    for (size_t i = 0; i < row->nsymbols && i < RECORD_SYMBOLS; i++) {
        if (find_name(names, row->symbol[i].name, &name)) {
            le_put(to, name, 2);
            le_put(to + 2, (uint32_t)units_of(row->symbol[i].score), 4);
            to += SYMBOL_BYTES;
            ++*retn;
        }
    }
    return to;
}

static char *put_texts(char *row_bytes, const struct message_row *row, unsigned flags)
{
    const struct slice texts[LENGTHS - 1] = {
        row->unjudged, row->queue_id, row->from,
        (flags & IS_SAME_FROM) != 0 ? SLICE_NONE : row->header_from, row->subject};
    char *to = row_bytes + AT_TEXTS;

    for (size_t i = 0; i < LENGTH(texts); i++) {
        const struct slice text = slice_head(texts[i], TEXT_MOST);
        le_put(row_bytes + AT_LENGTHS + i, text.n, 1);
        to = put_text(to, text);
    }
    return to;
}

static char *put_recipients(char *to, const struct message_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct slice text = slice_head(row->to[i], TEXT_MOST);
        le_put(to, text.n, 1);
        to = put_text(to + 1, text);
    }
    return to;
}

/* Returns the bytes of the row. */
static size_t pack(struct names *names, const struct record *record, uint64_t file,
                   char ret[ROW_MOST])
{
    struct message_row row;
    size_t nsymbols = 0;

    message_row_of(record, &row);
    const size_t nto = row.nto < RECORD_RCPTS ? row.nto : RECORD_RCPTS;
    const unsigned flags = flags_of(&row);
    le_put(ret + AT_NUMBER, record->number, 8);
    le_put(ret + AT_TIME, row.time_us, 8);
    le_put(ret + AT_CASE, row.case_id, 8);
    le_put(ret + AT_MESSAGE_ID, row.message_id, 8);
    le_put(ret + AT_FILE, file, 8);
    le_put(ret + AT_SIZE, row.size, 8);
    le_put(ret + AT_SCORE, (uint32_t)units_of(row.score), 4);
    le_put(ret + AT_NRCPT, row.nrcpt, 4);
    le_put(ret + AT_FLAGS, flags, 1);
    le_put(ret + AT_ACTION, row.action, 1);
    le_put(ret + AT_NTO, nto, 1);
    char *to = put_texts(ret, &row, flags);
    to = put_recipients(to, &row, nto);
    le_put(ret + AT_NTEXTS, (size_t)(to - ret) - AT_TEXTS, 2);
    to = put_addr(to, &row, flags);
    to = put_symbols(names, to, &row, &nsymbols);
    le_put(ret + AT_NSYMBOLS, nsymbols, 1);
    return (size_t)(to - ret);
}

/* ---- the ring ---- */

struct message_ring *message_ring_new(size_t rows)
{
    struct message_ring *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        return NULL;
    }
    r->rows = rows < MESSAGE_RING_ROWS_MAX ? rows : MESSAGE_RING_ROWS_MAX;
    r->room = r->rows * MESSAGE_RING_ROW + ROW_MOST;
    r->bytes = calloc(1, r->room);
    r->place = calloc(r->rows + 1, sizeof(*r->place));
    if (r->bytes == NULL || r->place == NULL) {
        message_ring_free(&r);
    }
    return r;
}

void message_ring_clear(struct message_ring *r)
{
    explicit_bzero(r->bytes, r->room);
    memset(&r->names, 0, sizeof(r->names));
    r->first = 0;
    r->count = 0;
    r->end = 0;
}

void message_ring_free(struct message_ring **r)
{
    if (*r != NULL) {
        if ((*r)->bytes != NULL) {
            explicit_bzero((*r)->bytes, (*r)->room);
        }
        free((*r)->bytes);
        free((*r)->place);
        free(*r);
        *r = NULL;
    }
}

static size_t row_place(const struct message_ring *r, size_t at)
{
    return r->place[(r->first + at) % r->rows];
}

static const char *row_at(const struct message_ring *r, size_t at)
{
    return r->bytes + row_place(r, at);
}

static void drop_oldest(struct message_ring *r)
{
    r->first = (r->first + 1) % r->rows;
    r->count--;
}

/* Whether n bytes at `from` would overwrite the oldest row. Rows lie in rising places from the
 * oldest on, and go on at 0 once. */
static bool is_in_the_way(const struct message_ring *r, size_t from, size_t n)
{
    return r->count > 0 && row_place(r, 0) >= from && row_place(r, 0) < from + n;
}

void message_ring_add(struct message_ring *r, const struct record *record,
                      uint64_t file)
{
    char row[ROW_MOST];

    if (r->rows == 0 || record->number <= message_ring_newest(r)) {
        return;
    }
    const size_t n = pack(&r->names, record, file, row);
    if (r->count == r->rows) {
        drop_oldest(r);
    }
    if (n > r->room - r->end) {
        while (r->count > 0 && row_place(r, 0) >= r->end) {
            drop_oldest(r); /* what lies behind, before all rows from 0 on */
        }
        r->end = 0;
    }
    while (is_in_the_way(r, r->end, n)) {
        drop_oldest(r);
    }
    memcpy(r->bytes + r->end, row, n);
    r->place[(r->first + r->count) % r->rows] = (uint32_t)r->end;
    r->count++;
    r->end += n;
}

void message_ring_drop_before(struct message_ring *r, uint64_t file)
{
    while (r->count > 0 && le_get(row_at(r, 0) + AT_FILE, 8) < file) {
        drop_oldest(r);
    }
}

/* ---- reading ---- */

size_t message_ring_count(const struct message_ring *r)
{
    return r->count;
}

uint64_t message_ring_number(const struct message_ring *r, size_t at)
{
    return le_get(row_at(r, at) + AT_NUMBER, 8);
}

uint64_t message_ring_newest(const struct message_ring *r)
{
    return r->count > 0 ? message_ring_number(r, r->count - 1) : 0;
}

size_t message_ring_below(const struct message_ring *r, uint64_t number)
{
    size_t low = 0;
    size_t high = r->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (message_ring_number(r, middle) < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint64_t message_ring_first_file(const struct message_ring *r)
{
    return r->count > 0 ? le_get(row_at(r, 0) + AT_FILE, 8) : UINT64_MAX;
}

size_t message_ring_bytes(const struct message_ring *r)
{
    return sizeof(*r) + r->room + (r->rows + 1) * sizeof(*r->place);
}

static const char *get_text(const char *from, size_t n, struct slice *ret)
{
    *ret = slice_of(from, n);
    return from + n;
}

static const char *get_addr(const char *from, unsigned flags, struct message_row *ret)
{
    ret->has_addr = (flags & HAS_ADDR) != 0;
    if ((flags & IS_ADDR4) != 0) {
        memset(ret->addr, 0, ADDR4_AT - 2UL);
        memset(ret->addr + ADDR4_AT - 2, 0xff, 2);
        memcpy(ret->addr + ADDR4_AT, from, ADDR4_BYTES);
        return from + ADDR4_BYTES;
    }
    if (ret->has_addr) {
        memcpy(ret->addr, from, ADDR_BYTES);
        return from + ADDR_BYTES;
    }
    return from;
}

static void get_symbols(const struct names *names, const char *from,
                        struct message_view *ret)
{
    for (size_t i = 0; i < ret->row.nsymbols; i++, from += SYMBOL_BYTES) {
        ret->symbol[i].name = names->name[le_get(from, 2)];
        ret->symbol[i].score = score_of(from + 2);
        ret->symbol[i].detail = SLICE_NONE;
        ret->symbol[i].part = 0;
    }
}

static const char *get_texts(const char *p, unsigned flags, struct message_row *ret)
{
    struct slice *const texts[LENGTHS - 1] = {
        &ret->unjudged, &ret->queue_id, &ret->from, &ret->header_from, &ret->subject};
    const char *from = p + AT_TEXTS;

    for (size_t i = 0; i < LENGTH(texts); i++) {
        from = get_text(from, le_get(p + AT_LENGTHS + i, 1), texts[i]);
    }
    if ((flags & IS_SAME_FROM) != 0) {
        ret->header_from = ret->from;
    }
    return from;
}

void message_ring_read(const struct message_ring *r, size_t at,
                       struct message_view *ret)
{
    const char *p = row_at(r, at);
    const unsigned flags = (unsigned)le_get(p + AT_FLAGS, 1);
    struct message_row *row = &ret->row;

    ret->number = le_get(p + AT_NUMBER, 8);
    ret->file = le_get(p + AT_FILE, 8);
    row->time_us = le_get(p + AT_TIME, 8);
    row->case_id = le_get(p + AT_CASE, 8);
    row->message_id = le_get(p + AT_MESSAGE_ID, 8);
    row->size = le_get(p + AT_SIZE, 8);
    row->score = score_of(p + AT_SCORE);
    row->nrcpt = (uint32_t)le_get(p + AT_NRCPT, 4);
    row->action = (enum action)le_get(p + AT_ACTION, 1);
    row->is_outgoing = (flags & IS_OUTGOING) != 0;
    row->nsymbols = le_get(p + AT_NSYMBOLS, 1);
    row->nto = le_get(p + AT_NTO, 1);
    row->to = ret->to;
    row->symbol = ret->symbol;
    const char *from = get_texts(p, flags, row);
    for (size_t i = 0; i < row->nto; i++) {
        from = get_text(from + 1, le_get(from, 1), &ret->to[i]);
    }
    from = get_addr(from, flags, row);
    get_symbols(&r->names, from, ret);
}

/* ---- queries ---- */

void message_ring_prepare(const struct message_ring *r, const struct message_query *q,
                          struct message_ring_query *ret)
{
    ret->query = q;
    ret->has_names = false;
    message_filter_of(q, &ret->filter);
    for (size_t i = 0; i < r->names.n; i++) {
        ret->seeks[i] = message_filter_seeks(q, r->names.name[i]);
        ret->has_names = ret->has_names || ret->seeks[i];
    }
}

/* Whether the row has a symbol that is sought. */
static bool has_sought(const char *p, struct slice texts,
                       const struct message_ring_query *q)
{
    const unsigned flags = (unsigned)le_get(p + AT_FLAGS, 1);
    const size_t n = le_get(p + AT_NSYMBOLS, 1);
    const char *from = texts.p + texts.n +
                       ((flags & IS_ADDR4) != 0   ? ADDR4_BYTES
                        : (flags & HAS_ADDR) != 0 ? ADDR_BYTES
                                                  : 0);
    bool has = false;

    for (size_t i = 0; !has && i < n; i++) {
        has = q->seeks[le_get(from + i * SYMBOL_BYTES, 2)];
    }
    return has;
}

enum { IDS_MAX = CASE_ID_SIZE + INET6_ADDRSTRLEN };

/* "192.0.2.1", as message_row_client prints it, in a tenth of the time. */
static char *print_addr4(const char *addr, char *to)
{
    for (size_t i = 0; i < ADDR4_BYTES; i++) {
        const unsigned v = (unsigned char)addr[i];
        *to = (char)('0' + v / 100);
        to += v >= 100;
        *to = (char)('0' + v / 10 % 10);
        to += v >= 10;
        *to++ = (char)('0' + v % 10);
        *to++ = '.';
    }
    return to - 1;
}

/* Case id and address of the client as texts. addr: behind the texts of row p. */
static struct slice print_ids(const char *p, const char *addr, char ret[IDS_MAX])
{
    const unsigned flags = (unsigned)le_get(p + AT_FLAGS, 1);
    struct message_row row = {.has_addr = false};
    char *end = ret + CASE_ID_SIZE;

    (void)case_id_print(le_get(p + AT_CASE, 8), ret);
    if ((flags & IS_ADDR4) != 0) {
        end = print_addr4(addr, end);
    } else if ((flags & HAS_ADDR) != 0) {
        (void)get_addr(addr, flags, &row);
        end += strlen(message_row_client(&row, end));
    }
    return slice_of(ret, (size_t)(end - ret));
}

bool message_ring_matches(const struct message_ring *r, size_t at,
                          const struct message_ring_query *q, struct message_view *ret)
{
    const char *p = row_at(r, at);
    const struct slice texts = slice_of(p + AT_TEXTS, le_get(p + AT_NTEXTS, 2));

    char buffer[IDS_MAX];
    const struct slice ids =
        q->filter.needs_ids ? print_ids(p, texts.p + texts.n, buffer) : SLICE_NONE;

    if (!message_filter_passes(&q->filter, texts, ids,
                               q->has_names && has_sought(p, texts, q))) {
        return false;
    }
    message_ring_read(r, at, ret);
    return message_query_matches(q->query, &ret->row);
}
