#include "core/report/votes.h"

#include <pthread.h>

#include "core/base/array.h"

enum {
    ROW_BITS = 28,
    ROW_MASK = (1 << ROW_BITS) - 1,
    PROOF_SHIFT = ROW_BITS,
    PROOF_MASK = 3,
    HEAVY_SHIFT = 30, /* of an established voice */
    HEADS_MIN = 1 << 10,
    KEPT_OF = 8 /* an eighth goes at once */
};

struct one_vote {
    uint64_t digest;
    uint32_t row;  /* and its proof */
    uint32_t next; /* vote of the same bucket, plus one */
};

struct row {
    uint64_t id;
    uint64_t number;
    uint64_t reporter;
    uint64_t time_s;
    uint32_t first; /* vote */
    uint32_t mark;  /* of the look-up that matched it last */
    uint16_t nvotes;
    uint16_t nbands; /* that matched in that look-up */
    uint8_t proof;   /* the best that matched */
    uint8_t voice;   /* enum ballot_voice */
    bool is_spam;
    bool is_undone;
    bool is_counted;
};

struct votes {
    pthread_mutex_t lock;
    struct hashkey key;
    struct trust *trust;
    struct row *rows; /* by age */
    size_t nrows;
    size_t rows_room;
    struct one_vote *votes; /* in the order of the rows */
    size_t nvotes;
    size_t votes_room;
    uint32_t *heads[2]; /* votes plus one: of established voices, of others */
    size_t nheads;
    uint32_t mark;
    size_t settled; /* rows that stood for BALLOT_WAIT_S */
    uint32_t matches[VOTES_MATCHES_MAX];
    size_t nmatches;
};

struct votes *votes_new(const struct hashkey *key)
{
    struct votes *v = calloc(1, sizeof(*v));

    if (v == NULL || trust_new(TRUST_REPORTERS_MAX, &v->trust) != ERR_OK) {
        free(v);
        return NULL;
    }
    (void)pthread_mutex_init(&v->lock, NULL);
    v->key = *key;
    return v;
}

void votes_free(struct votes **v)
{
    if (*v != NULL) {
        trust_free(&(*v)->trust);
        free((*v)->rows);
        free((*v)->votes);
        free((*v)->heads[0]);
        free((*v)->heads[1]);
        (void)pthread_mutex_destroy(&(*v)->lock);
        free(*v);
        *v = NULL;
    }
}

/* ---- the index ---- */

static uint32_t *head_of(const struct votes *v, bool is_light, uint64_t digest)
{
    return &v->heads[is_light][digest & (v->nheads - 1)];
}

static void link_vote(struct votes *v, size_t at)
{
    struct one_vote *vote = &v->votes[at];
    uint32_t *head = head_of(v, (vote->row >> HEAVY_SHIFT & 1U) == 0, vote->digest);

    vote->next = *head;
    *head = (uint32_t)at + 1;
}

/* Links all votes again, with this many heads. */
static bool link_all(struct votes *v, size_t nheads)
{
    uint32_t *heads[2] = {calloc(nheads, sizeof(uint32_t)),
                          calloc(nheads, sizeof(uint32_t))};

    if (heads[0] == NULL || heads[1] == NULL) {
        free(heads[0]);
        free(heads[1]);
        return false;
    }
    for (unsigned i = 0; i < LENGTH(heads); i++) {
        free(v->heads[i]);
        v->heads[i] = heads[i];
    }
    v->nheads = nheads;
    for (size_t at = 0; at < v->nvotes; at++) {
        link_vote(v, at);
    }
    return true;
}

/* Forgets the n oldest rows. */
static void drop_rows(struct votes *v, size_t n)
{
    if (n == 0) {
        return;
    }
    size_t nvotes = n < v->nrows ? v->rows[n].first : v->nvotes;

    memmove(v->rows, v->rows + n, (v->nrows - n) * sizeof(*v->rows));
    memmove(v->votes, v->votes + nvotes, (v->nvotes - nvotes) * sizeof(*v->votes));
    v->nrows -= n;
    v->nvotes -= nvotes;
    v->settled = v->settled > n ? v->settled - n : 0;
    for (size_t i = 0; i < v->nrows; i++) {
        v->rows[i].first -= (uint32_t)nvotes;
    }
    for (size_t i = 0; i < v->nvotes; i++) {
        v->votes[i].row -= (uint32_t)n; /* the low bits alone: rows are at least n */
    }
    memset(v->heads[0], 0, v->nheads * sizeof(uint32_t));
    memset(v->heads[1], 0, v->nheads * sizeof(uint32_t));
    for (size_t at = 0; at < v->nvotes; at++) {
        link_vote(v, at);
    }
}

/* Room for a row and its votes. False: no memory. */
static bool make_room(struct votes *v, size_t nvotes)
{
    if (v->nvotes + nvotes > VOTES_MAX) {
        size_t n = 0;
        while (n < v->nrows && v->rows[n].first < VOTES_MAX / KEPT_OF) {
            n++;
        }
        drop_rows(v, n);
    } else if (v->nrows == VOTES_REPORTS_MAX) {
        drop_rows(v, VOTES_REPORTS_MAX / KEPT_OF);
    }
    return array_room(&v->rows, &v->rows_room, v->nrows + 1, VOTES_REPORTS_MAX,
                      sizeof(*v->rows)) &&
           array_room(&v->votes, &v->votes_room, v->nvotes + nvotes, VOTES_MAX,
                      sizeof(*v->votes)) &&
           (v->nvotes + nvotes <= v->nheads ||
            link_all(v, v->nheads == 0 ? HEADS_MIN : 2 * v->nheads));
}

/* ---- matching ---- */

static void match_row(struct votes *v, uint32_t word)
{
    uint32_t at = word & ROW_MASK;
    struct row *row = &v->rows[at];
    uint8_t proof = word >> PROOF_SHIFT & PROOF_MASK;

    if (row->is_undone || !row->is_counted || proof == REPORT_NO_PROOF) {
        return;
    }
    if (row->mark != v->mark) {
        if (v->nmatches == VOTES_MATCHES_MAX) {
            return;
        }
        row->mark = v->mark;
        row->nbands = 0;
        row->proof = REPORT_NO_PROOF;
        v->matches[v->nmatches++] = at;
    }
    if (proof == REPORT_BAND) {
        row->nbands++;
        proof = row->nbands >= VOTES_BANDS ? REPORT_EXACT : REPORT_NO_PROOF;
    }
    row->proof = proof > row->proof ? proof : row->proof;
}

static void match_item(struct votes *v, const struct votes_item *item)
{
    for (unsigned k = 0; k < 2U * item->n; k++) {
        uint64_t digest = item->digest[k / 2];
        unsigned left = VOTES_CHAIN_MAX;
        for (uint32_t at = *head_of(v, k % 2 == 1, digest); at > 0 && left > 0;
             at = v->votes[at - 1].next) {
            if (v->votes[at - 1].digest == digest) {
                match_row(v, v->votes[at - 1].row);
                left--;
            }
        }
    }
}

static int by_row(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void begin_matches(struct votes *v)
{
    v->nmatches = 0;
    if (++v->mark == 0) { /* once in 2^32 look-ups */
        for (size_t i = 0; i < v->nrows; i++) {
            v->rows[i].mark = 0;
        }
        v->mark = 1;
    }
}

/* The ballot of all rows that match by at least this proof, the oldest first. */
static void make_ballot(struct votes *v, uint8_t least, struct ballot *ret)
{
    qsort(v->matches, v->nmatches, sizeof(v->matches[0]), by_row);
    for (size_t i = 0; i < v->nmatches; i++) {
        const struct row *row = &v->rows[v->matches[i]];
        const struct vote vote = {.reporter = row->reporter,
                                  .report = row->number,
                                  .time_s = row->time_s,
                                  .is_spam = row->is_spam,
                                  .voice = row->voice};
        if (row->proof >= least) {
            (void)ballot_put(ret, v->trust, &vote);
        }
    }
}

/* ---- trust ---- */

/* What the votes about the message of a row teach about the voters. */
static void settle_row(struct votes *v, size_t at, uint64_t now_s)
{
    const struct row *row = &v->rows[at];
    struct ballot ballot = {.n = 0};
    struct ballot_end end;
    struct tally tally;

    if (row->is_undone || !row->is_counted) {
        return;
    }
    begin_matches(v);
    for (size_t i = 0; i < row->nvotes; i++) {
        const struct one_vote *vote = &v->votes[row->first + i];
        struct votes_item item = {.digest = {vote->digest},
                                  .n = 1,
                                  .proof = vote->row >> PROOF_SHIFT & PROOF_MASK};
        if (item.proof != REPORT_NO_PROOF) {
            match_item(v, &item);
        }
    }
    make_ballot(v, REPORT_EXACT, &ballot);
    ballot_count(&ballot, v->trust, now_s, &tally);
    if (ballot.n > 1 && tally_ends(&tally, 0, now_s, &end)) {
        ballot_settle(&ballot, v->trust, &end, now_s);
    }
    ballot_fini(&ballot);
}

static void settle_old(struct votes *v, uint64_t now_s)
{
    while (v->settled < v->nrows &&
           v->rows[v->settled].time_s + BALLOT_WAIT_S <= now_s) {
        settle_row(v, v->settled, v->rows[v->settled].time_s + BALLOT_WAIT_S);
        v->settled++;
    }
}

static enum ballot_voice voice_of(struct slice reporter)
{
    if (slice_eq(reporter, SLICE_LIT(REPORT_ADMINISTRATOR))) {
        return BALLOT_ADMIN;
    }
    return slice_eq(reporter, SLICE_LIT(REPORT_TRAP)) ? BALLOT_TRAP : BALLOT_PERSON;
}

/* ---- entries ---- */

static void add_vote(struct votes *v, uint64_t digest, uint8_t proof, bool is_heavy)
{
    struct row *row = &v->rows[v->nrows - 1];

    v->votes[v->nvotes] = (struct one_vote){.digest = digest,
                                            .row = (uint32_t)(v->nrows - 1) |
                                                   (uint32_t)proof << PROOF_SHIFT |
                                                   (uint32_t)is_heavy << HEAVY_SHIFT};
    link_vote(v, v->nvotes);
    v->nvotes++;
    row->nvotes++;
}

static void note_given(struct votes *v, const struct report *r)
{
    uint64_t reporter = trust_reporter(&v->key, r->reporter);
    enum ballot_voice voice = voice_of(r->reporter);

    settle_old(v, r->time_s);
    if (!make_room(v, r->nitems + 1)) {
        return;
    }
    v->rows[v->nrows++] =
        (struct row){.id = r->id,
                     .number = r->number,
                     .reporter = reporter,
                     .time_s = r->time_s,
                     .first = (uint32_t)v->nvotes,
                     .voice = (uint8_t)voice,
                     .is_spam = r->is_spam,
                     .is_counted = voice != BALLOT_PERSON ||
                                   trust_admit(v->trust, reporter, r->time_s)};
    bool is_heavy = voice != BALLOT_PERSON ||
                    trust_weight(v->trust, reporter, r->time_s) >= TRUST_ESTABLISHED;
    if (r->message != 0) {
        add_vote(v, r->message, REPORT_NO_PROOF, true);
    }
    for (size_t i = 0; i < r->nitems; i++) {
        add_vote(v, r->items[i].digest, r->items[i].proof, is_heavy);
    }
    settle_row(v, v->nrows - 1, r->time_s);
}

static struct row *find_row(const struct votes *v, uint64_t id)
{
    for (size_t i = v->nrows; i-- > 0;) {
        if (v->rows[i].id == id) {
            return &v->rows[i];
        }
    }
    return NULL;
}

void votes_note(struct votes *v, const struct report *r)
{
    pthread_mutex_lock(&v->lock);
    struct row *row = r->entry == REPORT_UNDONE ? find_row(v, r->id) : NULL;

    if (row != NULL) {
        row->is_undone = true;
    } else if (r->entry == REPORT_GIVEN) {
        note_given(v, r);
    }
    pthread_mutex_unlock(&v->lock);
}

void votes_age(struct votes *v, uint64_t now_s, uint64_t oldest_s)
{
    size_t n = 0;

    pthread_mutex_lock(&v->lock);
    settle_old(v, now_s);
    while (n < v->nrows && v->rows[n].time_s < oldest_s) {
        n++;
    }
    drop_rows(v, n);
    pthread_mutex_unlock(&v->lock);
}

/* ---- reading ---- */

static void show_row(const struct row *row, struct votes_report *ret)
{
    *ret = (struct votes_report){.id = row->id,
                                 .reporter = row->reporter,
                                 .number = row->number,
                                 .is_spam = row->is_spam,
                                 .is_undone = row->is_undone,
                                 .is_counted = row->is_counted};
}

bool votes_find(struct votes *v, uint64_t id, struct votes_report *ret)
{
    pthread_mutex_lock(&v->lock);
    const struct row *row = find_row(v, id);

    if (row != NULL) {
        show_row(row, ret);
    }
    pthread_mutex_unlock(&v->lock);
    return row != NULL;
}

/* The newest row of the chain that is the reporter's and holds. */
static const struct row *standing_row(const struct votes *v, uint64_t reporter,
                                      uint64_t message)
{
    uint32_t at = v->nvotes > 0 && message != 0 ? *head_of(v, false, message) : 0;

    for (; at > 0; at = v->votes[at - 1].next) {
        const struct row *row = &v->rows[v->votes[at - 1].row & ROW_MASK];
        if (v->votes[at - 1].digest == message && row->reporter == reporter &&
            !row->is_undone) {
            return row;
        }
    }
    return NULL;
}

bool votes_standing(struct votes *v, struct slice reporter, uint64_t message,
                    struct votes_report *ret)
{
    pthread_mutex_lock(&v->lock);
    const struct row *row = standing_row(v, trust_reporter(&v->key, reporter), message);

    if (row != NULL) {
        show_row(row, ret);
    }
    pthread_mutex_unlock(&v->lock);
    return row != NULL;
}

/* One look at the matches: by this proof at least. */
static void weigh(struct votes *v, uint8_t least, uint64_t copies, uint64_t now_s,
                  struct votes_opinion *ret)
{
    struct ballot ballot = {.n = 0};
    struct tally tally;

    make_ballot(v, least, &ballot);
    ballot_count(&ballot, v->trust, now_s, &tally);
    *ret = (struct votes_opinion){.standing = tally_standing(&tally, copies),
                                  .is_link = least == REPORT_LINK,
                                  .is_decided = tally.decided != 0,
                                  .nspam = tally.nspam,
                                  .nham = tally.nham};
    ballot_fini(&ballot);
}

/* NOLINTNEXTLINE(readability-function-size): a message, and the time */
void votes_judge(struct votes *v, const struct votes_item *items, size_t n,
                 uint64_t copies, uint64_t now_s, struct votes_opinion *ret)
{
    *ret = (struct votes_opinion){.standing = STANDING_OPEN};
    pthread_mutex_lock(&v->lock);
    if (v->nvotes > 0) {
        begin_matches(v);
        for (size_t i = 0; i < n; i++) {
            if (items[i].proof != REPORT_NO_PROOF) {
                match_item(v, &items[i]);
            }
        }
        if (v->nmatches > 0) {
            weigh(v, REPORT_EXACT, copies, now_s, ret);
        }
        if (v->nmatches > 0 && ret->standing == STANDING_OPEN) {
            weigh(v, REPORT_LINK, copies, now_s, ret);
        }
    }
    pthread_mutex_unlock(&v->lock);
}

/* One item's votes as they are read, the newest first. */
struct calling {
    uint64_t reporters[VOTES_CHAIN_MAX]; /* whose last vote was seen */
    size_t n;
    int decided; /* by the administrator: 1 spam, -1 ham */
    unsigned spam;
    unsigned ham;
};

static bool is_first_of(struct calling *c, uint64_t reporter)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->reporters[i] == reporter) {
            return false;
        }
    }
    if (c->n == LENGTH(c->reporters)) {
        return false;
    }
    c->reporters[c->n++] = reporter;
    return true;
}

static void call_row(struct calling *c, const struct row *row, uint64_t from_s,
                     uint64_t to_s, struct votes_called *ret)
{
    if (row->is_undone || !row->is_counted || !is_first_of(c, row->reporter)) {
        return;
    }
    *(row->is_spam ? &c->spam : &c->ham) += 1;
    if (row->voice == BALLOT_ADMIN) {
        c->decided = row->is_spam ? 1 : -1;
    }
    if (row->time_s >= from_s && row->time_s <= to_s) {
        *(row->is_spam ? &ret->spam : &ret->good) += 1;
    }
}

void votes_called(struct votes *v, const struct votes_item *item, uint64_t from_s,
                  uint64_t to_s, struct votes_called *ret)
{
    struct calling c = {.n = 0};
    bool is_own = false;

    *ret = (struct votes_called){.spam = 0};
    pthread_mutex_lock(&v->lock);
    for (unsigned k = 0; v->nvotes > 0 && k < item->n; k++) {
        unsigned left = VOTES_CHAIN_MAX;
        for (uint32_t at = *head_of(v, false, item->digest[k]); at > 0 && left > 0;
             at = v->votes[at - 1].next) {
            const struct one_vote *vote = &v->votes[at - 1];
            if (vote->digest == item->digest[k]) {
                is_own = is_own || (vote->row >> PROOF_SHIFT & PROOF_MASK) != 0;
                call_row(&c, &v->rows[vote->row & ROW_MASK], from_s, to_s, ret);
                left--;
            }
        }
    }
    ret->is_cleared =
        is_own && (c.decided != 0 ? c.decided < 0 : c.ham > 0 && c.spam == 0);
    pthread_mutex_unlock(&v->lock);
}

double votes_trust(struct votes *v, struct slice reporter, uint64_t now_s)
{
    pthread_mutex_lock(&v->lock);
    double weight =
        voice_of(reporter) != BALLOT_PERSON
            ? 1
            : trust_weight(v->trust, trust_reporter(&v->key, reporter), now_s);
    pthread_mutex_unlock(&v->lock);
    return weight;
}

size_t votes_count(struct votes *v)
{
    pthread_mutex_lock(&v->lock);
    size_t n = v->nvotes;
    pthread_mutex_unlock(&v->lock);
    return n;
}
