/*
 * background_job - one job at a time on its own thread, for sorting and writing in the background.
 *
 * A job owns its data from background_job_start until background_job_wait. The thread is made for
 * the first job; if it cannot be made, background_job_start does the job itself.
 * Threads: one owner.   Owns: its thread.
 */
#ifndef CORE_STORE_BACKGROUND_JOB_H
#define CORE_STORE_BACKGROUND_JOB_H

#include <pthread.h>

#include "core/base/std.h"

typedef void background_job_fn(void *context);

struct background_job {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_thread;
    bool ends;
    background_job_fn *job; /* NULL: idle */
    void *context;
};

void background_job_init(struct background_job *b);
/* Waits for the job before. */
void background_job_start(struct background_job *b, background_job_fn *job,
                          void *context);
void background_job_wait(struct background_job *b);
/* Whether background_job_wait would not wait. */
bool background_job_is_idle(struct background_job *b);
/* Waits, then ends the thread. */
void background_job_fini(struct background_job *b);

#endif
