#include "core/base/case_id.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/prng.h"
#include "core/base/random.h"

enum {
    NUMBER_BITS = 28,
    HALF_BITS = NUMBER_BITS / 2,
    HALF_MASK = (1 << HALF_BITS) - 1,
    ROUNDS = 6,
    CHAR_BITS = 5,
    CHAR_MASK = (1 << CHAR_BITS) - 1
};
#define EPOCH_S UINT64_C(1577836800) /* 2020-01-01 */

static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";

static struct {
    pthread_once_t once;
    bool has_begun;
    uint64_t key[ROUNDS];
    _Atomic uint32_t next;
} ids = {.once = PTHREAD_ONCE_INIT};

static void draw_key(void)
{
    struct hashkey key = {.id = 0};

    if (!ids.has_begun) {
        random_bytes(key.bytes, sizeof(key.bytes));
        case_id_begin(&key, 0);
    }
}

void case_id_begin(const struct hashkey *key, uint64_t now_us)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[16];
        struct digest digest;

        (void)snprintf(text, sizeof(text), "case id %u", i);
        digest_make(key, 0, slice_str(text), &digest);
        memcpy(&ids.key[i], digest.b, sizeof(ids.key[i]));
    }
    atomic_store(&ids.next, (uint32_t)now_us);
    ids.has_begun = true;
}

/* A Feistel network: a permutation of the numbers of NUMBER_BITS bits. */
static uint32_t scatter(uint32_t number)
{
    uint32_t left = number >> HALF_BITS & HALF_MASK;
    uint32_t right = number & HALF_MASK;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t mixed = (uint32_t)prng_mix(ids.key[i] ^ right) & HALF_MASK;
        uint32_t next = left ^ mixed;
        left = right;
        right = next;
    }
    return left << HALF_BITS | right;
}

uint64_t case_id_next(uint64_t now_s)
{
    (void)pthread_once(&ids.once, draw_key);
    uint32_t number = atomic_fetch_add_explicit(&ids.next, 1, memory_order_relaxed);
    uint64_t since = now_s > EPOCH_S ? now_s - EPOCH_S : 1;

    return (since & UINT32_MAX) << NUMBER_BITS | scatter(number);
}

uint64_t case_id_time_s(uint64_t id)
{
    return EPOCH_S + (id >> NUMBER_BITS);
}

const char *case_id_print(uint64_t id, char ret[CASE_ID_SIZE])
{
    for (size_t i = CASE_ID_CHARS; i-- > 0; id >>= CHAR_BITS) {
        ret[i] = letters[id & CHAR_MASK];
    }
    ret[CASE_ID_CHARS] = '\0';
    return ret;
}

/* The value of a letter of either case, or -1. */
static int value_of(char c)
{
    static const char upper[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    static const char like_0[] = "oO";
    static const char like_1[] = "iIlL";

    if (c == '\0') {
        return -1;
    }
    if (strchr(like_0, c) != NULL) {
        return 0;
    }
    if (strchr(like_1, c) != NULL) {
        return 1;
    }
    const char *at = strchr(letters, c);
    const char *at_upper = strchr(upper, c);
    return at != NULL         ? (int)(at - letters)
           : at_upper != NULL ? (int)(at_upper - upper)
                              : -1;
}

bool case_id_read(struct slice text, uint64_t *ret)
{
    uint64_t id = 0;

    if (text.n != CASE_ID_CHARS) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        int value = value_of(text.p[i]);
        if (value < 0) {
            return false;
        }
        id = id << CHAR_BITS | (uint64_t)value;
    }
    *ret = id;
    return true;
}
