/*
 * notify - what the service manager is told (sd_notify); nothing where there is none.
 * Threads: any.
 */
#ifndef MILTER_NOTIFY_H
#define MILTER_NOTIFY_H

void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);
/* A sign of life, when the manager has asked for them. */
void notify_watchdog(void);

#endif
