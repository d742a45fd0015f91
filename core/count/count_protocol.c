/* count_protocol - counts asked for over gillnetd's control socket. */
#include "core/count/count_protocol.h"

#include "core/base/hash256.h"

/* KEYS, and for each item a blank, two digests, "+", "=" and 20 digits, fit a request. */
_Static_assert(COUNT_WIRE_ITEMS *(2 * 2 * DIGEST_BYTES + 23) + 64 <=
                   COUNT_WIRE_REQUEST_MAX,
               "raise COUNT_WIRE_REQUEST_MAX");
_Static_assert(COUNT_WIRE_ITEMS *(COUNT_WINDOWS * 21) + 64 <= COUNT_WIRE_ANSWER_MAX,
               "raise COUNT_WIRE_ANSWER_MAX");
/* Our own history, then for each origin its digits and name, and 9 numbers. */
_Static_assert((COUNT_BUCKETS + COUNT_DAYS + 8) * 21 +
                       COUNT_ROWS_MAX *
                           (2 * ORIGIN_BYTES + ORIGIN_NAME_MAX + 9 * 21 + 8) <=
                   COUNT_WIRE_ANSWER_MAX,
               "raise COUNT_WIRE_ANSWER_MAX");

/* ---- numbers and digests ---- */

/* As many digests as there are digest keys, with "+" between. */
static bool read_digests(struct slice text, unsigned n, struct digest ret[KEYRING_MAX])
{
    for (unsigned i = 0; i < n; i++) {
        bool is_last = i + 1 == n;
        struct slice one = is_last ? text : slice_cut(&text, '+');

        if (!hex_parse_lower(one, ret[i].b, DIGEST_BYTES)) {
            return false;
        }
    }
    return true;
}

static void put_digests(const struct digest *digest, unsigned n, struct buf *ret)
{
    char hex[2 * DIGEST_BYTES + 1];

    for (unsigned i = 0; i < n; i++) {
        hex_print(digest[i].b, DIGEST_BYTES, hex);
        buf_printf(ret, "%s%s", i == 0 ? "" : "+", hex);
    }
}

static void put_keys(const struct keyring *keys, struct buf *ret)
{
    for (unsigned i = 0; i < keys->n; i++) {
        buf_printf(ret, "%s%08" PRIx32, i == 0 ? "" : "+", keys->ring[i].id);
    }
}

/* ---- who asks ---- */

void count_wire_batch(const struct keyring *keys, const struct count_item *items,
                      size_t n, struct buf *ret)
{
    buf_add_str(ret, "count-batch ");
    put_keys(keys, ret);
    for (size_t i = 0; i < n; i++) {
        buf_add_char(ret, ' ');
        put_digests(items[i].digest, keys->n, ret);
        buf_printf(ret, "=%" PRIu64, items[i].amount);
    }
}

static void ask_one(const char *what, const struct keyring *keys,
                    const struct digest digest[KEYRING_MAX], struct buf *ret)
{
    buf_add_str(ret, what);
    put_keys(keys, ret);
    buf_add_char(ret, ' ');
    put_digests(digest, keys->n, ret);
}

void count_wire_exact(const struct keyring *keys,
                      const struct digest digest[KEYRING_MAX], struct buf *ret)
{
    ask_one("count-exact ", keys, digest, ret);
}

void count_wire_shares(const struct keyring *keys,
                       const struct digest digest[KEYRING_MAX], struct buf *ret)
{
    ask_one("count-shares ", keys, digest, ret);
}

void count_wire_called(const struct keyring *keys,
                       const struct digest digest[KEYRING_MAX], uint64_t from_s,
                       uint64_t to_s, struct buf *ret)
{
    buf_add_str(ret, "count-called ");
    put_keys(keys, ret);
    buf_printf(ret, " %" PRIu64 " %" PRIu64 " ", from_s, to_s);
    put_digests(digest, keys->n, ret);
}

/* n numbers with blanks between and nothing behind. */
static bool read_row(struct slice line, uint64_t *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_last = i + 1 == n;

        if (!slice_to_u64(is_last ? line : slice_cut(&line, ' '), 10, UINT64_MAX,
                          &ret[i])) {
            return false;
        }
    }
    return true;
}

/* An answer that was cut has no last line's end: a number could lack digits. */
static bool read_ok(struct slice *answer)
{
    return answer->n > 0 && answer->p[answer->n - 1] == '\n' &&
           slice_eq(slice_cut(answer, '\n'), SLICE_LIT("ok"));
}

bool count_wire_values(struct slice answer, struct count_item *items, size_t n)
{
    if (!read_ok(&answer)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!read_row(slice_cut(&answer, '\n'), items[i].value.w, COUNT_WINDOWS)) {
            return false;
        }
    }
    return answer.n == 0;
}

bool count_wire_read_called(struct slice answer, struct count_called *ret)
{
    uint64_t row[3];

    if (!read_ok(&answer) || !read_row(slice_cut(&answer, '\n'), row, LENGTH(row))) {
        return false;
    }
    *ret = (struct count_called){row[0], row[1], row[2] != 0};
    return answer.n == 0;
}

/* A line "NAME N...". */
static bool read_named(struct slice *answer, const char *name, uint64_t *ret, size_t n)
{
    struct slice line = slice_cut(answer, '\n');

    return slice_eq(slice_cut(&line, ' '), slice_str(name)) && read_row(line, ret, n);
}

static bool read_history(struct slice *answer, struct count_history *ret)
{
    uint64_t ndamaged = 0;

    if (!read_ok(answer) || !read_named(answer, "now", &ret->now, 1) ||
        !read_named(answer, "first", &ret->first_s, 1) ||
        !read_named(answer, "last", &ret->last_s, 1) ||
        !read_named(answer, "damaged", &ndamaged, 1) || ndamaged > RUNSET_RUNS_MAX ||
        !read_named(answer, "buckets", ret->bucket, COUNT_BUCKETS + 1) ||
        !read_named(answer, "days", ret->day, COUNT_DAYS + 1)) {
        return false;
    }
    ret->ndamaged = (unsigned)ndamaged;
    return true;
}

bool count_wire_history(struct slice answer, struct count_history *ret)
{
    return read_history(&answer, ret) && answer.n == 0;
}

enum {
    PEER_NUMBERS = 8,
    PEER_FIRST = 0,
    PEER_LAST,
    PEER_DAMAGED,
    PEER_AGE,
    PEER_WINDOWS
};

/* Reads "peer ORIGIN NAME CAP" and the numbers behind it. */
static bool read_peer(struct slice line, struct origin_row *ret,
                      uint64_t retnumbers[PEER_NUMBERS])
{
    *ret = (struct origin_row){.state = ORIGIN_ACTIVE};
    bool is_peer = slice_eq(slice_cut(&line, ' '), SLICE_LIT("peer"));
    struct slice origin = slice_cut(&line, ' ');
    struct slice name = slice_cut(&line, ' ');
    struct slice cap = slice_cut(&line, ' ');

    if (!is_peer || !hex_parse(origin, ret->origin, ORIGIN_BYTES) || name.n == 0 ||
        name.n > ORIGIN_NAME_MAX || !slice_to_u64(cap, 10, UINT64_MAX, &ret->cap) ||
        !read_row(line, retnumbers, PEER_NUMBERS) ||
        retnumbers[PEER_DAMAGED] > RUNSET_RUNS_MAX) {
        return false;
    }
    memcpy(ret->name, name.p, name.n);
    return true;
}

/* Reads the lines twice: first the origins, then their counts. */
static bool read_peers(struct slice answer, struct count_breakdown *ret)
{
    struct origin_row rows[COUNT_ROWS_MAX];
    struct origins o = {.quorum = ret->quorum, .v = rows, .n = 0};
    uint64_t numbers[PEER_NUMBERS];

    for (struct slice rest = answer; rest.n > 0;) {
        if (o.n == COUNT_ROWS_MAX ||
            !read_peer(slice_cut(&rest, '\n'), &rows[o.n++], numbers)) {
            return false;
        }
    }
    memset(o.self, 0, sizeof(o.self));
    if (!count_breakdown_set_origins(ret, &o)) {
        return false;
    }
    while (answer.n > 0) {
        struct origin_row row;
        (void)read_peer(slice_cut(&answer, '\n'), &row, numbers);
        struct count_part *s = numbers[PEER_WINDOWS + COUNT_14D] > 0 ||
                                       numbers[PEER_WINDOWS + COUNT_1D] > 0
                                   ? count_breakdown_of(ret, row.origin)
                                   : NULL;
        if (s != NULL) {
            s->history.first_s = numbers[PEER_FIRST];
            s->history.last_s = numbers[PEER_LAST];
            s->history.ndamaged = (unsigned)numbers[PEER_DAMAGED];
            s->age_s = numbers[PEER_AGE];
            memcpy(s->w, &numbers[PEER_WINDOWS], sizeof(s->w));
        }
    }
    return true;
}

bool count_wire_read_shares(struct slice answer, struct count_breakdown *ret)
{
    uint64_t quorum = 0;

    if (!count_breakdown_init(ret, 0)) {
        return false;
    }
    bool ok = read_history(&answer, &ret->v[0].history) &&
              read_named(&answer, "quorum", &quorum, 1) && quorum <= ORIGINS_MAX;
    count_history_windows(&ret->v[0].history, ret->v[0].w);
    ret->quorum = (unsigned)quorum;
    ok = ok && read_peers(answer, ret);
    if (!ok) {
        count_breakdown_fini(ret);
    }
    return ok;
}

/* ---- who answers ---- */

static void refuse_request(struct buf *ret, const char *why)
{
    buf_printf(ret, "error %s\n", why);
}

static void put_row(const uint64_t *v, size_t n, struct buf *ret)
{
    for (size_t i = 0; i < n; i++) {
        buf_printf(ret, "%s%" PRIu64, i == 0 ? "" : " ", v[i]);
    }
    buf_add_char(ret, '\n');
}

static void answer_batch(struct slice rest, const struct count_port *port,
                         const struct keyring *keys, struct buf *ret)
{
    struct count_item items[COUNT_WIRE_ITEMS];
    size_t n = 0;

    while (rest.n > 0) {
        struct slice text = slice_cut(&rest, ' ');
        struct slice digests = slice_cut(&text, '=');

        if (n == COUNT_WIRE_ITEMS) {
            refuse_request(ret, "a request may have at most 256 keys");
            return;
        }
        memset(&items[n], 0, sizeof(items[n]));
        if (!read_digests(digests, keys->n, items[n].digest) ||
            !slice_to_u64(text, 10, UINT64_MAX, &items[n].amount) ||
            items[n].amount > COUNT_WIRE_AMOUNT_MAX) {
            refuse_request(
                ret, "a key is DIGEST=AMOUNT, a digest has 32 hexadecimal digits, an "
                     "amount is at most 1000000");
            return;
        }
        n++;
    }
    port->batch(port->context, items, n);
    buf_add_str(ret, "ok\n");
    for (size_t i = 0; i < n; i++) {
        put_row(items[i].value.w, COUNT_WINDOWS, ret);
    }
}

static void put_history(const struct count_history *h, struct buf *ret)
{
    buf_printf(ret,
               "ok\nnow %" PRIu64 "\nfirst %" PRIu64 "\nlast %" PRIu64
               "\ndamaged %u\nbuckets ",
               h->now, h->first_s, h->last_s, h->ndamaged);
    put_row(h->bucket, COUNT_BUCKETS + 1, ret);
    buf_add_str(ret, "days ");
    put_row(h->day, COUNT_DAYS + 1, ret);
}

static void put_peer(const struct origin_row *row, const struct count_part *share,
                     struct buf *ret)
{
    static const struct count_part none;
    const struct count_part *s = share != NULL ? share : &none;
    char hex[2 * ORIGIN_BYTES + 1];

    hex_print(row->origin, ORIGIN_BYTES, hex);
    buf_printf(ret, "peer %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64 " ",
               hex, row->name, row->cap, s->history.first_s, s->history.last_s,
               s->history.ndamaged, s->age_s);
    put_row(s->w, COUNT_WINDOWS, ret);
}

static void put_shares(const struct count_breakdown *s, struct buf *ret)
{
    put_history(&s->v[0].history, ret);
    buf_printf(ret, "quorum %u\n", s->quorum);
    for (unsigned i = 0; i < s->npeers; i++) {
        const struct count_part *share = NULL;
        for (unsigned k = 1; k < s->n; k++) {
            share = s->v[k].origin == &s->rows[i] ? &s->v[k] : share;
        }
        put_peer(&s->rows[i], share, ret);
    }
}

static void answer_exact(struct slice rest, const struct count_port *port,
                         const struct keyring *keys, bool with_shares, struct buf *ret)
{
    struct digest digest[KEYRING_MAX];
    struct count_breakdown shares = {.n = 0};
    struct count_history h;

    memset(digest, 0, sizeof(digest));
    memset(&h, 0, sizeof(h));
    if (!read_digests(rest, keys->n, digest)) {
        refuse_request(ret, "name one key: a digest has 32 hexadecimal digits");
        return;
    }
    if (with_shares && port->shares != NULL) {
        port->shares(port->context, digest, &shares);
    }
    if (shares.n > 0) {
        put_shares(&shares, ret);
    } else {
        port->exact(port->context, digest, &h);
        put_history(&h, ret);
        buf_add_str(ret, with_shares ? "quorum 0\n" : "");
    }
    count_breakdown_fini(&shares);
}

static void answer_called(struct slice rest, const struct count_port *port,
                          const struct keyring *keys, struct buf *ret)
{
    struct slice from = slice_cut(&rest, ' ');
    struct slice to = slice_cut(&rest, ' ');
    struct digest digest[KEYRING_MAX];
    struct count_called called = {.spam = 0};
    uint64_t from_s = 0;
    uint64_t to_s = 0;

    memset(digest, 0, sizeof(digest));
    if (!slice_to_u64(from, 10, UINT64_MAX, &from_s) ||
        !slice_to_u64(to, 10, UINT64_MAX, &to_s) ||
        !read_digests(rest, keys->n, digest)) {
        refuse_request(ret, "name two times and one key");
        return;
    }
    if (port->called != NULL) {
        port->called(port->called_context, digest, from_s, to_s, &called);
    }
    buf_printf(ret, "ok\n%" PRIu64 " %" PRIu64 " %d\n", called.spam, called.good,
               (int)called.is_cleared);
}

static bool are_our_keys(struct slice named, const struct keyring *keys)
{
    struct buf ours;

    buf_init(&ours, (size_t)KEYRING_MAX * 16);
    put_keys(keys, &ours);
    bool is_same = slice_eq(named, buf_slice(&ours));
    buf_fini(&ours);
    return is_same;
}

void count_wire_answer(struct slice request, const struct count_port *port,
                       const struct keyring *keys, struct buf *ret)
{
    struct slice what = slice_cut(&request, ' ');
    struct slice named = slice_cut(&request, ' ');

    if (port == NULL || keys == NULL || keys->n == 0) {
        refuse_request(
            ret, "this gillnetd does not count; see count.messages_per_day and its "
                 "log");
    } else if (!are_our_keys(named, keys)) {
        refuse_request(
            ret, "the digest keys differ: gillnetd counts with those that it started "
                 "with; restart it, or mend state_dir");
    } else if (slice_eq(what, SLICE_LIT("count-batch"))) {
        answer_batch(request, port, keys, ret);
    } else if (slice_eq(what, SLICE_LIT("count-exact"))) {
        answer_exact(request, port, keys, false, ret);
    } else if (slice_eq(what, SLICE_LIT("count-shares"))) {
        answer_exact(request, port, keys, true, ret);
    } else if (slice_eq(what, SLICE_LIT("count-called"))) {
        answer_called(request, port, keys, ret);
    } else {
        refuse_request(ret, "unknown request; understood are count-batch, count-exact, "
                            "count-shares, count-called");
    }
}
