#include "core/hub/redis/redis_lookup.h"

#include <stdatomic.h>
#include <sys/socket.h>

#include "core/base/thread.h"

struct redis_lookup {
    _Atomic unsigned users; /* the thread, and the owner */
    _Atomic bool is_done;   /* set with release after status and addresses */
    int status;             /* of getaddrinfo */
    struct addrinfo *addresses;
    char service[8];
    char host[];
};

static void drop_one(struct redis_lookup *l)
{
    /* acq_rel: the last one sees all that the other did */
    if (atomic_fetch_sub_explicit(&l->users, 1, memory_order_acq_rel) == 1) {
        if (l->addresses != NULL) {
            freeaddrinfo(l->addresses);
        }
        free(l);
    }
}

static void find_addresses(struct redis_lookup *l, int flags)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = flags | AI_NUMERICSERV};

    l->status = getaddrinfo(l->host, l->service, &hints, &l->addresses);
}

static void *run_lookup(void *context)
{
    struct redis_lookup *l = context;

    find_addresses(l, AI_ADDRCONFIG);
    atomic_store_explicit(&l->is_done, true, memory_order_release);
    drop_one(l);
    return NULL;
}

struct redis_lookup *redis_lookup_new(const char *host, unsigned port)
{
    const size_t n = strlen(host) + 1;
    struct redis_lookup *l = calloc(1, sizeof(*l) + n);
    pthread_t thread;

    if (l == NULL) {
        return NULL;
    }
    memcpy(l->host, host, n);
    (void)snprintf(l->service, sizeof(l->service), "%u", port);
    find_addresses(l, AI_NUMERICHOST);
    if (l->status != EAI_NONAME) {
        atomic_store(&l->users, 1);
        atomic_store(&l->is_done, true);
        return l;
    }
    atomic_store(&l->users, 2);
    if (thread_start(&thread, run_lookup, l) != 0) {
        free(l);
        return NULL;
    }
    (void)pthread_detach(thread);
    return l;
}

bool redis_lookup_is_done(struct redis_lookup *l, const struct addrinfo **ret,
                          const char **retwhy)
{
    if (!atomic_load_explicit(&l->is_done, memory_order_acquire)) {
        return false;
    }
    *ret = l->status == 0 ? l->addresses : NULL;
    *retwhy = l->status == 0 ? "" : gai_strerror(l->status);
    return true;
}

void redis_lookup_drop(struct redis_lookup **l)
{
    if (*l != NULL) {
        drop_one(*l);
        *l = NULL;
    }
}
