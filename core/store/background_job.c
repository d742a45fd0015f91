/* background_job - a thread, a place for one job, a mutex. */
#include "core/store/background_job.h"

#include "core/base/thread.h"

void background_job_init(struct background_job *b)
{
    *b = (struct background_job){.has_thread = false};
    (void)pthread_mutex_init(&b->lock, NULL); /* cannot fail without attributes */
    (void)pthread_cond_init(&b->changed, NULL);
}

static void *run_jobs(void *context)
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

void background_job_start(struct background_job *b, background_job_fn *job,
                          void *context)
{
    b->has_thread = b->has_thread || thread_start(&b->thread, run_jobs, b) == 0;
    if (!b->has_thread) {
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
