#include "core/summary/summary.h"

#include "core/base/le.h"

enum {
    HALF = 8,
    KIND_SHIFT = 56,
    NUMBER_SHIFT = 48,
    BYTE = 0xff,
    HAS_RUN = 1,
    RUNS = 2,
    HAS_FEEDS = 4,
    PIECES_MAX = HEADLINE_ALERT_MAX / HALF,
    BYTE_BITS = 8
};
#define INDEX_MASK ((UINT64_C(1) << NUMBER_SHIFT) - 1)

_Static_assert((HISTORY_BUCKETS + PERIOD_HOURS + PERIOD_DAYS) * SUMMARY_NUMBERS +
                       SUMMARY_FIELDS + (HEADLINE_ALERTS + 1) * PIECES_MAX <=
                   SUMMARY_RECORDS_MAX,
               "what a server may say");
_Static_assert((int)HEADLINE_VERSION_MAX <= (int)HEADLINE_ALERT_MAX &&
                   HEADLINE_ALERT_MAX % HALF == 0,
               "texts of whole pieces");

/* ---- printing ---- */

struct printing {
    struct mirror_entry *v;
    size_t n;
};

static void add_record(struct printing *p, enum summary_kind kind, uint64_t number,
                       uint64_t index, uint64_t value)
{
    uint64_t key = (uint64_t)kind << KIND_SHIFT | number << NUMBER_SHIFT | index;
    struct mirror_entry *e = &p->v[p->n++];
    char bytes[DIGEST_BYTES];

    *e = (struct mirror_entry){.class_type = SUMMARY_TYPE, .status = ENTRY_LISTED};
    for (unsigned i = 0; i < HALF; i++) { /* big-endian: in order of the key */
        bytes[i] = (char)(key >> (KIND_SHIFT - i * BYTE_BITS) & BYTE);
    }
    le_put(bytes + HALF, value, HALF);
    memcpy(e->digest.b, bytes, DIGEST_BYTES);
}

static void print_pieces(struct printing *p, uint64_t number, const char *text)
{
    size_t n = strlen(text);

    for (size_t at = 0; at < n; at += HALF) {
        char piece[HALF] = {0};
        memcpy(piece, text + at, n - at < HALF ? n - at : HALF);
        add_record(p, SUMMARY_TEXT, number, at / HALF, le_get(piece, HALF));
    }
}

static void print_headline(struct printing *p, const struct headline *h)
{
    uint64_t flags = (h->has_run ? HAS_RUN : 0U) | (h->is_running ? RUNS : 0U) |
                     (h->has_feeds ? HAS_FEEDS : 0U);

    add_record(p, SUMMARY_STATE, SUMMARY_AT, 0, h->at_s);
    add_record(p, SUMMARY_STATE, SUMMARY_FLAGS, 0, flags);
    add_record(p, SUMMARY_STATE, SUMMARY_NEEDS, 0, h->needs);
    add_record(p, SUMMARY_STATE, SUMMARY_FEED, 0, h->feed_good_s);
    print_pieces(p, 0, h->version);
    for (unsigned i = 0; i < h->nalerts; i++) {
        print_pieces(p, 1 + i, h->alert[i]);
    }
}

static void print_view(struct printing *p, enum summary_kind kind,
                       const struct period_view *v)
{
    for (uint64_t n = 0; n < SUMMARY_NUMBERS; n++) {
        for (size_t i = 0; i < v->n; i++) {
            const struct history_bucket *b = &v->bucket[i];
            if (b->number[n] > 0 && b->number[n] <= SUMMARY_VALUE_MAX) {
                add_record(p, kind, n, b->at_s / period_bucket_s(v->period),
                           b->number[n]);
            }
        }
    }
}

size_t summary_print(const struct summary *s, struct mirror_entry *ret)
{
    struct printing p = {.v = ret};

    print_headline(&p, &s->headline);
    print_view(&p, SUMMARY_TEN, &s->day);
    print_view(&p, SUMMARY_HOUR, &s->month);
    print_view(&p, SUMMARY_DAY, &s->years);
    return p.n;
}

/* ---- reading ---- */

static enum err refuse_summary(enum err e, const char *why, struct errinfo *reterr)
{
    return errinfo_set(reterr, e, LIST_SUMMARY, 0, "%s", why);
}

static enum err take_state(struct summary_reading *r, uint64_t field, uint64_t value,
                           struct errinfo *reterr)
{
    struct headline *h = &r->headline;

    switch (field) {
    case SUMMARY_AT:
        if (value > r->now_s + SUMMARY_SKEW_S) {
            return refuse_summary(ERR_RANGE, "it was made in the future", reterr);
        }
        h->at_s = value;
        r->has_time = true;
        break;
    case SUMMARY_FLAGS:
        h->has_run = (value & HAS_RUN) != 0;
        h->is_running = (value & RUNS) != 0;
        h->has_feeds = (value & HAS_FEEDS) != 0;
        break;
    case SUMMARY_NEEDS:
        h->needs = value;
        break;
    case SUMMARY_FEED:
        h->feed_good_s = value;
        break;
    default: /* of a later version */
        break;
    }
    return ERR_OK;
}

/* Letters, digits and ".+~-_": names of alerts, versions. */
static bool is_piece(const char piece[HALF])
{
    bool is_over = false;

    for (unsigned i = 0; i < HALF; i++) {
        char c = piece[i];
        bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') ||
                       (c != '\0' && strchr(".+~-_", c) != NULL);
        if ((c != '\0' && (is_over || !is_good)) || (i == 0 && c == '\0')) {
            return false;
        }
        is_over = is_over || c == '\0';
    }
    return true;
}

static enum err take_text(struct summary_reading *r, uint64_t number, uint64_t index,
                          uint64_t value, struct errinfo *reterr)
{
    size_t size = number == 0 ? HEADLINE_VERSION_MAX : HEADLINE_ALERT_MAX;
    char piece[HALF];

    le_put(piece, value, HALF);
    if (number > HEADLINE_ALERTS) {
        return ERR_OK; /* of a later version */
    }
    char *text = number == 0 ? r->headline.version : r->headline.alert[number - 1];
    size_t n = strnlen(text, size);
    /* the pieces come in order, and the last one leaves room for its end */
    if (!is_piece(piece) || n != index * HALF || n + HALF > size ||
        (n + HALF == size && piece[HALF - 1] != '\0')) {
        return refuse_summary(ERR_CORRUPT, "a text makes no sense", reterr);
    }
    memcpy(text + n, piece, HALF);
    if (number > r->headline.nalerts) {
        r->headline.nalerts = (unsigned)number;
    }
    return ERR_OK;
}

static void add_to_view(struct period_view *v, uint64_t bucket_s, uint64_t index,
                        uint64_t number, uint64_t value)
{
    if (v == NULL || period_bucket_s(v->period) != bucket_s ||
        number >= SUMMARY_NUMBERS) {
        return;
    }
    uint64_t first = v->bucket[0].at_s / bucket_s;
    if (index >= first && index - first < v->n) {
        v->bucket[index - first].number[number] = value;
    }
}

static enum err take_slot(struct summary_reading *r, enum period of, uint64_t number,
                          uint64_t index, uint64_t value, struct errinfo *reterr)
{
    uint64_t bucket_s = period_bucket_s(of);

    if (index > (r->now_s + SUMMARY_SKEW_S) / bucket_s) {
        return refuse_summary(ERR_RANGE, "it has messages of the future", reterr);
    }
    if (value > SUMMARY_VALUE_MAX) {
        return refuse_summary(ERR_RANGE, "it has more messages than can be", reterr);
    }
    add_to_view(r->view, bucket_s, index, number, value);
    add_to_view(of == PERIOD_DAY ? r->day : NULL, bucket_s, index, number, value);
    return ERR_OK;
}

static enum err take_fields(struct summary_reading *r, uint64_t key, uint64_t value,
                            struct errinfo *reterr)
{
    uint64_t number = key >> NUMBER_SHIFT & BYTE;
    uint64_t index = key & INDEX_MASK;

    switch (key >> KIND_SHIFT) {
    case SUMMARY_STATE:
        return take_state(r, number, value, reterr);
    case SUMMARY_TEXT:
        return take_text(r, number, index, value, reterr);
    case SUMMARY_TEN:
        return take_slot(r, PERIOD_DAY, number, index, value, reterr);
    case SUMMARY_HOUR:
        return take_slot(r, PERIOD_MONTH, number, index, value, reterr);
    case SUMMARY_DAY:
        return take_slot(r, PERIOD_YEARS, number, index, value, reterr);
    default: /* of a later version */
        return ERR_OK;
    }
}

enum err summary_take(struct summary_reading *r, const struct mirror_entry *e,
                      struct errinfo *reterr)
{
    char bytes[DIGEST_BYTES];
    uint64_t key = 0;

    memcpy(bytes, e->digest.b, DIGEST_BYTES);
    for (unsigned i = 0; i < HALF; i++) {
        key = key << BYTE_BITS | e->digest.b[i];
    }
    if (++r->n > SUMMARY_RECORDS_MAX) {
        return refuse_summary(ERR_LIMIT, "it has too many records", reterr);
    }
    if (e->class_type != SUMMARY_TYPE || e->status != ENTRY_LISTED) {
        return refuse_summary(ERR_CORRUPT, "a record is of another type", reterr);
    }
    if (key <= r->last) {
        return refuse_summary(ERR_CORRUPT, "it has two values for one thing", reterr);
    }
    r->last = key;
    return take_fields(r, key, le_get(bytes + HALF, HALF), reterr);
}

static enum err take_all(struct list_reader *list, struct summary_reading *r,
                         struct errinfo *reterr)
{
    struct mirror_iter *walk = NULL;
    struct mirror_entry entry;
    enum err end = ERR_OK;
    enum err e = mirror_iter_of_reader(list, r->now_s, &walk, reterr);

    while (e == ERR_OK && mirror_iter_next(walk, &entry, &end)) {
        e = summary_take(r, &entry, reterr);
    }
    mirror_iter_free(&walk);
    if (e == ERR_OK && (end != ERR_OK || !r->has_time)) {
        e = refuse_summary(ERR_CORRUPT,
                           "it is damaged, or does not say when it was made", reterr);
    }
    return e;
}

enum err summary_read(const char *folder, const struct keyring *keys, uint64_t now_s,
                      struct period_view *view, struct headline *ret,
                      struct errinfo *reterr)
{
    struct list_reader *list = NULL;
    struct period_view *day = malloc(sizeof(*day));
    struct summary_reading r = {.now_s = now_s, .view = view, .day = day};
    enum err e = day == NULL ? errinfo_nomem(reterr, folder)
                             : list_reader_open(folder, SLICE_LIT(LIST_SUMMARY), keys,
                                                &list, reterr);

    if (e == ERR_OK) {
        period_view_init(day, PERIOD_DAY, now_s);
        e = take_all(list, &r, reterr);
        period_sum(day, r.headline.today);
    }
    *ret = r.headline;
    list_reader_close(&list);
    free(day);
    return e;
}
