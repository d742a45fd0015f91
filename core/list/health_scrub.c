/*
 * health_scrub - a slow walk over the blocks of all files in use.
 */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/list/health_internal.h"
#include "core/telemetry/stats.h"

enum {
    INDEX_BLOCK_BYTES = 1024 * 1024,
    STEPS_MAX = 64 /* of small files in one slice: each costs a few system calls */
};

/* The part at the cursor, or the next one. False: the end of the list. */
static bool find_part(struct list_health *g, const struct list_reader *r,
                      struct reader_part *ret)
{
    struct reader_part part[READER_PARTS_MAX];
    size_t n = list_reader_parts(r, part, READER_PARTS_MAX);
    const struct reader_part *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (part[i].order >= g->scrub_order && (!best || part[i].order < best->order)) {
            best = &part[i];
        }
    }
    if (!best) {
        return false;
    }
    if (best->order != g->scrub_order) {
        g->scrub_order = best->order;
        g->scrub_index = false;
        g->scrub_block = 0;
    }
    *ret = *best;
    return true;
}

static void found_bad(struct list_health *g, const struct reader_part *part, enum err e,
                      uint64_t block)
{
    struct list_health_entry *w = &g->list[g->scrub_list];
    g->found_bad = true;
    if (w->is_bad) {
        return; /* logged; the list was opened again since */
    }
    w->is_bad = true;
    log_warn(
        "event=scrub list=%s file=%s.%" PRIu64 " block=%" PRIu64
        " error=\"%s\": the list is opened again; if the disk is bad, run `gillnet "
        "list rebuild %s`",
        w->name, g->scrub_index ? "index" : part->name, part->number, block,
        err_text(e), w->name);
    stats_add(STAT_scrub_errors, 1);
    list_manager_reopen(g->lists, slice_str(w->name));
}

/* Verifies blocks of the file at the cursor and moves it on; returns the bytes read. */
static uint64_t scrub_file(struct list_health *g, const struct reader_part *part,
                           uint64_t budget)
{
    uint64_t bad = 0;
    uint64_t size = g->scrub_index ? INDEX_BLOCK_BYTES : BLOOMFILE_BLOCK_BYTES;
    uint64_t blocks = 0;
    enum err e = ERR_OK;
    uint64_t n = budget / size > 0 ? budget / size : 1;
    if (g->scrub_index && part->index) {
        blocks = index_blocks(part->index);
        e = index_scrub(part->index, g->scrub_block, n, &bad);
    } else if (!g->scrub_index && part->filter) {
        blocks = bloomfile_blocks(part->filter);
        e = bloomfile_scrub(part->filter, g->scrub_block, n, &bad);
    }
    if (e == ERR_CORRUPT || e == ERR_IO) {
        found_bad(g, part, e, bad);
    }
    g->scrub_block += n;
    if (e != ERR_OK || g->scrub_block >= blocks) { /* the next file */
        g->scrub_order += g->scrub_index;
        g->scrub_index = !g->scrub_index;
        g->scrub_block = 0;
    }
    return n * size;
}

static void next_list(struct list_health *g)
{
    struct list_health_entry *w = &g->list[g->scrub_list++];
    w->is_bad =
        g->found_bad; /* after a clean walk the next bad block is logged again */
    g->found_bad = false;
    g->scrub_order = 0;
    g->scrub_index = false;
    g->scrub_block = 0;
}

void list_health_scrub(struct list_health *g, const struct listset *set)
{
    uint64_t budget = LIST_HEALTH_SCRUB_BYTES;
    if (!g->in_pass && clock_mono_us() < g->pass_mono_us) {
        return;
    }
    if (!g->in_pass) {
        g->in_pass = true;
        g->scrub_list = 0;
        g->pass_mono_us = clock_mono_us() + LIST_HEALTH_PASS_US;
    }
    for (unsigned i = 0; budget > 0 && i < STEPS_MAX; i++) {
        struct reader_part part;
        if (g->scrub_list >= g->n) {
            g->in_pass = false;
            stats_add(STAT_scrub_passes, 1);
            return;
        }
        if (!find_part(g, listset_reader(set, g->scrub_list), &part)) {
            next_list(g);
            continue;
        }
        uint64_t read = scrub_file(g, &part, budget);
        budget -= read < budget ? read : budget;
    }
}
