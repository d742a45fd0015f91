#include "milter/mapped_files.h"

#include "core/base/clock.h"
#include "core/telemetry/history.h"
#include "core/telemetry/stats.h"

enum { US_PER_S = 1000000 };

void mapped_files_keep(struct lookup_stats *hits, struct ham_log *ham_log)
{
    const uint64_t now_s = clock_wall_us() / US_PER_S;

    stats_keep();
    history_keep(now_s);
    lookup_stats_keep(hits, now_s);
    ham_log_keep(ham_log);
}
