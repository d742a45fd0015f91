/* error_alarm - sums over minutes, and one comparison with hysteresis. */
#include "core/list/error_alarm.h"

bool error_alarm(bool was_on, double design, uint64_t tested, uint64_t events)
{
    double expected = design * (double)tested;
    if (was_on) {
        return events > 0 && (double)events > ERROR_ALARM_CLEAR_FACTOR * expected;
    }
    return events >= ERROR_ALARM_EVENTS &&
           (double)events > ERROR_ALARM_FACTOR * expected;
}

void error_window_add(struct error_window *w, uint64_t tested, uint64_t events)
{
    w->tested[w->at] += tested;
    w->events[w->at] += events;
}

void error_window_turn(struct error_window *w)
{
    w->at = (w->at + 1) % ERROR_ALARM_MINUTES;
    w->tested[w->at] = 0;
    w->events[w->at] = 0;
}

void error_window_sums(const struct error_window *w, uint64_t *rettested,
                       uint64_t *retevents)
{
    uint64_t tested = 0;
    uint64_t events = 0;
    for (unsigned i = 0; i < ERROR_ALARM_MINUTES; i++) {
        tested += w->tested[i];
        events += w->events[i];
    }
    *rettested = tested;
    *retevents = events;
}
