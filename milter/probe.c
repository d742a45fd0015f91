#include "milter/probe.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/log.h"

enum state { NONE, WAITING, GREETED, DROPPED };

static struct {
    pthread_mutex_t lock;
    enum state state; /* guarded by lock, as is the rest */
    uint64_t end_us;
    char token[PROBE_TOKEN];
} probe = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_token(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (slice_find(SLICE_LIT("0123456789abcdef"), s.p[i]) == 16) {
            return false;
        }
    }
    return s.n == PROBE_TOKEN;
}

const char *probe_ask(struct slice token)
{
    static const char *const names[] = {[NONE] = "",
                                        [WAITING] = "waiting",
                                        [GREETED] = "greeted",
                                        [DROPPED] = "dropped"};
    const char *name = NULL;

    if (!is_token(token)) {
        return NULL;
    }
    pthread_mutex_lock(&probe.lock);
    if (probe.state == NONE || memcmp(probe.token, token.p, PROBE_TOKEN) != 0) {
        memcpy(probe.token, token.p, PROBE_TOKEN);
        probe.state = WAITING;
        probe.end_us = clock_mono_us() + (uint64_t)PROBE_VALID_S * 1000000;
    }
    name = names[probe.state];
    pthread_mutex_unlock(&probe.lock);
    return name;
}

bool probe_is_waiting(void)
{
    bool is_waiting = false;

    pthread_mutex_lock(&probe.lock);
    is_waiting = (probe.state == WAITING || probe.state == GREETED) &&
                 clock_mono_us() < probe.end_us;
    pthread_mutex_unlock(&probe.lock);
    return is_waiting;
}

bool probe_greets(const char *helo)
{
    static const char suffix[] = ".gillnet-probe.invalid";
    bool greets = false;

    if (helo == NULL || strlen(helo) != PROBE_TOKEN + sizeof(suffix) - 1 ||
        strcmp(helo + PROBE_TOKEN, suffix) != 0) {
        return false;
    }
    pthread_mutex_lock(&probe.lock);
    if (probe.state != NONE && clock_mono_us() < probe.end_us &&
        memcmp(probe.token, helo, PROBE_TOKEN) == 0) {
        greets = true;
        probe.state = probe.state == WAITING ? GREETED : probe.state;
    }
    pthread_mutex_unlock(&probe.lock);
    return greets;
}

void probe_end(void)
{
    pthread_mutex_lock(&probe.lock);
    probe.state = DROPPED;
    pthread_mutex_unlock(&probe.lock);
    log_info("event=probe result=dropped");
}
