#include <systemd/sd-daemon.h>

#include "core/base/std.h"

#include "milter/daemon.h"

void notify_ready(const char *status)
{
    sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void notify_reloading(void)
{
    /* the real clock: the manager compares it with its own */
    struct timespec t = {.tv_sec = 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)us);
}

void notify_stopping(void)
{
    sd_notify(0, "STOPPING=1\nSTATUS=finishing the messages in flight");
}

void notify_watchdog(void)
{
    sd_notify(0, "WATCHDOG=1");
}
