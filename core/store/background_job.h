/*
 * background_job - one job at a time on a thread of its own, for what is sorted or written behind.
 *
 * What a job reads and writes belongs to it from behind_start until behind_wait. The thread is
 * made for the first job; where none can be made the job is done at once instead.
 * Threads: one owner.   Owns: its thread.
 */
#ifndef CORE_STORE_BACKGROUND_JOB_H
#define CORE_STORE_BACKGROUND_JOB_H

#include <pthread.h>
#include <stdbool.h>

typedef void behind_fn(void *context);

struct behind {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_thread;
    bool ends;
    behind_fn *job; /* NULL: idle */
    void *context;
};

void behind_init(struct behind *b);
/* Waits for the job before. */
void behind_start(struct behind *b, behind_fn *job, void *context);
void behind_wait(struct behind *b);
/* Whether behind_wait would not wait. */
bool behind_is_idle(struct behind *b);
/* Waits, then ends the thread. */
void behind_fini(struct behind *b);

#endif
