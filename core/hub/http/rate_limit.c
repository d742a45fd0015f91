#include "core/hub/http/rate_limit.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/digest.h"

const struct bucket_rate rate_limit_address_rate = {.per_s = 20, .burst = 200};
const struct bucket_rate rate_limit_all_rate = {.per_s = 50, .burst = 300};

bool bucket_take(struct bucket *b, const struct bucket_rate *rate, double n,
                 uint64_t now_us, unsigned *retwait_s)
{
    double tokens = rate->burst;
    double need = n < rate->burst ? n : rate->burst;

    if (b->at_us != 0 && now_us >= b->at_us) {
        tokens = b->tokens + (double)(now_us - b->at_us) / 1e6 * rate->per_s;
    } else if (b->at_us != 0) {
        tokens = b->tokens;
    }
    b->tokens = tokens < rate->burst ? tokens : rate->burst;
    b->at_us = now_us != 0 ? now_us : 1;
    if (b->tokens < need) {
        if (retwait_s != NULL) {
            *retwait_s = (unsigned)((need - b->tokens) / rate->per_s) + 1;
        }
        return false;
    }
    b->tokens -= n;
    return true;
}

struct place {
    uint8_t address[8];
    bool is_v6;
    struct bucket bucket; /* at_us 0: the place is free */
    uint64_t known_until_us;
};

struct rate_limit {
    struct bucket all;
    struct place v[RATE_LIMIT_ADDRESSES];
};

struct rate_limit *rate_limit_new(void)
{
    return calloc(1, sizeof(struct rate_limit));
}

void rate_limit_free(struct rate_limit **l)
{
    free(*l);
    *l = NULL;
}

static struct place name_address(const struct sockaddr *from)
{
    struct place p = {.is_v6 = from->sa_family == AF_INET6};

    if (p.is_v6) {
        const struct sockaddr_in6 *in6 =
            (const struct sockaddr_in6 *)(const void *)from;

        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
            p.is_v6 = false;
            memcpy(p.address, in6->sin6_addr.s6_addr + 12, 4);
        } else {
            memcpy(p.address, in6->sin6_addr.s6_addr, sizeof(p.address));
        }
    } else if (from->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)from;

        memcpy(p.address, &in->sin_addr, 4);
    }
    return p;
}

static bool is_same_address(const struct place *a, const struct place *b)
{
    return a->is_v6 == b->is_v6 &&
           memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* True if a is evicted before b: strangers before members, then the oldest. */
static bool gives_way(const struct place *a, const struct place *b, uint64_t now_us)
{
    bool a_known = a->known_until_us > now_us;
    bool b_known = b->known_until_us > now_us;

    return a_known != b_known ? b_known : a->bucket.at_us < b->bucket.at_us;
}

/* The place of an address: its own, a free one, or the oldest, which is evicted. */
static struct place *find_place(struct rate_limit *l, const struct sockaddr *from,
                                uint64_t now_us)
{
    struct place name = name_address(from);
    struct place *best = NULL;
    struct slice bytes = slice_of((const char *)name.address, sizeof(name.address));
    size_t at = (size_t)(hash_local(bytes) % RATE_LIMIT_ADDRESSES);

    for (size_t i = 0; i < RATE_LIMIT_SLOTS; i++) {
        struct place *p = &l->v[(at + i) % RATE_LIMIT_ADDRESSES];

        if (p->bucket.at_us != 0 && is_same_address(p, &name)) {
            return p;
        }
        if (best == NULL || gives_way(p, best, now_us)) {
            best = p;
        }
    }
    *best = name;
    return best;
}

bool rate_limit_admit(struct rate_limit *l, const struct sockaddr *from,
                      uint64_t now_us)
{
    struct place *p = find_place(l, from, now_us);

    return bucket_take(&p->bucket, &rate_limit_address_rate, 1, now_us, NULL) &&
           (p->known_until_us > now_us ||
            bucket_take(&l->all, &rate_limit_all_rate, 1, now_us, NULL));
}

bool rate_limit_take(struct rate_limit *l, const struct sockaddr *from,
                     const struct bucket_rate *rate, uint64_t now_us,
                     unsigned *retwait_s)
{
    return bucket_take(&find_place(l, from, now_us)->bucket, rate, 1, now_us,
                       retwait_s);
}

void rate_limit_know(struct rate_limit *l, const struct sockaddr *from, uint64_t now_us)
{
    struct place *p = find_place(l, from, now_us);

    p->known_until_us = now_us + (uint64_t)RATE_LIMIT_KNOWN_S * 1000000;
    if (p->bucket.at_us == 0) {
        (void)bucket_take(&p->bucket, &rate_limit_address_rate, 1, now_us, NULL);
    }
}

unsigned backoff_ms(unsigned failures, unsigned longest_ms, uint32_t random)
{
    unsigned most = BACKOFF_FIRST_MS;

    for (unsigned i = 1; i < failures && most < longest_ms; i++) {
        most *= 2;
    }
    if (most > longest_ms) {
        most = longest_ms;
    }
    return most / 2 + random % (most / 2 + 1);
}
