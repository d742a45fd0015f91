/* shared_distinct - members from gillnetd's log into sets, and their numbers back. */
#include "core/hub/shared/shared_distinct.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/distinct_log.h"

enum {
    US_PER_S = 1000000,
    SET_MEMBERS = 256, /* of one command */
    KEY_BYTES = 8,
    OPEN_MAX = 4096 /* numbers that are asked for at a time */
};

struct member {
    struct distinct_triple t;
    uint32_t at_s;
    bool is_added;
};

/* An open question for the number of a set's members. */
struct asked {
    struct shared_distinct *d;
    uint64_t number;
};

struct shared_distinct {
    struct shared *shared;
    struct shared_view *view;
    struct distinct_reader *reader; /* NULL: closed */
    struct member *ring;            /* of SHARED_DISTINCT_MAX */
    uint64_t first;                 /* the oldest; places are modulo the size */
    uint64_t end;
    uint64_t next;        /* to be looked at */
    struct member *ready; /* of one turn */
    size_t nopen;
    struct shared_distinct_status status;
};

struct shared_distinct *shared_distinct_new(struct shared *shared,
                                            struct shared_view *view)
{
    struct shared_distinct *d = calloc(1, sizeof(*d));

    if (d == NULL) {
        return NULL;
    }
    d->shared = shared;
    d->view = view;
    d->ring = calloc(SHARED_DISTINCT_MAX, sizeof(d->ring[0]));
    d->ready = calloc(SHARED_DISTINCT_TURN, sizeof(d->ready[0]));
    if (d->ring == NULL || d->ready == NULL) {
        shared_distinct_free(&d);
    }
    return d;
}

void shared_distinct_free(struct shared_distinct **d)
{
    if (*d != NULL) {
        distinct_reader_free(&(*d)->reader);
        free((*d)->ring);
        free((*d)->ready);
        free(*d);
        *d = NULL;
    }
}

void shared_distinct_pause(struct shared_distinct *d)
{
    distinct_reader_free(&d->reader);
    d->first = d->next = d->end;
}

/* ---- what gillnetd met ---- */

static struct member *at(const struct shared_distinct *d, uint64_t i)
{
    return &d->ring[i % SHARED_DISTINCT_MAX];
}

static void take(void *context, const struct distinct_triple *t)
{
    struct shared_distinct *d = context;

    if (d->end - d->first == SHARED_DISTINCT_MAX) {
        d->status.dropped += !at(d, d->first)->is_added;
        d->first++;
    }
    *at(d, d->end++) =
        (struct member){.t = *t, .at_s = (uint32_t)(clock_wall_us() / US_PER_S)};
}

static void forget_old(struct shared_distinct *d)
{
    uint32_t now_s = (uint32_t)(clock_wall_us() / US_PER_S);

    while (d->first < d->end &&
           now_s - at(d, d->first)->at_s > SHARED_DISTINCT_WAIT_S) {
        d->first++;
    }
}

static void read_log(struct shared_distinct *d)
{
    const struct node *node = shared_node(d->shared);
    static struct clock_pace pace;
    struct errinfo why;

    if (d->reader == NULL) {
        d->reader = distinct_reader_new(node->state_dir, node->keys.ring[0].id);
    }
    if (d->reader != NULL && distinct_reader_look(d->reader, take, d, &why) != ERR_OK &&
        clock_take_turn(&pace, 600 * (uint64_t)US_PER_S)) {
        log_errinfo("store", &why);
    }
}

void shared_distinct_doubt(struct shared_distinct *d)
{
    for (uint64_t i = d->first; i < d->end; i++) {
        at(d, i)->is_added = false;
    }
}

/* ---- sets ---- */

static struct shared_name name_of_set(const struct shared_distinct *d, uint64_t number)
{
    char tag[8];
    char rest[32];

    (void)snprintf(tag, sizeof(tag), "%02x", shared_cell_of(number));
    (void)snprintf(rest, sizeof(rest), "u:%016llx", (unsigned long long)number);
    return shared_name(d->shared, tag, rest);
}

static bool call(struct shared_distinct *d, const struct slice *args, size_t nargs,
                 redis_answer_fn *answer, void *context)
{
    const struct redis_call c = {.key = args[1],
                                 .args = args,
                                 .nargs = nargs,
                                 .may_repeat = true,
                                 .answer = answer,
                                 .context = context};

    return redis_call(shared_redis(d->shared), &c) == ERR_OK;
}

static void on_added(void *context, const struct redis_answer *a)
{
    (void)context; /* what was lost is added again when the store answers */
    (void)a;
}

static void on_number(void *context, const struct redis_answer *a)
{
    struct asked *q = context;
    struct shared_distinct *d = q->d;

    d->nopen--;
    if (a->fault == REDIS_FAULT_NONE && a->reply != NULL &&
        a->reply->nodes[0].kind == RESP_INTEGER && a->reply->nodes[0].number > 0) {
        shared_view_number(d->view, q->number, (uint64_t)a->reply->nodes[0].number);
    }
    free(q);
}

static void ask_number(struct shared_distinct *d, uint64_t number)
{
    const struct shared_name name = name_of_set(d, number);
    char keep[16];
    struct asked *q = calloc(1, sizeof(*q));

    (void)snprintf(keep, sizeof(keep), "%d", SHARED_SET_KEEP_S);
    const struct slice expire[] = {SLICE_LIT("EXPIRE"), slice_str(name.text),
                                   slice_str(keep)};
    const struct slice count[] = {SLICE_LIT("PFCOUNT"), slice_str(name.text)};

    (void)call(d, expire, LENGTH(expire), on_added, NULL);
    if (q == NULL) {
        return;
    }
    *q = (struct asked){d, number};
    if (call(d, count, LENGTH(count), on_number, q)) {
        d->nopen++;
    } else {
        free(q);
    }
}

/* Members of one set. */
static void add_members(struct shared_distinct *d, const struct member *v, size_t n)
{
    const struct shared_name name = name_of_set(d, v[0].t.number);
    struct slice args[2 + SET_MEMBERS] = {SLICE_LIT("PFADD"), slice_str(name.text)};
    uint64_t bytes[SET_MEMBERS];

    for (size_t i = 0; i < n; i++) {
        bytes[i] = __builtin_bswap64(v[i].t.pair);
        args[2 + i] = slice_of((const char *)&bytes[i], KEY_BYTES);
    }
    (void)call(d, args, 2 + n, on_added, NULL);
    d->status.added += n;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct member *)a)->t.number;
    uint64_t y = ((const struct member *)b)->t.number;

    return x < y ? -1 : x > y;
}

static void add_ready(struct shared_distinct *d, size_t n)
{
    size_t end = 0;

    qsort(d->ready, n, sizeof(d->ready[0]), by_number);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && end - i < SET_MEMBERS &&
                          d->ready[end].t.number == d->ready[i].t.number;
             end++) {
        }
        add_members(d, &d->ready[i], end - i);
        if (end == n || d->ready[end].t.number != d->ready[i].t.number) {
            ask_number(d, d->ready[i].t.number);
        }
    }
}

/* Members of keys that have copies enough. Each turn looks at some, and begins again at the end. */
static size_t gather_ready(struct shared_distinct *d)
{
    uint64_t left = d->end - d->first;
    size_t n = 0;

    left = left < SHARED_DISTINCT_TURN ? left : SHARED_DISTINCT_TURN;
    for (; left > 0; left--) {
        if (d->next < d->first || d->next >= d->end) {
            d->next = d->first;
        }
        struct member *m = at(d, d->next++);
        if (!m->is_added &&
            shared_view_today(d->view, m->t.key) >= SHARED_DISTINCT_LEAST) {
            m->is_added = true;
            d->ready[n++] = *m;
        }
    }
    return n;
}

void shared_distinct_tick(struct shared_distinct *d)
{
    read_log(d);
    forget_old(d);
    if (d->nopen < OPEN_MAX) {
        add_ready(d, gather_ready(d));
    }
}

void shared_distinct_status(const struct shared_distinct *d,
                            struct shared_distinct_status *ret)
{
    *ret = d->status;
    ret->waiting = d->end - d->first;
}
