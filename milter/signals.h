/*
 * signals - HUP and USR1 reload, TERM and INT stop; and the two functions of the C library that
 * gillnetd must answer in libmilter's place.
 *
 * smfi_main starts a thread that sigwait()s HUP, TERM and INT and takes HUP for "stop". The program
 * therefore defines sigwait itself: it leaves HUP out of the set, and runs the stop hook before
 * libmilter gets TERM or INT. It also defines accept: libmilter's loop spins without a pause where
 * there are no descriptors left, and while the listening socket is shut down. Both definitions take
 * the place of the C library's for libmilter by the usual rules of dynamic
 * linking.
 * Threads: signals_start makes one.   Source: measured, ADR 0012.
 */
#ifndef MILTER_SIGNALS_H
#define MILTER_SIGNALS_H

#include "core/base/err.h"

struct signal_hooks {
    void (*reload)(void); /* HUP or USR1 came; called on our thread */
    void (*tick)(void);   /* about once a second, on our thread */
    void (*stop)(void);   /* TERM or INT came; on libmilter's thread, once */
};

/* Blocks our signals in the calling thread and all that it starts; before the first thread. */
void signals_block(void);
/* Starts the thread for HUP, USR1 and ticks. */
enum err signals_start(const struct signal_hooks *hooks);
void signals_stop(void);
/* Another TERM or INT is waiting (the stop is to be hurried). */
bool signals_is_urgent(void);

#endif
