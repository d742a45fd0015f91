/*
 * alerts_internal - input and result of one alert.
 */
#ifndef CORE_HUB_METRICS_ALERTS_INTERNAL_H
#define CORE_HUB_METRICS_ALERTS_INTERNAL_H

#include "core/hub/metrics/alerts.h"

enum { ALERTS_SAMPLE_PAUSE_S = 5, ALERTS_SUBJECTS_MAX = 200 };

/* Numbers of one moment, for rates. */
struct alerts_sample {
    uint64_t at_s;
    bool has_times;
    uint64_t value[STAT_COUNT];
    uint64_t store_lost; /* increments */
    struct history_times message;
};

/* The snapshot, and the rise of counters within the window. The differences of gauges have no
 * meaning. */
struct alerts_case {
    const struct metrics_snapshot *now;
    const struct alerts_sample *rise;
};

/* Result of one alert. It is bad if value is above threshold. */
struct alerts_sight {
    double value;
    double threshold;
    char subjects[ALERTS_SUBJECTS_MAX]; /* "urlhaus, openphish" */
};
typedef void alert_fn(const struct alerts_case *c, struct alerts_sight *ret);

#define ALERT(name, severity, look, message, action) alert_fn alert_##look;
#include "core/hub/metrics/alert.def"
#undef ALERT

#endif
