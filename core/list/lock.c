/* lock - tries again, at random moments, so that several who wait all have their turn. */
#include "core/list/lock.h"

#include "core/base/clock.h"
#include "core/base/random.h"

enum { PAUSE_LEAST_MS = 5, PAUSE_MORE_MS = 32, MS = 1000, S = 1000000 };

static void pause_a_moment(void)
{
    unsigned char dice = 0;
    struct timespec t = {.tv_sec = 0};

    random_bytes(&dice, sizeof(dice));
    t.tv_nsec = (PAUSE_LEAST_MS + dice % PAUSE_MORE_MS) * (long)S;
    (void)nanosleep(&t, NULL);
}

/* Says once who has the lock. False: it was waited for long enough. */
static bool may_wait(const struct list_lock_wait *wait, uint64_t waited_us,
                     bool *io_said, const struct errinfo *who)
{
    if ((wait->stop != NULL && atomic_load(wait->stop)) ||
        waited_us >= (uint64_t)wait->most_s * S) {
        return false;
    }
    if (!*io_said && wait->say != NULL &&
        waited_us >= (uint64_t)LIST_LOCK_SAY_MS * MS) {
        *io_said = true;
        wait->say(wait->context, who);
    }
    return true;
}

enum err list_lock_waiting(const struct list_lock_wait *wait, list_lock_fn *try_it,
                           void *context, struct errinfo *reterr)
{
    struct errinfo why = {.code = ERR_OK};
    uint64_t begin_us = clock_mono_us();
    bool said = false;
    enum err e = try_it(context, &why);

    while (e == ERR_LOCKED && may_wait(wait, clock_mono_us() - begin_us, &said, &why)) {
        pause_a_moment();
        e = try_it(context, &why);
    }
    if (e != ERR_OK && reterr != NULL) {
        *reterr = why;
    }
    return e;
}

struct opening {
    const char *state_dir;
    struct slice name;
    const struct keyring *keys;
    bool create;
    struct list_writer **ret;
};

static enum err open_writer(void *context, struct errinfo *reterr)
{
    const struct opening *o = context;
    return list_writer_open(o->state_dir, o->name, o->keys, o->create, o->ret, reterr);
}

/* NOLINTNEXTLINE(readability-function-size): those of list_writer_open, and how long */
enum err list_writer_open_waiting(const char *state_dir, struct slice name,
                                  const struct keyring *keys, bool create,
                                  const struct list_lock_wait *wait,
                                  struct list_writer **ret, struct errinfo *reterr)
{
    struct opening o = {state_dir, name, keys, create, ret};
    return list_lock_waiting(wait, open_writer, &o, reterr);
}
