#include "core/verdict/journal/worth.h"

#include "core/base/case_id.h"
#include "core/list/list.h"
#include "core/list/listset.h"
#include "core/verdict/verdict.h"

enum {
    SLOTS = 2 * WORTH_ROWS, /* of the table of keys; a power of two */
    KEY_MAX = VERDICT_SYMBOL_NAME + LIST_NAME_MAX + 2 * RECORD_NAME_MAX,
    HITS_MAX = RECORD_SYMBOLS + RECORD_HITS, /* rows of one message */
    US_PER_S = 1000000
};

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "a mask finds the slot");

/* Numbers of one day. */
struct day {
    uint32_t hits;
    uint32_t scored;
    uint32_t alone;
    uint32_t spam;
    uint32_t ham;
};

struct row {
    char key[KEY_MAX];
    size_t n;
    uint64_t last_s;
    struct day *day; /* by day % days */
};

/* A reported message. */
struct worth_case {
    uint64_t case_id;
    bool is_spam;
    bool is_found;
    bool is_sought; /* the journal does not have it */
    uint64_t day;
    uint16_t *row; /* that hit it */
    size_t n;
};

struct worth {
    unsigned days;
    uint64_t newest;  /* day */
    uint64_t *number; /* the day that a slot is of */
    uint64_t *judged; /* messages of a slot */
    uint64_t *others;
    uint64_t first_s;
    bool is_cut;
    size_t nrows;
    struct row *rows[WORTH_ROWS];
    uint16_t slot[SLOTS];     /* number + 1 of a row; 0: free */
    struct worth_case *cases; /* rising */
    size_t ncases;
};

/* ---- rows ---- */

struct key {
    char text[KEY_MAX];
    size_t n;
};

static void add_to_key(struct key *k, struct slice s)
{
    s = slice_head(s, sizeof(k->text) - k->n);
    if (s.n > 0) {
        memcpy(k->text + k->n, s.p, s.n);
        k->n += s.n;
    }
}

/* Names of lists are in lower case, symbols are in upper case: no key is both. */
static void key_of_rule(struct slice symbol, struct key *ret)
{
    ret->n = 0;
    add_to_key(ret, symbol);
}

static void key_of_list(struct slice list, struct slice origin, struct key *ret)
{
    ret->n = 0;
    add_to_key(ret, slice_head(list, LIST_NAME_MAX));
    add_to_key(ret, SLICE_LIT("@"));
    add_to_key(ret, slice_head(origin, RECORD_NAME_MAX));
}

static size_t key_slot(const struct worth *w, const struct key *k)
{
    uint32_t h = 2166136261U; /* FNV-1a: names are those of the configuration */

    for (size_t i = 0; i < k->n; i++) {
        h = (h ^ (unsigned char)k->text[i]) * 16777619U;
    }
    size_t at = h & (SLOTS - 1);
    while (w->slot[at] != 0) {
        const struct row *row = w->rows[w->slot[at] - 1];
        if (row->n == k->n && memcmp(row->key, k->text, k->n) == 0) {
            break;
        }
        at = (at + 1) & (SLOTS - 1);
    }
    return at;
}

static struct row *new_row(const struct worth *w, const struct key *k)
{
    struct row *row = calloc(1, sizeof(*row));

    if (row != NULL) {
        memcpy(row->key, k->text, k->n);
        row->n = k->n;
        row->day = calloc(w->days, sizeof(*row->day));
    }
    if (row == NULL || row->day == NULL) {
        free(row);
        return NULL;
    }
    return row;
}

/* False: there is no room for another. */
static bool row_number(struct worth *w, const struct key *k, uint16_t *ret)
{
    const size_t at = key_slot(w, k);

    if (w->slot[at] == 0) {
        struct row *row = w->nrows < WORTH_ROWS ? new_row(w, k) : NULL;
        if (row == NULL) {
            w->is_cut = true;
            return false;
        }
        w->rows[w->nrows++] = row;
        w->slot[at] = (uint16_t)w->nrows;
    }
    *ret = (uint16_t)(w->slot[at] - 1);
    return true;
}

/* ---- what hit a message ---- */

struct hit {
    uint16_t row;
    bool has_score;
    bool is_alone;
};
struct hits {
    struct hit v[HITS_MAX];
    size_t n;
};

static void add_hit(struct hits *h, struct hit hit)
{
    for (size_t i = 0; i < h->n; i++) {
        if (h->v[i].row == hit.row) {
            return;
        }
    }
    if (h->n < HITS_MAX) {
        h->v[h->n++] = hit;
    }
}

/* Whether another symbol than this one raised the score. */
static bool has_other(const struct record *r, struct slice than)
{
    for (size_t i = 0; i < r->nsymbols; i++) {
        if (r->symbol[i].score > 0 && !slice_eq(r->symbol[i].name, than)) {
            return true;
        }
    }
    return false;
}

static bool is_hit(const struct record_hit *h)
{
    return (h->answer == LIST_CONFIRMED || h->answer == LIST_UNVERIFIED) &&
           h->silence == LIST_NOT_SUPPRESSED;
}

/* Whether the list of the same name of another server hit, too. */
static bool has_twin(const struct record *r, const struct record_hit *than)
{
    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        if (is_hit(h) && slice_eq(h->list, than->list) &&
            !slice_eq(h->origin, than->origin)) {
            return true;
        }
    }
    return false;
}

static bool has_score(const struct record *r, struct slice symbol)
{
    for (size_t i = 0; i < r->nsymbols; i++) {
        if (slice_eq(r->symbol[i].name, symbol) && r->symbol[i].score != 0) {
            return true;
        }
    }
    return false;
}

static void find_rules(struct worth *w, const struct record *r, struct hits *ret)
{
    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        struct hit hit = {.has_score = s->score != 0};
        struct key key;

        key_of_rule(s->name, &key);
        if (!slice_has_prefix(s->name, SLICE_LIT("LIST_")) &&
            row_number(w, &key, &hit.row)) {
            hit.is_alone = !has_other(r, s->name);
            add_hit(ret, hit);
        }
    }
}

static void find_lists(struct worth *w, const struct record *r, struct hits *ret)
{
    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        char symbol[VERDICT_SYMBOL_NAME];
        struct hit hit = {.row = 0};
        struct key key;

        key_of_list(h->list, h->origin, &key);
        if (is_hit(h) && row_number(w, &key, &hit.row)) {
            (void)snprintf(symbol, sizeof(symbol), "LIST_%.*s", SLICE_ARGS(h->list));
            verdict_symbol_name(symbol);
            hit.has_score = has_score(r, slice_str(symbol));
            hit.is_alone = !has_other(r, slice_str(symbol)) && !has_twin(r, h);
            add_hit(ret, hit);
        }
    }
}

static void find_hits(struct worth *w, const struct record *r, struct hits *ret)
{
    ret->n = 0;
    find_rules(w, r, ret);
    find_lists(w, r, ret);
}

/* ---- days ---- */

static struct day *day_of(const struct worth *w, uint16_t row, uint64_t day)
{
    return &w->rows[row]->day[day % w->days];
}

static void begin_day(struct worth *w, uint64_t day)
{
    const size_t slot = day % w->days;

    for (size_t i = 0; i < w->nrows; i++) {
        w->rows[i]->day[slot] = (struct day){.hits = 0};
    }
    w->number[slot] = day;
    w->judged[slot] = 0;
    w->others[slot] = 0;
}

/* False: the day is too old. */
static bool reach_day(struct worth *w, uint64_t day)
{
    const uint64_t oldest = day + 1 > w->days ? day + 1 - w->days : 0;

    if (day > w->newest) {
        for (uint64_t d = w->newest + 1 > oldest ? w->newest + 1 : oldest; d <= day;
             d++) {
            begin_day(w, d);
        }
        w->newest = day;
    }
    return w->number[day % w->days] == day;
}

/* ---- reported messages ---- */

static struct worth_case *find_case(const struct worth *w, uint64_t case_id)
{
    size_t low = 0;
    size_t high = w->ncases;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->cases[middle].case_id < case_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < w->ncases && w->cases[low].case_id == case_id ? &w->cases[low] : NULL;
}

static void count_case(struct worth *w, const struct worth_case *c)
{
    if (!c->is_found || w->number[c->day % w->days] != c->day) {
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        struct day *d = day_of(w, c->row[i], c->day);
        d->spam += c->is_spam;
        d->ham += !c->is_spam;
    }
}

static void keep_case(struct worth *w, struct worth_case *c, const struct hits *hits,
                      uint64_t day)
{
    uint16_t *row = calloc(hits->n + 1, sizeof(*row));

    if (row == NULL) {
        w->is_cut = true;
        return;
    }
    for (size_t i = 0; i < hits->n; i++) {
        row[i] = hits->v[i].row;
    }
    c->row = row;
    c->n = hits->n;
    c->day = day;
    c->is_found = true;
    count_case(w, c);
}

/* Whether a message counts at all. */
static bool is_judged(const struct record *r)
{
    return r->kind == RECORD_MESSAGE && r->unjudged.n == 0;
}

void worth_note(struct worth *w, const struct record *r)
{
    const uint64_t day = r->time_us / US_PER_S / WORTH_DAY_S;
    struct worth_case *c = is_judged(r) ? find_case(w, r->case_id) : NULL;
    struct hits hits;

    if (c != NULL && !c->is_found && reach_day(w, day)) {
        find_hits(w, r, &hits);
        keep_case(w, c, &hits, day);
    }
}

bool worth_sought(const struct worth *w, uint64_t *retfrom_s, uint64_t *retto_s)
{
    const uint64_t oldest = w->newest + 1 > w->days ? w->newest + 1 - w->days : 0;
    bool has_some = false;

    for (size_t i = 0; i < w->ncases; i++) {
        const struct worth_case *c = &w->cases[i];
        const uint64_t at_s = case_id_time_s(c->case_id);
        if (c->is_found || c->is_sought || at_s / WORTH_DAY_S < oldest) {
            continue;
        }
        *retfrom_s = has_some ? *retfrom_s : at_s; /* ids rise with the time */
        *retto_s = at_s;
        has_some = true;
    }
    return has_some;
}

void worth_sought_all(struct worth *w)
{
    for (size_t i = 0; i < w->ncases; i++) {
        w->cases[i].is_sought = true;
    }
}

static void free_cases(struct worth_case *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(v[i].row);
    }
    free(v);
}

bool worth_set_reports(struct worth *w, const struct report_cases *reports)
{
    const size_t skip = reports->n > WORTH_CASES ? reports->n - WORTH_CASES : 0;
    const size_t n = reports->n - skip;
    struct worth_case *fresh = calloc(n + 1, sizeof(*fresh));

    if (fresh == NULL) {
        return false;
    }
    w->is_cut = w->is_cut || skip > 0;
    for (size_t i = 0; i < n; i++) {
        const struct report_case *from = &reports->v[skip + i];
        struct worth_case *old = find_case(w, from->case_id);
        if (old != NULL) {
            fresh[i] = *old;
            old->row = NULL;
        }
        fresh[i].case_id = from->case_id;
        fresh[i].is_spam = from->is_spam;
    }
    free_cases(w->cases, w->ncases);
    w->cases = fresh;
    w->ncases = n;
    for (size_t i = 0; i < w->nrows; i++) {
        for (unsigned d = 0; d < w->days; d++) {
            w->rows[i]->day[d].spam = 0;
            w->rows[i]->day[d].ham = 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        count_case(w, &fresh[i]);
    }
    return true;
}

/* ---- counting ---- */

static void count_hits(struct worth *w, const struct hits *hits, uint64_t at_s)
{
    for (size_t i = 0; i < hits->n; i++) {
        const struct hit *h = &hits->v[i];
        struct row *row = w->rows[h->row];
        struct day *d = day_of(w, h->row, at_s / WORTH_DAY_S);

        d->hits++;
        d->scored += h->has_score;
        d->alone += h->is_alone;
        row->last_s = at_s > row->last_s ? at_s : row->last_s;
    }
}

void worth_add(struct worth *w, const struct record *r)
{
    const uint64_t at_s = r->time_us / US_PER_S;
    const uint64_t day = at_s / WORTH_DAY_S;
    struct worth_case *c = NULL;
    struct hits hits;

    if (r->kind != RECORD_MESSAGE || !reach_day(w, day)) {
        return;
    }
    w->first_s = w->first_s == 0 || at_s < w->first_s ? at_s : w->first_s;
    if (!is_judged(r)) {
        w->others[day % w->days]++;
        return;
    }
    w->judged[day % w->days]++;
    find_hits(w, r, &hits);
    count_hits(w, &hits, at_s);
    c = find_case(w, r->case_id);
    if (c != NULL && !c->is_found) {
        keep_case(w, c, &hits, day);
    }
}

/* ---- up and down ---- */

struct worth *worth_new(unsigned days)
{
    struct worth *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return NULL;
    }
    w->days = days;
    w->number = calloc(days, sizeof(*w->number));
    w->judged = calloc(days, sizeof(*w->judged));
    w->others = calloc(days, sizeof(*w->others));
    if (w->number == NULL || w->judged == NULL || w->others == NULL) {
        worth_free(&w);
    }
    return w;
}

static void free_rows(struct worth *w)
{
    for (size_t i = 0; i < w->nrows; i++) {
        free(w->rows[i]->day);
        free(w->rows[i]);
    }
    w->nrows = 0;
    memset(w->slot, 0, sizeof(w->slot));
}

void worth_free(struct worth **w)
{
    struct worth *x = *w;

    if (x == NULL) {
        return;
    }
    free_rows(x);
    free_cases(x->cases, x->ncases);
    free(x->number);
    free(x->judged);
    free(x->others);
    free(x);
    *w = NULL;
}

void worth_clear(struct worth *w)
{
    free_rows(w);
    for (size_t i = 0; i < w->ncases; i++) {
        struct worth_case *c = &w->cases[i];
        free(c->row);
        *c = (struct worth_case){.case_id = c->case_id, .is_spam = c->is_spam};
    }
    memset(w->number, 0, w->days * sizeof(*w->number));
    memset(w->judged, 0, w->days * sizeof(*w->judged));
    memset(w->others, 0, w->days * sizeof(*w->others));
    w->newest = 0;
    w->first_s = 0;
    w->is_cut = false;
}

/* ---- reading ---- */

/* How many days before today a slot is; UINT64_MAX: it is of no day of the window. */
static uint64_t age_of(const struct worth *w, unsigned slot, uint64_t today)
{
    const uint64_t day = w->number[slot];

    return day != 0 && day <= today && today - day < w->days ? today - day : UINT64_MAX;
}

static void sum(const struct worth *w, const struct key *key, uint64_t today,
                struct worth_numbers *ret)
{
    const uint16_t slot = w->slot[key_slot(w, key)];

    *ret = (struct worth_numbers){.hits = 0};
    if (slot == 0) {
        return;
    }
    const struct row *row = w->rows[slot - 1];
    for (unsigned i = 0; i < w->days; i++) {
        const uint64_t age = age_of(w, i, today);
        const struct day *d = &row->day[i];
        if (age == UINT64_MAX) {
            continue;
        }
        ret->today += age == 0 ? d->hits : 0;
        ret->week += age < WORTH_WEEK ? d->hits : 0;
        ret->hits += d->hits;
        ret->scored += d->scored;
        ret->alone += d->alone;
        ret->spam += d->spam;
        ret->ham += d->ham;
    }
    ret->last_s = ret->hits > 0 ? row->last_s : 0;
}

void worth_of_rule(const struct worth *w, struct slice symbol, uint64_t today,
                   struct worth_numbers *ret)
{
    struct key key;

    key_of_rule(symbol, &key);
    sum(w, &key, today, ret);
}

void worth_of_list(const struct worth *w, struct slice list, struct slice origin,
                   uint64_t today, struct worth_numbers *ret)
{
    struct key key;

    key_of_list(list, origin, &key);
    sum(w, &key, today, ret);
}

void worth_totals(const struct worth *w, uint64_t today, struct worth_totals *ret)
{
    *ret = (struct worth_totals){.first_s = w->first_s, .is_cut = w->is_cut};
    for (unsigned i = 0; i < w->days; i++) {
        if (age_of(w, i, today) != UINT64_MAX) {
            ret->judged += w->judged[i];
            ret->others += w->others[i];
        }
    }
}
