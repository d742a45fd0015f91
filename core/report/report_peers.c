#include "core/report/report_peers.h"

#include "core/base/array.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/le.h"
#include "core/list/changes_poll.h"
#include "core/report/vote_stream.h"
#include "core/store/origins.h"

/* Notes about a server, by rising name. */
struct noted {
    uint64_t *v;
    size_t n;
    size_t room;
};

struct server {
    uint8_t origin[ORIGIN_BYTES];
    bool is_full; /* of our owner */
    bool is_there;
    struct list_reader *reader; /* NULL: there is no list yet */
    struct list_cursor seen;
    struct noted reports; /* numbers of votes_foreign */
    struct noted listed;  /* digests */
};

/* A report or a listed value that waits. */
struct waiting {
    struct votes_foreign report; /* number 0: a listed value, known since time_s */
    uint64_t value;
    size_t first; /* item */
};

struct report_peers {
    char state_dir[FILE_PATH_MAX];
    const struct keyring *keys;
    struct votes *votes;
    struct server *servers;
    size_t nservers;
    size_t servers_room;
    struct waiting *waiting; /* by time */
    size_t nwaiting;
    size_t waiting_room;
    size_t next;
    struct report_item *items; /* of all that wait */
    size_t nitems;
    size_t items_room;
};

enum { WAITING_MAX = ORIGINS_MAX * (VOTE_REPORTS_MAX + VOTE_LISTED_MAX) };

struct report_peers *report_peers_new(const char *state_dir, const struct keyring *keys,
                                      struct votes *votes)
{
    struct report_peers *p = calloc(1, sizeof(*p));

    if (p == NULL || path_make(p->state_dir, NULL, "%s", state_dir) != ERR_OK) {
        free(p);
        return NULL;
    }
    p->keys = keys;
    p->votes = votes;
    return p;
}

static void end_server(struct server *s)
{
    list_reader_close(&s->reader);
    free(s->reports.v);
    free(s->listed.v);
}

void report_peers_free(struct report_peers **p)
{
    if (*p != NULL) {
        for (size_t i = 0; i < (*p)->nservers; i++) {
            end_server(&(*p)->servers[i]);
        }
        free((*p)->servers);
        free((*p)->waiting);
        free((*p)->items);
        free(*p);
        *p = NULL;
    }
}

/* ---- one server's list ---- */

/* Of a report, the same after each start. */
static uint64_t number_of(const struct server *s, uint64_t id)
{
    char bytes[ORIGIN_BYTES + sizeof(id)];
    struct hash256 h;
    uint64_t number;

    memcpy(bytes, s->origin, ORIGIN_BYTES);
    le_put(bytes + ORIGIN_BYTES, id, sizeof(id));
    hash256_of(slice_of(bytes, sizeof(bytes)), &h);
    memcpy(&number, &h, sizeof(number));
    return (number & (VOTES_FOREIGN - 1)) | VOTES_FOREIGN;
}

static bool add_number(struct noted *n, size_t most, uint64_t number)
{
    if (!array_room(&n->v, &n->room, n->n + 1, most, sizeof(*n->v))) {
        return false;
    }
    n->v[n->n++] = number;
    return true;
}

static bool has_number(const struct noted *n, uint64_t number)
{
    return n->n > 0 &&
           bsearch(&number, n->v, n->n, sizeof(*n->v), array_u64_cmp) != NULL;
}

static void sort_numbers(struct noted *n)
{
    if (n->n > 1) {
        qsort(n->v, n->n, sizeof(*n->v), array_u64_cmp);
    }
}

/* Those of `from` that `to` lacks stay in `from`. */
static void keep_missing(struct noted *from, const struct noted *to)
{
    size_t n = 0;

    for (size_t i = 0; i < from->n; i++) {
        if (!has_number(to, from->v[i])) {
            from->v[n++] = from->v[i];
        }
    }
    from->n = n;
}

/* A walk over the records of one server. */
struct walk {
    struct report_peers *p;
    struct server *s;
    struct noted reports;
    struct noted listed;
    size_t records;
    uint64_t now_s;
    uint64_t id; /* of the report under way */
    struct waiting w;
    bool has_report; /* who reported is known */
    bool has_time;
    size_t wanted; /* its items */
};

static bool make_waiting(struct report_peers *p)
{
    return array_room(&p->waiting, &p->waiting_room, p->nwaiting + 1, WAITING_MAX,
                      sizeof(*p->waiting));
}

/* Takes the items of the report under way away again, unless the report is new and holds. */
static void end_report(struct walk *x)
{
    struct report_peers *p = x->p;
    struct waiting *w = &x->w;
    bool is_taken = x->has_report && x->has_time && w->report.n == x->wanted &&
                    (x->s->is_full || w->report.is_spam) &&
                    add_number(&x->reports, VOTE_REPORTS_MAX, w->report.number);

    if (is_taken && !has_number(&x->s->reports, w->report.number) && make_waiting(p)) {
        p->waiting[p->nwaiting++] = *w;
    } else {
        p->nitems = w->first;
    }
}

static void begin_report(struct walk *x, uint64_t id)
{
    if (x->id != 0) {
        end_report(x);
    }
    x->id = id;
    x->has_report = false;
    x->has_time = false;
    x->w = (struct waiting){.first = x->p->nitems};
    x->w.report.number = number_of(x->s, id);
}

/* A clock may be ahead. */
static uint64_t in_the_past(const struct walk *x, uint64_t time_s)
{
    return time_s < x->now_s ? time_s : x->now_s;
}

static void take_reporter(struct walk *x, const struct vote_record *r)
{
    struct votes_foreign *f = &x->w.report;
    unsigned kind = r->type - (unsigned)VOTE_REPORT;

    x->has_report = true;
    x->wanted = r->nitems;
    f->is_spam = (kind & 1U) != 0;
    f->voice = x->s->is_full ? (enum ballot_voice)(kind / 2) : BALLOT_PEER;
    f->reporter = x->s->is_full ? r->value : le_get(x->s->origin, sizeof(f->reporter));
}

static void take_item(struct walk *x, const struct vote_record *r)
{
    struct report_peers *p = x->p;

    if (x->w.report.n < VOTE_ITEMS_MAX &&
        array_room(&p->items, &p->items_room, p->nitems + 1,
                   (size_t)ORIGINS_MAX * VOTE_RECORDS_MAX, sizeof(*p->items))) {
        p->items[p->nitems++] = (struct report_item){
            .digest = r->value, .proof = (uint8_t)(r->type - VOTE_ITEM)};
        x->w.report.n++;
    }
}

static void take_listed(struct walk *x, const struct vote_record *r)
{
    struct report_peers *p = x->p;

    if (x->s->is_full && add_number(&x->listed, VOTE_LISTED_MAX, r->value) &&
        !has_number(&x->s->listed, r->value) && make_waiting(p)) {
        p->waiting[p->nwaiting++] = (struct waiting){
            .value = r->value, .report = {.time_s = in_the_past(x, r->id)}};
    }
}

static void take_record(struct walk *x, const struct mirror_entry *e)
{
    struct vote_record r;

    if (!vote_record_parse(e, &r)) {
        return;
    }
    if (r.type == VOTE_LISTED) {
        take_listed(x, &r);
        return;
    }
    if (r.id != x->id) {
        begin_report(x, r.id);
    }
    if (r.type == VOTE_TIME) {
        x->w.report.time_s = in_the_past(x, r.value);
        x->has_time = true;
    } else if (r.type >= VOTE_REPORT) {
        take_reporter(x, &r);
    } else {
        take_item(x, &r);
    }
}

static void note_listed(struct report_peers *p, uint64_t value, bool is_listed,
                        uint64_t known_s, uint64_t now_s)
{
    struct report *r = calloc(1, sizeof(*r));

    if (r != NULL) {
        r->entry = REPORT_LISTED;
        r->is_spam = is_listed;
        r->known_s = known_s;
        r->time_s = now_s;
        r->items[r->nitems++] = (struct report_item){.digest = value};
        votes_note(p->votes, r);
    }
    free(r);
}

static void take_gone(struct report_peers *p, struct server *s, uint64_t now_s)
{
    votes_take_foreign(p->votes, s->reports.v, s->reports.n);
    for (size_t i = 0; i < s->listed.n; i++) {
        note_listed(p, s->listed.v[i], false, 0, now_s);
    }
}

/* The walk gave all that the server says now. */
static void end_walk(struct walk *x)
{
    struct server *s = x->s;

    sort_numbers(&x->reports);
    sort_numbers(&x->listed);
    keep_missing(&s->reports, &x->reports);
    keep_missing(&s->listed, &x->listed);
    take_gone(x->p, s, x->now_s);
    free(s->reports.v);
    free(s->listed.v);
    s->reports = x->reports;
    s->listed = x->listed;
}

static void read_server(struct report_peers *p, struct server *s, uint64_t now_s)
{
    struct walk x = {.p = p, .s = s, .now_s = now_s};
    size_t nwaiting = p->nwaiting;
    size_t nitems = p->nitems;
    struct mirror_iter *walk = NULL;
    struct mirror_entry e;
    enum err failed = mirror_iter_of_reader(s->reader, now_s, &walk, NULL);

    while (failed == ERR_OK && x.records++ < VOTE_RECORDS_MAX &&
           mirror_iter_next(walk, &e, &failed)) {
        take_record(&x, &e);
    }
    mirror_iter_free(&walk);
    if (x.id != 0) {
        end_report(&x);
    }
    if (failed == ERR_OK) {
        end_walk(&x);
        return;
    }
    p->nwaiting = nwaiting;
    p->nitems = nitems;
    free(x.reports.v);
    free(x.listed.v);
}

/* ---- the servers ---- */

static struct server *find_server(struct report_peers *p, const uint8_t *origin)
{
    for (size_t i = 0; i < p->nservers; i++) {
        if (memcmp(p->servers[i].origin, origin, ORIGIN_BYTES) == 0) {
            return &p->servers[i];
        }
    }
    if (!array_room(&p->servers, &p->servers_room, p->nservers + 1, ORIGINS_MAX,
                    sizeof(*p->servers))) {
        return NULL;
    }
    struct server *s = &p->servers[p->nservers++];
    *s = (struct server){.is_there = false};
    memcpy(s->origin, origin, ORIGIN_BYTES);
    return s;
}

static bool speaks_fully(const struct origins *o, const struct origin_row *row,
                         const struct config *config)
{
    return o->quorum == 0 && row->cap == ORIGIN_NO_CAP && config->peers.cap == 0 &&
           config->peers.quorum == 0 &&
           config_peer_weight(config, slice_str(row->name)) >= 1;
}

/* A member of the ring that has a voice. Publishers that are followed have no counts and no
 * votes. */
static bool has_voice(const struct origins *o, const struct origin_row *row,
                      const struct config *config)
{
    return row->state == ORIGIN_ACTIVE && row->cap > 0 && origin_is_own(row) &&
           memcmp(row->origin, o->self, ORIGIN_BYTES) != 0 &&
           config_peer_weight(config, slice_str(row->name)) > 0;
}

/* Forgets all that a server said, because it said it in another voice or has none now. */
static void drop_server(struct report_peers *p, struct server *s, uint64_t now_s)
{
    take_gone(p, s, now_s);
    end_server(s);
    s->reader = NULL;
    s->seen = (struct list_cursor){0};
    s->reports = (struct noted){NULL, 0, 0};
    s->listed = (struct noted){NULL, 0, 0};
}

static void look_at_server(struct report_peers *p, struct server *s, uint64_t now_s)
{
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];

    hex_print(s->origin, ORIGIN_BYTES, hex);
    if (path_make(folder, NULL, "%s/peers/lists/%s", p->state_dir, hex) == ERR_OK &&
        list_changes_poll(folder, SLICE_LIT(LIST_VOTES), p->keys, &s->reader, &s->seen,
                          NULL) == ERR_OK &&
        s->seen.is_changed && s->reader != NULL) {
        read_server(p, s, now_s);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct waiting *x = a;
    const struct waiting *y = b;

    if (x->report.time_s != y->report.time_s) {
        return x->report.time_s < y->report.time_s ? -1 : 1;
    }
    return x->report.number < y->report.number ? -1
                                               : x->report.number > y->report.number;
}

void report_peers_look(struct report_peers *p, const struct config *config,
                       uint64_t now_s)
{
    struct origins o = {.n = 0};
    enum err e = origins_read(p->state_dir, &o, NULL);

    if (e != ERR_OK && (e != ERR_NOT_FOUND || p->nservers == 0)) {
        return;
    }
    for (size_t i = 0; i < p->nservers; i++) {
        p->servers[i].is_there = false;
    }
    for (unsigned i = 0; i < o.n; i++) {
        struct server *s =
            has_voice(&o, &o.v[i], config) ? find_server(p, o.v[i].origin) : NULL;
        if (s != NULL) {
            bool is_full = speaks_fully(&o, &o.v[i], config);
            if (s->is_full != is_full) {
                drop_server(p, s, now_s);
            }
            s->is_full = is_full;
            s->is_there = true;
            look_at_server(p, s, now_s);
        }
    }
    for (size_t i = 0; i < p->nservers; i++) {
        if (!p->servers[i].is_there) {
            drop_server(p, &p->servers[i], now_s);
        }
    }
    origins_fini(&o);
    if (p->nwaiting > 1) {
        qsort(p->waiting, p->nwaiting, sizeof(*p->waiting), by_time);
    }
}

void report_peers_until(struct report_peers *p, uint64_t time_s)
{
    while (p->next < p->nwaiting && p->waiting[p->next].report.time_s <= time_s) {
        struct waiting *w = &p->waiting[p->next++];
        if (w->report.number == 0) {
            note_listed(p, w->value, true, w->report.time_s, w->report.time_s);
        } else {
            w->report.items = p->items + w->first;
            (void)votes_note_foreign(p->votes, &w->report);
        }
    }
    if (p->next == p->nwaiting && p->nwaiting > 0) {
        free(p->waiting);
        free(p->items);
        p->waiting = NULL;
        p->items = NULL;
        p->next = p->nwaiting = p->waiting_room = 0;
        p->nitems = p->items_room = 0;
    }
}

size_t report_peers_count(const struct report_peers *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->nservers; i++) {
        n += p->servers[i].reports.n;
    }
    return n;
}
