/* count_report - the state of the counts as numbers of the statistics page. */
#include "core/count/count_internal.h"
#include "core/telemetry/stats.h"

enum { PPB = 1000000000 };

static void publish_sizes(const struct count_stat *s)
{
    stats_set(STAT_count_messages_per_day, s->messages_per_day);
    stats_set(STAT_count_live_keys, s->live_keys);
    stats_set(STAT_count_live_slots, s->live_slots);
    stats_set(STAT_count_bucket_runs, s->runs.nbuckets);
    stats_set(STAT_count_day_runs, s->runs.ndays);
    stats_set(STAT_count_damaged_runs, s->runs.ndamaged);
    stats_set(STAT_count_disk_bytes, s->runs.bytes);
    stats_set(STAT_count_oldest, s->runs.oldest_s);
    stats_set(STAT_count_memory_bytes, s->memory_bytes);
    stats_set(STAT_count_doorkeeper_entries, s->doorkeeper_entries);
    stats_set(STAT_count_doorkeeper_capacity, s->doorkeeper_capacity);
    stats_set(STAT_count_cells_used, s->cell_lines_used);
    stats_set(STAT_count_cells, s->cell_lines);
    stats_set(STAT_count_overflowed, s->overflowed);
    stats_set(STAT_count_cells_over_1h, s->cells_over_1h);
    stats_set(STAT_count_cells_over_1d, s->cells_over_1d);
    stats_set(STAT_count_cells_over_14d, s->cells_over_14d);
}

static void publish_noise(const struct count_stat *s)
{
    static const enum stat_id noise[COUNT_WINDOWS] = {
        STAT_count_noise_10m_ppb, STAT_count_noise_1h_ppb, STAT_count_noise_1d_ppb,
        STAT_count_noise_14d_ppb};

    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        stats_set(noise[w],
                  s->is_noise_known ? (uint64_t)(s->noise[w] * PPB + 0.5) : 0);
    }
    stats_set(STAT_count_noise_known, s->is_noise_known);
}

static void publish_peers(const struct remote_stat *r)
{
    stats_set(STAT_count_peers, r->norigins);
    stats_set(STAT_count_peer_streams, r->nstreams);
    stats_set(STAT_count_peer_keys, r->nkeys);
    stats_set(STAT_count_peer_unreadable, r->nunreadable + r->runs.ndamaged);
    stats_set(STAT_count_peer_runs, r->runs.nbuckets + r->runs.ndays);
    stats_set(STAT_count_peer_bytes, r->runs.bytes);
}

void count_publish(const struct count_stat *s)
{
    publish_sizes(s);
    publish_peers(&s->remote);
    publish_noise(s);
    stats_set(STAT_count_shards, s->nshards);
    stats_set(STAT_count_shards_ready, s->nready);
    stats_set(STAT_count_rebuild_us, s->rebuild_us);
    stats_set(STAT_count_volatile, s->is_volatile);
    stats_set(STAT_count_clock_suspended, s->is_clock_suspended);
    stats_fault(
        "counts",
        s->is_volatile
            ? "the disk fails: counts are kept in memory only and are lost when "
              "gillnetd ends; make room on the disk, or correct its permissions"
            : NULL);
    stats_fault(
        "counts-clock",
        s->is_clock_suspended
            ? "the clock jumped; no count expires until a time ahead has held "
              "for 10 minutes, or one behind has caught up; see to the clock (NTP)"
            : NULL);
}
