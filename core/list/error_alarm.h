/*
 * error_alarm - alarm when the false positives exceed the design of the filter by more than chance.
 *
 * Counts are summed over the last ERROR_ALARM_MINUTES. The alarm is raised above ERROR_ALARM_FACTOR
 * times the design, if there are at least ERROR_ALARM_EVENTS events. A sound filter expects
 * ERROR_ALARM_EVENTS / ERROR_ALARM_FACTOR = 10 events then; chance makes 30 of 10 about once in 4
 * million windows (Poisson), for one list once in years. It is cleared below
 * ERROR_ALARM_CLEAR_FACTOR times the design.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LIST_ERROR_ALARM_H
#define CORE_LIST_ERROR_ALARM_H

#include "core/base/std.h"

enum {
    ERROR_ALARM_MINUTES = 15,
    ERROR_ALARM_EVENTS = 30,
    ERROR_ALARM_FACTOR = 3,
    ERROR_ALARM_CLEAR_FACTOR = 2
};

/* Whether the alarm is on after `events` false positives in `tested` tests; was_on: before. */
bool error_alarm(bool was_on, double design, uint64_t tested, uint64_t events);

struct error_window {
    uint64_t tested[ERROR_ALARM_MINUTES];
    uint64_t events[ERROR_ALARM_MINUTES];
    unsigned at;
};
/* Adds to the minute that runs. */
void error_window_add(struct error_window *w, uint64_t tested, uint64_t events);
/* Begins the next minute; the oldest is forgotten. */
void error_window_turn(struct error_window *w);
void error_window_sums(const struct error_window *w, uint64_t *rettested,
                       uint64_t *retevents);

#endif
