#include "core/hub/exchange/vote_publisher.h"

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/hub/exchange/record_publisher.h"
#include "core/report/report_log.h"
#include "core/report/vote_stream.h"
#include "core/report/votes.h"

enum { US_PER_S = 1000000, DAY_S = 86400, DROPPED_OF = 8 };

/* A report as it is sent. */
struct sent {
    uint64_t id;
    uint64_t time_s;
    uint64_t reporter;
    uint32_t first; /* item */
    uint8_t n;
    uint8_t voice; /* enum ballot_voice */
    bool is_spam;
};

struct sent_item {
    uint64_t digest;
    uint8_t proof;
};

struct sent_value {
    uint64_t digest;
    uint64_t known_s;
};

struct vote_publisher {
    struct node *node;
    uint64_t number; /* of the last entry read */
    uint64_t stamp;
    uint64_t compare_s; /* monotonic */
    uint64_t version;   /* of the manifest that was published under */
    bool is_dirty;
    struct sent *v; /* as in the log */
    size_t n;
    struct sent_item *items;
    size_t nitems;
    struct sent_value *listed;
    size_t nlisted;
    struct mirror_entry *wanted; /* VOTE_RECORDS_MAX of the last comparison */
    size_t nwanted;
};

enum { ITEMS_MAX = VOTE_RECORDS_MAX - 2 * VOTE_REPORTS_MAX - VOTE_LISTED_MAX };

struct vote_publisher *vote_publisher_new(struct node *node)
{
    struct vote_publisher *x = calloc(1, sizeof(*x));

    if (x == NULL) {
        return NULL;
    }
    x->node = node;
    x->v = calloc(VOTE_REPORTS_MAX, sizeof(*x->v));
    x->items = calloc(ITEMS_MAX, sizeof(*x->items));
    x->listed = calloc(VOTE_LISTED_MAX, sizeof(*x->listed));
    if (x->v == NULL || x->items == NULL || x->listed == NULL) {
        vote_publisher_free(&x);
    }
    return x;
}

void vote_publisher_free(struct vote_publisher **x)
{
    if (*x != NULL) {
        free((*x)->v);
        free((*x)->items);
        free((*x)->listed);
        free(*x);
        *x = NULL;
    }
}

/* ---- the log ---- */

static void drop_oldest(struct vote_publisher *x, size_t n)
{
    size_t nitems = n < x->n ? x->v[n].first : x->nitems;

    memmove(x->v, x->v + n, (x->n - n) * sizeof(*x->v));
    memmove(x->items, x->items + nitems, (x->nitems - nitems) * sizeof(*x->items));
    x->n -= n;
    x->nitems -= nitems;
    for (size_t i = 0; i < x->n; i++) {
        x->v[i].first -= (uint32_t)nitems;
    }
}

/* The reporter has given all that count of this day. */
static bool is_flooding(const struct vote_publisher *x, const struct sent *s)
{
    unsigned n = 0;

    for (size_t i = x->n; i-- > 0 && x->v[i].time_s / DAY_S == s->time_s / DAY_S;) {
        n += x->v[i].reporter == s->reporter;
    }
    return s->voice == BALLOT_PERSON && n >= TRUST_REPORTS_DAY;
}

static bool has_item(const struct vote_publisher *x, const struct sent *s,
                     uint64_t digest)
{
    for (size_t i = 0; i < s->n; i++) {
        if (x->items[s->first + i].digest == digest) {
            return true;
        }
    }
    return false;
}

static enum ballot_voice voice_of(struct slice reporter)
{
    if (slice_eq(reporter, SLICE_LIT(REPORT_ADMINISTRATOR))) {
        return BALLOT_ADMIN;
    }
    return slice_eq(reporter, SLICE_LIT(REPORT_TRAP)) ? BALLOT_TRAP : BALLOT_PERSON;
}

static void add_report(struct vote_publisher *x, const struct report *r)
{
    struct sent s = {.id = r->id,
                     .time_s = r->time_s,
                     .reporter = trust_reporter(&x->node->keys.ring[0], r->reporter),
                     .voice = (uint8_t)voice_of(r->reporter),
                     .is_spam = r->is_spam};

    if (r->id == 0 || is_flooding(x, &s)) {
        return;
    }
    if (x->n == VOTE_REPORTS_MAX || x->nitems + VOTE_ITEMS_MAX > ITEMS_MAX) {
        drop_oldest(x, x->n / DROPPED_OF + 1);
    }
    s.first = (uint32_t)x->nitems;
    for (size_t i = 0; i < r->nitems && s.n < VOTE_ITEMS_MAX; i++) {
        const struct report_item *item = &r->items[i];
        if ((item->proof != REPORT_NO_PROOF || report_is_proved_by(item->type)) &&
            item->proof <= REPORT_EXACT && !has_item(x, &s, item->digest)) {
            x->items[x->nitems++] = (struct sent_item){item->digest, item->proof};
            s.n++;
        }
    }
    if (s.n > 0) {
        x->v[x->n++] = s;
    }
}

/* The items stay and are not sent. */
static void take_report(struct vote_publisher *x, uint64_t id)
{
    for (size_t i = x->n; i-- > 0;) {
        if (x->v[i].id == id) {
            x->v[i].id = 0;
            return;
        }
    }
}

static void drop_value(struct vote_publisher *x, uint64_t digest)
{
    size_t n = 0;

    for (size_t i = 0; i < x->nlisted; i++) {
        if (x->listed[i].digest != digest) {
            x->listed[n++] = x->listed[i];
        }
    }
    x->nlisted = n;
}

static void set_value(struct vote_publisher *x, uint64_t digest, const struct report *r)
{
    drop_value(x, digest);
    if (x->nlisted == VOTE_LISTED_MAX) {
        x->nlisted -= VOTE_LISTED_MAX / DROPPED_OF;
        memmove(x->listed, x->listed + VOTE_LISTED_MAX / DROPPED_OF,
                x->nlisted * sizeof(*x->listed));
    }
    if (r->is_spam) {
        x->listed[x->nlisted++] = (struct sent_value){digest, r->known_s};
    }
}

static bool note_entry(void *context, const struct report *r)
{
    struct vote_publisher *x = context;

    if (r->number <= x->number) {
        return true;
    }
    x->number = r->number;
    if (r->entry == REPORT_GIVEN) {
        add_report(x, r);
    } else if (r->entry == REPORT_UNDONE) {
        take_report(x, r->id);
    } else if (r->entry == REPORT_LISTED) {
        for (size_t i = 0; i < r->nitems && i < KEYRING_MAX; i++) {
            set_value(x, r->items[i].digest, r);
        }
    }
    return true;
}

static enum err read_reports(struct vote_publisher *x, struct errinfo *reterr)
{
    uint64_t stamp = report_log_stamp(x->node->state_dir);

    if (stamp == x->stamp) {
        return ERR_OK;
    }
    enum err e =
        report_log_after(x->node->state_dir, x->number, note_entry, x, NULL, reterr);

    if (e == ERR_OK) {
        x->stamp = stamp;
        x->is_dirty = true;
    }
    return e;
}

/* ---- what the stream is to have ---- */

static void want(struct vote_publisher *x, const struct vote_record *r, uint64_t now_s)
{
    if (r->time_s + VOTE_TRAVEL_S > now_s) {
        vote_record_print(r, &x->wanted[x->nwanted++]);
    }
}

static void want_report(struct vote_publisher *x, const struct sent *s, uint64_t now_s)
{
    bool is_own = x->node->manifest.kind == RING_OWN;
    unsigned voice = is_own ? s->voice : BALLOT_PERSON;
    struct vote_record r = {.id = s->id,
                            .value = is_own ? s->reporter : 0,
                            .type = (uint16_t)(VOTE_REPORT + 2 * voice + s->is_spam),
                            .nitems = s->n,
                            .time_s = s->time_s};

    if (s->id == 0 || !(is_own || s->is_spam)) {
        return;
    }
    want(x, &r, now_s);
    r.nitems = 0;
    r.type = VOTE_TIME;
    r.value = s->time_s;
    want(x, &r, now_s);
    for (size_t i = 0; i < s->n; i++) {
        const struct sent_item *item = &x->items[s->first + i];
        r.value = item->digest;
        r.type = (uint16_t)(VOTE_ITEM + item->proof);
        want(x, &r, now_s);
    }
}

static int by_digest(const void *a, const void *b)
{
    const struct mirror_entry *x = a;
    const struct mirror_entry *y = b;

    return digest_cmp(&x->digest, &y->digest);
}

static void make_wanted(struct vote_publisher *x, uint64_t now_s)
{
    size_t n = 0;

    x->nwanted = 0;
    for (size_t i = 0; i < x->n; i++) {
        want_report(x, &x->v[i], now_s);
    }
    for (size_t i = 0; i < x->nlisted && x->node->manifest.kind == RING_OWN; i++) {
        want(x,
             &(struct vote_record){.id = x->listed[i].known_s,
                                   .value = x->listed[i].digest,
                                   .type = VOTE_LISTED,
                                   .time_s = x->listed[i].known_s},
             now_s);
    }
    qsort(x->wanted, x->nwanted, sizeof(*x->wanted), by_digest);
    for (size_t i = 0; i < x->nwanted; i++) { /* digests rise strictly */
        if (n == 0 || by_digest(&x->wanted[n - 1], &x->wanted[i]) != 0) {
            x->wanted[n++] = x->wanted[i];
        }
    }
    x->nwanted = n;
}

static enum err publish(struct vote_publisher *x, struct errinfo *reterr)
{
    make_wanted(x, clock_wall_us() / US_PER_S);
    const struct records_wanted wanted = {LIST_VOTES, x->wanted, x->nwanted};
    return records_publish(x->node->sync, &wanted, &x->is_dirty, reterr);
}

static bool is_time(const struct vote_publisher *x, uint64_t mono_s)
{
    return x->is_dirty || mono_s >= x->compare_s ||
           x->version != x->node->manifest.version;
}

static enum err publish_changes(struct vote_publisher *x, uint64_t mono_s,
                                struct errinfo *reterr)
{
    x->wanted = calloc(VOTE_RECORDS_MAX, sizeof(*x->wanted));
    x->is_dirty = false;
    enum err e =
        x->wanted != NULL ? publish(x, reterr) : errinfo_nomem(reterr, "votes");

    free(x->wanted);
    x->wanted = NULL;
    x->compare_s = mono_s + VOTE_PUBLISHER_COMPARE_S;
    x->version = x->node->manifest.version;
    x->is_dirty = x->is_dirty || e != ERR_OK;
    return e == ERR_EXISTS ? ERR_OK
                           : e; /* an object that was signed before went first */
}

enum err vote_publisher_tick(struct vote_publisher *x, struct errinfo *reterr)
{
    uint64_t mono_s = clock_mono_us() / US_PER_S;

    if (x == NULL || !sync_is_ring_key(x->node->sync, x->node->keys.ring[0].id) ||
        sync_is_busy_with(x->node->sync, LIST_VOTES)) {
        return ERR_OK; /* without the ring's key nobody could look votes up */
    }
    enum err e = read_reports(x, reterr);

    if (e == ERR_OK && is_time(x, mono_s)) {
        sync_use_list_key(x->node->sync, x->node->keys.ring[0].id);
        e = publish_changes(x, mono_s, reterr);
        sync_use_list_key(x->node->sync, 0);
    }
    return e;
}
