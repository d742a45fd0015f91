/* background_job - a thread, a place for one job, a mutex. */
#include "core/store/background_job.h"

#include <signal.h>

#include "core/base/std.h"

void background_job_init(struct background_job *b)
{
    *b = (struct background_job){.has_thread = false};
    (void)pthread_mutex_init(&b->lock, NULL); /* cannot fail without attributes */
    (void)pthread_cond_init(&b->changed, NULL);
}

static void *run(void *context)
{
    struct background_job *b = context;
    (void)pthread_mutex_lock(&b->lock);
    while (!b->ends || b->job) {
        if (!b->job) {
            (void)pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        background_job_fn *job = b->job;
        void *of_job = b->context;
        (void)pthread_mutex_unlock(&b->lock);
        job(of_job);
        (void)pthread_mutex_lock(&b->lock);
        b->job = NULL;
        (void)pthread_cond_broadcast(&b->changed);
    }
    (void)pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals are for the threads that wait for them. */
static bool make_thread(struct background_job *b)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    b->has_thread = pthread_create(&b->thread, NULL, run, b) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return b->has_thread;
}

void background_job_start(struct background_job *b, background_job_fn *job,
                          void *context)
{
    if (!b->has_thread && !make_thread(b)) {
        job(context);
        return;
    }
    background_job_wait(b);
    (void)pthread_mutex_lock(&b->lock);
    b->job = job;
    b->context = context;
    (void)pthread_cond_broadcast(&b->changed);
    (void)pthread_mutex_unlock(&b->lock);
}

void background_job_wait(struct background_job *b)
{
    (void)pthread_mutex_lock(&b->lock);
    while (b->job) {
        (void)pthread_cond_wait(&b->changed, &b->lock);
    }
    (void)pthread_mutex_unlock(&b->lock);
}

bool background_job_is_idle(struct background_job *b)
{
    (void)pthread_mutex_lock(&b->lock);
    const bool is_idle = b->job == NULL;
    (void)pthread_mutex_unlock(&b->lock);
    return is_idle;
}

void background_job_fini(struct background_job *b)
{
    if (b->has_thread) {
        (void)pthread_mutex_lock(&b->lock);
        b->ends = true;
        (void)pthread_cond_broadcast(&b->changed);
        (void)pthread_mutex_unlock(&b->lock);
        (void)pthread_join(b->thread, NULL);
        b->has_thread = false;
    }
    (void)pthread_cond_destroy(&b->changed);
    (void)pthread_mutex_destroy(&b->lock);
}
