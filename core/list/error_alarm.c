/* error_alarm - sums over minutes, and one comparison with hysteresis. */
#include "core/list/error_alarm.h"

bool hits_alarm(bool was_on, double design, uint64_t tested, uint64_t events)
{
    double expected = design * (double)tested;
    if (was_on) {
        return events > 0 && (double)events > ALARM_CLEAR_FACTOR * expected;
    }
    return events >= ALARM_EVENTS && (double)events > ALARM_FACTOR * expected;
}

void alarm_window_add(struct alarm_window *w, uint64_t tested, uint64_t events)
{
    w->tested[w->at] += tested;
    w->events[w->at] += events;
}

void alarm_window_turn(struct alarm_window *w)
{
    w->at = (w->at + 1) % ALARM_MINUTES;
    w->tested[w->at] = 0;
    w->events[w->at] = 0;
}

void alarm_window_sums(const struct alarm_window *w, uint64_t *rettested,
                       uint64_t *retevents)
{
    uint64_t tested = 0;
    uint64_t events = 0;
    for (unsigned i = 0; i < ALARM_MINUTES; i++) {
        tested += w->tested[i];
        events += w->events[i];
    }
    *rettested = tested;
    *retevents = events;
}
