/*
 * alerts_internal - how one alert looks, and at what.
 */
#ifndef CORE_HUB_METRICS_ALERTS_INTERNAL_H
#define CORE_HUB_METRICS_ALERTS_INTERNAL_H

#include "core/hub/metrics/alerts.h"

enum { ALERTS_SAMPLE_PAUSE_S = 5, ALERTS_SUBJECTS_MAX = 200 };

/* What was read at one time, for rates. */
struct alerts_sample {
    uint64_t at_s;
    bool has_times;
    uint64_t value[STAT_COUNT];
    struct history_times message;
};

/* What happened within the window: differences; gauges are of no use. */
struct alerts_case {
    const struct metrics_snapshot *now;
    const struct alerts_sample *rise;
};

/* What one alert saw: bad when value is above threshold. */
struct alerts_sight {
    double value;
    double threshold;
    char subjects
        [ALERTS_SUBJECTS_MAX]; /* "urlhaus, openphish"; "": none in particular */
};
typedef void alert_fn(const struct alerts_case *c, struct alerts_sight *ret);

#define ALERT(name, severity, look, message, action) alert_fn alert_##look;
#include "core/hub/metrics/alert.def"
#undef ALERT

#endif
