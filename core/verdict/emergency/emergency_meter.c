#include "core/verdict/emergency/emergency_meter.h"

#include <math.h>

enum { HOUR_S = 3600 };

/* Hours without a sample, also after a jump of the clock, are empty. */
static void pass_hours(struct emergency_meter *m, uint64_t now_s)
{
    uint64_t hour = now_s / HOUR_S;
    uint64_t ahead = hour > m->hour ? hour - m->hour : 0;

    if (hour + EMERGENCY_HOURS < m->hour) { /* the clock was set back by a week */
        ahead = EMERGENCY_HOURS;
    }
    if (ahead == 0) {
        return;
    }
    if (ahead >= EMERGENCY_HOURS) { /* nothing that is known is of the last week */
        m->begun_s = now_s;
    }
    for (uint64_t i = 0; i < ahead && i < EMERGENCY_HOURS; i++) {
        m->checks[(hour - i) % EMERGENCY_HOURS] = 0;
    }
    m->hour = hour;
}

double emergency_meter_mean(const struct emergency_meter *m, uint64_t now_s)
{
    uint64_t sum = 0;
    uint64_t most_s = (uint64_t)EMERGENCY_HOURS * HOUR_S;
    uint64_t span_s = now_s > m->begun_s ? now_s - m->begun_s : 0;

    for (size_t i = 0; i < EMERGENCY_HOURS; i++) {
        sum += m->checks[i];
    }
    span_s = span_s > most_s ? most_s : span_s;
    return (double)sum / (double)(span_s < HOUR_S ? HOUR_S : span_s);
}

double emergency_meter_level(const struct emergency_meter *m,
                             const struct config_emergency *config, uint64_t now_s)
{
    if (m->since_s != 0) {
        return m->level;
    }
    if (config->enter > 0) {
        return config->enter;
    }
    return fmax(EMERGENCY_LEAST, EMERGENCY_TIMES * emergency_meter_mean(m, now_s));
}

enum emergency_change emergency_meter_add(struct emergency_meter *m,
                                          const struct config_emergency *config,
                                          const struct emergency_sample *sample)
{
    double rate = (double)sample->checks / (double)sample->seconds;
    double level = emergency_meter_level(m, config, sample->now_s);
    double leave = level * EMERGENCY_LEAVE;
    double counted = (double)sample->checks;
    enum emergency_change change = EMERGENCY_STAYS;

    if (m->begun_s == 0 || m->begun_s > sample->now_s) {
        m->begun_s = sample->now_s;
    }
    if (m->since_s == 0 && rate > level && config->enabled) {
        m->since_s = sample->now_s;
        m->level = level;
        change = EMERGENCY_ENTERS;
    } else if (m->since_s != 0 && (rate < leave || !config->enabled)) {
        m->since_s = 0;
        change = EMERGENCY_LEAVES;
    }
    if (m->since_s != 0) {
        counted = fmin(counted, leave * (double)sample->seconds);
    }
    pass_hours(m, sample->now_s);
    m->checks[m->hour % EMERGENCY_HOURS] += (uint64_t)counted;
    return change;
}
