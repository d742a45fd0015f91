/* peer_filter - two filters, the cheaper order first. */
#include "core/list/peer_filter.h"

#include "core/filter/bloomfile_merge.h"

enum {
    PIECE = 128,     /* digests at once */
    COST_CACHED = 1, /* of one test, beside ... */
    COST_READ = 8    /* ... one that reads memory */
};

static const char *const next_step = "merge the peers' filters into the list again";

/* ---- order ---- */

static double cost_of(uint64_t bytes)
{
    return bytes <= PEER_FILTER_CACHED_BYTES ? COST_CACHED : COST_READ;
}

enum peer_filter_order peer_filter_order_best(const struct peer_filter_rates *r)
{
    if (r->tested == 0) {
        return PEER_FILTER_SPAM_FIRST;
    }
    double tested = (double)r->tested;
    double spam = cost_of(r->spam_bytes);
    double revoked = cost_of(r->revoked_bytes);
    double spam_first = spam + revoked * (double)r->spam / tested;
    double revoked_first = revoked + spam * (1 - (double)r->revoked / tested);
    return revoked_first < spam_first ? PEER_FILTER_REVOKED_FIRST
                                      : PEER_FILTER_SPAM_FIRST;
}

static uint64_t get(const _Atomic uint64_t *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

static void add_relaxed(_Atomic uint64_t *n, uint64_t by)
{
    (void)atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

static void halve(_Atomic uint64_t *n)
{
    atomic_store_explicit(n, get(n) / 2, memory_order_relaxed);
}

/* Two threads at the same time decide from almost the same counts. */
static void choose_order(struct peer_filter *m)
{
    struct peer_filter_rates r = {
        .tested = get(&m->tested),
        .spam = get(&m->spam_hits),
        .revoked = get(&m->revoked_hits),
        .spam_bytes = m->spam.bytes,
        .revoked_bytes = m->revoked.bytes,
    };
    if (r.tested < PEER_FILTER_DECIDE_AFTER) {
        return;
    }
    atomic_store_explicit(&m->order, (unsigned)peer_filter_order_best(&r),
                          memory_order_relaxed);
    halve(&m->tested);
    halve(&m->spam_hits);
    halve(&m->revoked_hits);
}

/* ---- asking ---- */

static size_t count_hits(const uint8_t *hit, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        hits += hit[i];
    }
    return hits;
}

/* Tests every digest in both filters and counts the rates. */
static void test_both(struct peer_filter *m, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    uint8_t spam[PIECE];
    uint8_t revoked[PIECE];
    bloom_test_batch(&m->spam.bloom, d, n, spam);
    bloom_test_batch(&m->revoked.bloom, d, n, revoked);
    for (size_t i = 0; i < n; i++) {
        rethit[i] |= (uint8_t)(spam[i] & ~revoked[i]);
    }
    add_relaxed(&m->tested, n);
    add_relaxed(&m->spam_hits, count_hits(spam, n));
    add_relaxed(&m->revoked_hits, count_hits(revoked, n));
    choose_order(m);
}

/* Tests in `first`, then those with the answer `go_on` in `second`. possible: answer of `second`
 * for a hit. */
struct steps {
    const struct bloom *first;
    const struct bloom *second;
    uint8_t go_on;
    uint8_t possible;
};

static void test_steps(const struct steps *s, const struct digest *d, size_t n,
                       uint8_t *rethit)
{
    uint8_t hit[PIECE];
    struct digest left[PIECE];
    uint8_t at[PIECE];
    size_t nleft = 0;
    bloom_test_batch(s->first, d, n, hit);
    for (size_t i = 0; i < n; i++) {
        if (hit[i] == s->go_on) {
            at[nleft] = (uint8_t)i;
            left[nleft++] = d[i];
        }
    }
    bloom_test_batch(s->second, left, nleft, hit);
    for (size_t i = 0; i < nleft; i++) {
        rethit[at[i]] |= hit[i] == s->possible;
    }
}

static void test_piece(struct peer_filter *m, const struct digest *d, size_t n,
                       uint8_t *rethit)
{
    uint64_t batch = atomic_fetch_add_explicit(&m->batches, 1, memory_order_relaxed);
    if (!m->is_order_fixed && batch % PEER_FILTER_SAMPLE_EVERY == 0) {
        test_both(m, d, n, rethit);
        return;
    }
    struct steps s = {&m->spam.bloom, &m->revoked.bloom, .go_on = 1, .possible = 0};
    if (atomic_load_explicit(&m->order, memory_order_relaxed) ==
        PEER_FILTER_REVOKED_FIRST) {
        s = (struct steps){&m->revoked.bloom, &m->spam.bloom, 0, 1};
    }
    test_steps(&s, d, n, rethit);
}

void peer_filter_known_batch(const struct peer_filter *m, const struct digest *d,
                             size_t n, uint8_t *rethit)
{
    uint8_t spam[PIECE];
    for (size_t done = 0; done < n; done += PIECE) {
        size_t piece = n - done < PIECE ? n - done : PIECE;
        bloom_test_batch(&m->spam.bloom, d + done, piece, spam);
        for (size_t i = 0; i < piece; i++) {
            rethit[done + i] |= spam[i];
        }
    }
}

void peer_filter_test_batch(struct peer_filter *m, const struct digest *d, size_t n,
                            uint8_t *rethit)
{
    for (size_t done = 0; done < n; done += PIECE) {
        size_t piece = n - done < PIECE ? n - done : PIECE;
        if (m->has_revoked) {
            test_piece(m, d + done, piece, rethit + done);
        } else {
            peer_filter_known_batch(m, d + done, piece, rethit + done);
        }
    }
}

enum peer_filter_answer peer_filter_answer(const struct peer_filter *m,
                                           const struct digest *d)
{
    if (!bloom_test(&m->spam.bloom, d)) {
        return PEER_FILTER_NO;
    }
    return m->has_revoked && bloom_test(&m->revoked.bloom, d) ? PEER_FILTER_REVOKED
                                                              : PEER_FILTER_POSSIBLE;
}

/* ---- files ---- */

static enum err open_role(const struct peer_filter_files *files,
                          enum bloomfile_role role, struct peer_filter *m,
                          struct errinfo *reterr)
{
    bool is_spam = role == BLOOMFILE_SPAM;
    char path[FILE_PATH_MAX];
    struct bloomfile_want want = {.key = files->key,
                                  .digest_key = files->key->id,
                                  .role = role,
                                  .hold = files->hold,
                                  .next = next_step};
    struct bloomfile *f = is_spam ? &m->spam : &m->revoked;
    uint64_t number = is_spam ? files->spam : files->revoked;
    enum err e = list_file_path(
        path, files->dir, is_spam ? LIST_FILE_SPAM : LIST_FILE_REVOKED, number, reterr);
    if (e == ERR_OK) {
        m->marks[!is_spam] = file_mark_of(path);
        m->numbers[!is_spam] = number;
        e = bloomfile_open(f, path, &want, reterr);
    }
    return e == ERR_OK ? bloomfile_judge(f, path, next_step, reterr) : e;
}

enum err peer_filter_open(const struct peer_filter_files *files,
                          struct peer_filter **ret, struct errinfo *reterr)
{
    struct peer_filter *m = calloc(1, sizeof(*m));
    if (!m) {
        return errinfo_nomem(reterr, files->dir);
    }
    m->users = 1;
    m->hold = files->hold;
    enum err e = open_role(files, BLOOMFILE_SPAM, m, reterr);
    if (e == ERR_OK && files->revoked != 0) {
        e = open_role(files, BLOOMFILE_REVOKED, m, reterr);
        m->has_revoked = e == ERR_OK;
    }
    if (e != ERR_OK) {
        peer_filter_release(&m);
        return e;
    }
    *ret = m;
    return ERR_OK;
}

static bool is_still(const struct peer_filter *m, const char *dir, enum list_file kind,
                     unsigned i)
{
    return m->numbers[i] == 0 ||
           list_file_is_same(&m->marks[i], dir, kind, m->numbers[i]);
}

struct peer_filter *peer_filter_share(struct peer_filter *m,
                                      const struct peer_filter_files *files)
{
    if (!m || m->hold != files->hold || m->numbers[0] != files->spam ||
        m->numbers[1] != files->revoked ||
        !is_still(m, files->dir, LIST_FILE_SPAM, 0) ||
        !is_still(m, files->dir, LIST_FILE_REVOKED, 1)) {
        return NULL;
    }
    __atomic_fetch_add(&m->users, 1, __ATOMIC_RELAXED);
    return m;
}

bool peer_filter_is_damaged(const struct peer_filter *m)
{
    return m && (bloomfile_is_damaged(&m->spam) || bloomfile_is_damaged(&m->revoked));
}

void peer_filter_release(struct peer_filter **m)
{
    /* acquire and release: the closing thread sees all earlier uses */
    if (*m && __atomic_sub_fetch(&(*m)->users, 1, __ATOMIC_ACQ_REL) == 0) {
        bloomfile_close(&(*m)->spam);
        bloomfile_close(&(*m)->revoked);
        free(*m);
    }
    *m = NULL;
}
