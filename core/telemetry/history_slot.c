/* history_slot - numbers of one stretch of time, in a ring of such slots. */

#include <pthread.h>

#include "core/telemetry/history_page.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards: emptying of slots */

/* The stamp is 0 meanwhile, and each release store comes after it: a slot half emptied belongs to
 * no time. */
static void empty_slot(struct history_slot *s, uint64_t stamp)
{
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&s->stamp, memory_order_relaxed) != stamp) {
        atomic_store_explicit(&s->stamp, 0, memory_order_relaxed);
        for (unsigned i = 0; i < HISTORY_NUMBERS; i++) {
            atomic_store_explicit(&s->number[i], 0, memory_order_release);
        }
        atomic_store_explicit(&s->stamp, stamp, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

void history_slot_add(struct history_slot *ring, unsigned nslots, uint64_t stamp,
                      const uint64_t number[HISTORY_NUMBERS])
{
    struct history_slot *s = &ring[stamp % nslots];

    /* acquire: partner of the release that ends the emptying */
    if (atomic_load_explicit(&s->stamp, memory_order_acquire) != stamp) {
        empty_slot(s, stamp);
    }
    for (unsigned i = 0; i < HISTORY_NUMBERS; i++) {
        if (number[i] != 0) { /* relaxed, as all numbers: they order nothing */
            atomic_fetch_add_explicit(&s->number[i], number[i], memory_order_relaxed);
        }
    }
}

void history_slot_read(const struct history_slot *ring, unsigned nslots, uint64_t stamp,
                       uint64_t ret[HISTORY_NUMBERS])
{
    const struct history_slot *s = &ring[stamp % nslots];

    for (unsigned i = 0; i < HISTORY_NUMBERS; i++) {
        ret[i] = s->stamp == stamp ? s->number[i] : 0;
    }
}
