#include "core/base/array.h"
#include "core/report/votes_internal.h"

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
        free((*v)->listings);
        (void)pthread_mutex_destroy(&(*v)->lock);
        free(*v);
        *v = NULL;
    }
}

/* ---- the index ---- */

uint32_t *votes_head(const struct votes *v, bool is_light, uint64_t digest)
{
    return &v->heads[is_light][digest & (v->nheads - 1)];
}

static void link_vote(struct votes *v, size_t at)
{
    struct one_vote *vote = &v->votes[at];
    uint32_t *head =
        votes_head(v, (vote->row >> VOTES_HEAVY_SHIFT & 1U) == 0, vote->digest);

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

static void link_again(struct votes *v)
{
    for (unsigned i = 0; i < LENGTH(v->heads); i++) {
        memset(v->heads[i], 0, v->nheads * sizeof(uint32_t));
    }
    for (size_t at = 0; at < v->nvotes; at++) {
        link_vote(v, at);
    }
}

/* Forgets the n oldest rows. */
static void drop_rows(struct votes *v, size_t n)
{
    if (n == 0) {
        return;
    }
    size_t nvotes = n < v->nrows ? v->rows[n].first : v->nvotes;

    for (size_t i = 0; i < n; i++) {
        v->nforeign -= v->rows[i].is_foreign ? v->rows[i].nvotes : 0;
    }

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
    link_again(v);
}

/* Forgets foreign rows that no longer hold. */
static void drop_taken(struct votes *v)
{
    size_t nrows = 0;
    size_t nvotes = 0;
    size_t settled = v->settled;

    for (size_t i = 0; i < v->nrows; i++) {
        struct row row = v->rows[i];
        if (row.is_foreign && row.is_undone) {
            v->nforeign -= row.nvotes;
            v->settled -= i < settled;
            continue;
        }
        for (size_t k = 0; k < row.nvotes; k++) {
            struct one_vote vote = v->votes[row.first + k];
            vote.row = (vote.row & ~(uint32_t)VOTES_ROW_MASK) | (uint32_t)nrows;
            v->votes[nvotes + k] = vote;
        }
        row.first = (uint32_t)nvotes;
        nvotes += row.nvotes;
        v->rows[nrows++] = row;
    }
    v->nrows = nrows;
    v->nvotes = nvotes;
    link_again(v);
}

/* Room for a row and its votes. False: no memory. */
static bool make_vote_room(struct votes *v, size_t nvotes)
{
    if (v->nvotes + nvotes > VOTES_MAX) {
        size_t n = 0;
        while (n < v->nrows && v->rows[n].first < VOTES_MAX / VOTES_KEPT_OF) {
            n++;
        }
        drop_rows(v, n);
    } else if (v->nrows == VOTES_REPORTS_MAX) {
        drop_rows(v, VOTES_REPORTS_MAX / VOTES_KEPT_OF);
    }
    return array_room(&v->rows, &v->rows_room, v->nrows + 1, VOTES_REPORTS_MAX,
                      sizeof(*v->rows)) &&
           array_room(&v->votes, &v->votes_room, v->nvotes + nvotes, VOTES_MAX,
                      sizeof(*v->votes)) &&
           (v->nvotes + nvotes <= v->nheads ||
            link_all(v, v->nheads == 0 ? VOTES_HEADS_MIN : 2 * v->nheads));
}

/* ---- trust ---- */

/* Teaches trust by the votes about the message of a row. */
static void settle_row(struct votes *v, size_t at, uint64_t now_s)
{
    const struct row *row = &v->rows[at];
    struct ballot ballot = {.n = 0};
    struct ballot_end end;
    struct tally tally;

    if (row->is_undone || !row->is_counted) {
        return;
    }
    votes_begin(v);
    for (size_t i = 0; i < row->nvotes; i++) {
        const struct one_vote *vote = &v->votes[row->first + i];
        struct votes_item item = {.digest = {vote->digest},
                                  .n = 1,
                                  .proof = vote->row >> VOTES_PROOF_SHIFT &
                                           VOTES_PROOF_MASK};
        if (item.proof != REPORT_NO_PROOF) {
            votes_match(v, &item);
        }
    }
    votes_ballot(v, REPORT_EXACT, &ballot);
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

enum ballot_voice votes_voice(struct slice reporter)
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

    v->votes[v->nvotes] = (struct one_vote){
        .digest = digest,
        .row = (uint32_t)(v->nrows - 1) | (uint32_t)proof << VOTES_PROOF_SHIFT |
               (uint32_t)is_heavy << VOTES_HEAVY_SHIFT};
    link_vote(v, v->nvotes);
    v->nvotes++;
    row->nvotes++;
}

static bool is_admitted(struct votes *v, const struct row *row)
{
    return row->voice != BALLOT_PERSON ||
           trust_admit(v->trust, row->reporter, row->time_s);
}

/* Whether its votes are found however many newcomers vote. */
static bool is_heavy(const struct votes *v, const struct row *row)
{
    return row->voice == BALLOT_PERSON
               ? trust_weight(v->trust, row->reporter, row->time_s) >= TRUST_ESTABLISHED
               : row->voice != BALLOT_PEER;
}

static void note_given(struct votes *v, const struct report *r)
{
    struct row row = {.id = r->id,
                      .number = r->number,
                      .reporter = trust_reporter(&v->key, r->reporter),
                      .time_s = r->time_s,
                      .voice = (uint8_t)votes_voice(r->reporter),
                      .is_spam = r->is_spam};

    settle_old(v, r->time_s);
    if (!make_vote_room(v, r->nitems + 1)) {
        return;
    }
    row.first = (uint32_t)v->nvotes;
    row.is_counted = is_admitted(v, &row);
    v->rows[v->nrows++] = row;
    if (r->message != 0) {
        add_vote(v, r->message, REPORT_NO_PROOF, true);
    }
    for (size_t i = 0; i < r->nitems; i++) {
        add_vote(v, r->items[i].digest, r->items[i].proof, is_heavy(v, &row));
    }
    settle_row(v, v->nrows - 1, r->time_s);
}

bool votes_note_foreign(struct votes *v, const struct votes_foreign *f)
{
    struct row row = {.number = f->number,
                      .reporter = f->reporter,
                      .time_s = f->time_s,
                      .voice = (uint8_t)f->voice,
                      .is_spam = f->is_spam,
                      .is_foreign = true};

    pthread_mutex_lock(&v->lock);
    if (v->nforeign + f->n > VOTES_FOREIGN_MAX) {
        drop_taken(v);
    }
    bool has_room = v->nforeign + f->n <= VOTES_FOREIGN_MAX && make_vote_room(v, f->n);

    if (has_room) {
        settle_old(v, f->time_s);
        row.first = (uint32_t)v->nvotes;
        row.is_counted = is_admitted(v, &row);
        v->rows[v->nrows++] = row;
        for (size_t i = 0; i < f->n; i++) {
            add_vote(v, f->items[i].digest, f->items[i].proof, is_heavy(v, &row));
        }
        v->nforeign += f->n;
        settle_row(v, v->nrows - 1, f->time_s);
    }
    pthread_mutex_unlock(&v->lock);
    return has_room;
}

void votes_take_foreign(struct votes *v, const uint64_t *numbers, size_t n)
{
    pthread_mutex_lock(&v->lock);
    for (size_t i = 0; n > 0 && i < v->nrows; i++) {
        struct row *row = &v->rows[i];
        if (row->is_foreign && bsearch(&row->number, numbers, n, sizeof(*numbers),
                                       array_u64_cmp) != NULL) {
            row->is_undone = true;
        }
    }
    pthread_mutex_unlock(&v->lock);
}

struct row *votes_row(const struct votes *v, uint64_t id)
{
    for (size_t i = v->nrows; i-- > 0;) {
        if (v->rows[i].id == id && !v->rows[i].is_foreign) {
            return &v->rows[i];
        }
    }
    return NULL;
}

void votes_note(struct votes *v, const struct report *r)
{
    pthread_mutex_lock(&v->lock);
    struct row *row = r->entry == REPORT_UNDONE ? votes_row(v, r->id) : NULL;

    if (row != NULL) {
        row->is_undone = true;
    } else if (r->entry == REPORT_GIVEN) {
        note_given(v, r);
    } else if (r->entry == REPORT_LISTED) {
        votes_note_listed(v, r);
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
    for (n = 0; n < v->nlistings && v->listings[n].time_s + VOTES_LISTING_S <= now_s;) {
        n++;
    }
    votes_drop_listings(v, n);
    pthread_mutex_unlock(&v->lock);
}
