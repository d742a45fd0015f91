/*
 * reader_lookup - filters first, then the memtable, then the index.
 */

#include "core/list/configured.h"
#include "core/list/level_build.h"
#include "core/list/reader.h"
#include "core/telemetry/stats.h"

const char *list_answer_name(enum list_answer a)
{
    static const char *const names[] = {
        [LIST_NO] = "no",
        [LIST_FALSE_POSITIVE] = "false_positive",
        [LIST_CONFIRMED] = "confirmed",
        [LIST_REVOKED] = "revoked",
        [LIST_POSSIBLE] = "possible",
        [LIST_UNVERIFIED] = "unverified",
    };
    return names[a];
}

struct feature_classes list_reader_classes(const struct list_reader *r)
{
    return r->member || r->nformer > 0 ? FEATURE_CLASSES_UNKNOWN
                                       : recent_classes(&r->recent);
}

bool list_reader_is_formed(const struct list_reader *r, enum url_match match)
{
    return r->current.form == LIST_FORM && r->current.url_match == (uint32_t)match;
}

void list_reader_test_own(const struct list_reader *r, const struct digest *d, size_t n,
                          uint8_t *rethit)
{
    if (!r->has_filters) {
        memset(rethit, 1, n); /* not every level can be ruled out: read the index */
        return;
    }
    bloom_test_batch(&r->recent.delta, d, n, rethit);
    for (size_t done = 0; done < n; done += LEVEL_BATCH) {
        size_t batch = n - done < LEVEL_BATCH ? n - done : LEVEL_BATCH;
        for (uint32_t i = r->current.nlevels; i > 0; i--) {
            level_test(r->level[i - 1], d + done, batch, rethit + done);
        }
    }
}

void list_reader_test(const struct list_reader *r, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    list_reader_test_own(r, d, n, rethit);
    if (r->member) {
        peer_filter_test_batch(r->member, d, n, rethit);
    }
}

void list_reader_test_known(const struct list_reader *r, const struct digest *d,
                            size_t n, uint8_t *rethit)
{
    list_reader_test_own(r, d, n, rethit);
    if (r->member) {
        peer_filter_known_batch(r->member, d, n, rethit);
    }
}

static enum list_answer answer_of(const struct index_record *rec, uint64_t now_s)
{
    if (rec->status == ENTRY_REVOKED) {
        return LIST_REVOKED;
    }
    return entry_is_expired(rec, now_s) ? LIST_FALSE_POSITIVE : LIST_CONFIRMED;
}

/* Reads the levels, newest first, except those that their filter rules out. ERR_CORRUPT: the newest
 * that can hold d is damaged. */
static enum err ask_levels(const struct list_reader *r, const struct digest *d,
                           struct confirm_cache_answer *ret)
{
    *ret = (struct confirm_cache_answer){.is_there = false};
    for (uint32_t i = r->current.nlevels; i > 0; i--) {
        const struct level *l = r->level[i - 1];
        if (l->has_base && !level_is_remote(l) && !bloom_test(&l->base.bloom, d)) {
            continue;
        }
        enum err e = l->index ? index_get(l->index, d, &ret->record) : ERR_CORRUPT;
        if (e != ERR_NOT_FOUND) {
            ret->is_there = e == ERR_OK;
            ret->period = l->names.period_s;
            return e;
        }
    }
    return ERR_OK;
}

/* ask_levels through the cache, where there is one. */
static enum err ask_cache(const struct list_reader *r, const struct digest *d,
                          struct confirm_cache_answer *ret, bool *retcached)
{
    *retcached = confirm_cache_get(r->cache, d, ret);
    if (*retcached) {
        stats_add(STAT_confirm_cache_hits, 1);
        return ERR_OK;
    }
    if (r->cache) {
        stats_add(STAT_confirm_cache_misses, 1);
    }
    stats_add(STAT_index_reads, 1);
    enum err e = ask_levels(r, d, ret);
    if (e == ERR_OK) {
        confirm_cache_put(r->cache, d, ret);
    }
    return e;
}

/* With a damaged index: reads the former levels, else the filters. */
static enum err ask_former(const struct list_reader *r, const struct digest *d,
                           struct confirm_cache_answer *ret)
{
    struct merged_index former = levels_stack(r->former, r->nformer);
    *ret = (struct confirm_cache_answer){.is_there = false};
    if (merged_index_get(&former, d, &ret->record, NULL) == ERR_OK) {
        ret->is_there = true;
        return ERR_OK;
    }
    return ask_levels(r, d, ret);
}

/* Adds the answer of the filters of peers if the list has no entry. */
static void ask_member(const struct list_reader *r, const struct digest *d,
                       struct reader_answer *a)
{
    if (!r->member || a->answer == LIST_REVOKED || a->answer == LIST_POSSIBLE) {
        return;
    }
    enum peer_filter_answer m = peer_filter_answer(r->member, d);
    if (a->answer == LIST_CONFIRMED) {
        if (m == PEER_FILTER_REVOKED) {
            stats_add(STAT_revocation_fp, 1);
        }
    } else if (m != PEER_FILTER_NO) {
        a->answer = m == PEER_FILTER_REVOKED ? LIST_REVOKED : LIST_POSSIBLE;
        a->is_member = true;
    }
}

/* The memtable first: its entries are newer than any level and any cached answer. */
static struct reader_answer lookup_digest(const struct list_reader *r,
                                          const struct digest *d, uint64_t now_s,
                                          struct index_record *ret)
{
    struct reader_answer a = {.answer = LIST_POSSIBLE};
    struct confirm_cache_answer level = {.is_there = false};
    enum err e = memtable_get(&r->recent, d, ret);
    if (e == ERR_NOT_FOUND) {
        e = r->is_whole ? ask_cache(r, d, &level, &a.was_cached)
                        : ask_former(r, d, &level);
        *ret = level.record;
        a.period = level.period;
        a.is_known = e == ERR_OK && level.is_there;
    } else {
        a.period = r->current.period_s; /* of the tail */
        a.is_known = e == ERR_OK;
    }
    if (a.is_known) {
        a.answer = answer_of(ret, now_s);
    } else if (e == ERR_OK) {
        a.answer = r->has_filters ? LIST_FALSE_POSITIVE : LIST_NO;
    }
    ask_member(r, d, &a);
    return a;
}

void list_reader_ask(const struct list_reader *r, const struct digest *d,
                     uint64_t now_s, struct reader_answer *ret)
{
    struct index_record rec = {0};
    *ret = lookup_digest(r, d, now_s, &rec);
    ret->is_explicit = ret->is_known && (rec.flags & ENTRY_FLAG_EXPLICIT) != 0;
}

void list_reader_recall(const struct list_reader *r, const struct digest *d,
                        uint64_t now_s, struct reader_answer *ret)
{
    struct index_record rec = {0};

    *ret = (struct reader_answer){.answer = LIST_POSSIBLE};
    if (memtable_get(&r->recent, d, &rec) == ERR_OK && rec.status == ENTRY_REVOKED) {
        ret->answer = answer_of(&rec, now_s);
        ret->is_known = true;
        ret->is_explicit = (rec.flags & ENTRY_FLAG_EXPLICIT) != 0;
    }
}

bool list_reader_may_hold(const struct list_reader *r, const struct digest *d)
{
    uint8_t hit = 0;

    if (r->has_filters) {
        list_reader_test_own(r, d, 1, &hit);
    }
    return hit != 0;
}

enum list_answer list_reader_confirm(const struct list_reader *r,
                                     const struct digest *d, uint64_t now_s)
{
    struct index_record rec;
    return lookup_digest(r, d, now_s, &rec).answer;
}

void list_reader_set_cache(struct list_reader *r, size_t entries)
{
    confirm_cache_free(&r->cache);
    r->cache = confirm_cache_new(entries);
}

enum list_answer list_reader_explain(const struct list_reader *r,
                                     const struct digest *d, uint64_t now_s,
                                     struct arena *arena, struct list_provenance *ret)
{
    struct index_record rec = {0};
    struct list_provenance p = {0};
    struct reader_answer found = lookup_digest(r, d, now_s, &rec);
    enum list_answer a = found.answer;
    if (found.is_member) {
        (void)snprintf(p.source, sizeof(p.source), "filters of peers");
        p.is_member = true;
        p.status = a == LIST_REVOKED ? ENTRY_REVOKED : ENTRY_LISTED;
    } else if (a == LIST_CONFIRMED || a == LIST_REVOKED) {
        p = entry_shown(d, &rec);
        struct log_texts t;
        log_texts_init(&t, r->dir);
        log_texts_get(&t, d, &rec, arena, &p);
        log_texts_fini(&t);
    }
    *ret = p;
    return a;
}

void list_reader_totals(const struct list_reader *r, uint64_t *retlisted,
                        uint64_t *retrevoked)
{
    struct memtable_numbers n = memtable_numbers_get(&r->recent);
    *retlisted = n.totals.listed;
    *retrevoked = n.totals.revoked;
}

uint64_t list_reader_changed_s(const struct list_reader *r)
{
    return memtable_numbers_get(&r->recent).updated_s;
}

static uint64_t recent_entries(const struct memtable *r)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < r->slots; i++) {
        struct digest d;
        struct exact_value v;
        n += exact_at(&r->table, i, &d, &v) == ERR_OK;
    }
    return n;
}

void list_reader_stat(const struct list_reader *r, struct list_stat *ret)
{
    struct memtable_numbers n = memtable_numbers_get(&r->recent);
    struct list_stat s = {
        .entries = n.totals.listed,
        .revoked = n.totals.revoked,
        .recent = recent_entries(&r->recent),
        .generation = r->current.generation,
        .levels = r->current.nlevels,
        .updated_s = n.updated_s,
        .error_target = LIST_FILTER_ERROR,
    };
    uint32_t last = list_tail_last(r->dir, r->current.tail);
    for (uint32_t segment = 1; segment <= last; segment++) {
        s.log_bytes += (uint64_t)list_file_mark(r->dir, LIST_FILE_LOG, segment).size;
    }
    struct list_filters f;
    list_reader_filters(r, &f);
    s.fill = f.fill;
    s.error_now = f.error_formula;
    for (uint32_t i = 0; i < r->current.nlevels; i++) {
        const struct level *l = r->level[i];
        s.index_bytes +=
            (uint64_t)list_file_mark(r->dir, LIST_FILE_INDEX, l->names.number).size;
        s.filter_bytes += l->has_base ? l->base.bytes : 0;
    }
    *ret = s;
}
