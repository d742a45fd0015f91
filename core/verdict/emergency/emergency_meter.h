/*
 * emergency_meter - the rate of URL checks, its mean of seven days, and when to enter and leave.
 *
 * Enters above a level, leaves below EMERGENCY_LEAVE of it. The level is emergency.enter, or
 * EMERGENCY_TIMES the mean and at least EMERGENCY_LEAST. While the mode is on, the level stays as
 * it was at the beginning, and the mean grows by at most the rate at which the mode ends: an attack
 * that lasts is no new normal, and a new normal is no attack for ever.
 * Private to this room.   Threads: one at a time.   Allocates: nothing.
 */
#ifndef CORE_VERDICT_EMERGENCY_EMERGENCY_METER_H
#define CORE_VERDICT_EMERGENCY_EMERGENCY_METER_H

#include "core/config/config.h"

enum {
    EMERGENCY_SAMPLE_S = 10,
    EMERGENCY_TIMES = 10,
    EMERGENCY_LEAST = 200, /* URL checks a second */
    EMERGENCY_HOURS = 7 * 24
};
#define EMERGENCY_LEAVE 0.7

struct emergency_meter {
    uint64_t checks[EMERGENCY_HOURS]; /* of an hour since 1970, at its number % HOURS */
    uint64_t hour;                    /* the newest of them; 0: none */
    uint64_t begun_s;                 /* time of the first sample */
    uint64_t since_s;                 /* that the mode is on; 0: off */
    double level;                     /* at which it was entered */
};

enum emergency_change { EMERGENCY_STAYS, EMERGENCY_ENTERS, EMERGENCY_LEAVES };

struct emergency_sample {
    uint64_t checks; /* since the last sample */
    uint64_t seconds;
    uint64_t now_s;
};
enum emergency_change emergency_meter_add(struct emergency_meter *m,
                                          const struct config_emergency *config,
                                          const struct emergency_sample *sample);
/* URL checks a second in the last seven days, or since the first sample but at least an hour. */
double emergency_meter_mean(const struct emergency_meter *m, uint64_t now_s);
/* The rate above which the mode would be entered; while it is on, was. */
double emergency_meter_level(const struct emergency_meter *m,
                             const struct config_emergency *config, uint64_t now_s);

#endif
