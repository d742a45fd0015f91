/* sorter_sort - American flag sort on the prefix, heap sort for equal prefixes. */

#include "core/store/sorter_internal.h"

enum {
    SMALL = 24, /* up to here insertion sort is faster */
    RADIX = 256,
    PREFIX_BITS = 64,
    RADIX_BITS = 8,
    /* Ranges waiting at one time: each of the 8 levels leaves at most 255 behind. */
    STACK_MAX = (PREFIX_BITS / RADIX_BITS) * RADIX
};

struct range {
    size_t from;
    size_t n;
    unsigned shift; /* of the byte to sort by */
};

uint64_t sorter_prefix(const unsigned char *packed)
{
    uint64_t v = 0;
    memcpy(&v, packed, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

size_t sorter_packed_bytes(const unsigned char *packed)
{
    uint16_t n = 0;
    memcpy(&n, packed + SORTER_LENGTH_AT, sizeof(n));
    return SORTER_HEAD_BYTES + (size_t)n;
}

int sorter_item_cmp(const struct sorter_item *a, const struct sorter_item *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    int c = memcmp(a->packed + 8, b->packed + 8, DIGEST_BYTES - 8);
    if (c != 0) {
        return c;
    }
    uint64_t ao = 0;
    uint64_t bo = 0;
    memcpy(&ao, a->packed + SORTER_ORDER_AT, sizeof(ao));
    memcpy(&bo, b->packed + SORTER_ORDER_AT, sizeof(bo));
    return (ao > bo) - (ao < bo);
}

static void insertion_sort(struct sorter_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sorter_item x = items[i];
        size_t j = i;
        for (; j > 0 && sorter_item_cmp(&items[j - 1], &x) > 0; j--) {
            items[j] = items[j - 1];
        }
        items[j] = x;
    }
}

static void sift_down(struct sorter_item *items, size_t root, size_t n)
{
    struct sorter_item x = items[root];
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n && sorter_item_cmp(&items[child], &items[child + 1]) < 0) {
            child++;
        }
        if (sorter_item_cmp(&x, &items[child]) >= 0) {
            break;
        }
        items[root] = items[child];
        root = child;
    }
    items[root] = x;
}

static void heap_sort(struct sorter_item *items, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(items, i, n);
    }
    for (size_t last = n; last-- > 1;) {
        struct sorter_item x = items[0];
        items[0] = items[last];
        items[last] = x;
        sift_down(items, 0, last);
    }
}

static unsigned digit(const struct sorter_item *item, unsigned shift)
{
    return (unsigned)(item->prefix >> shift) % RADIX;
}

/* Puts every item into the bucket of its byte; end[b] becomes the end of bucket b. */
static void distribute(struct sorter_item *items, size_t n, unsigned shift,
                       size_t end[RADIX])
{
    size_t next[RADIX];
    size_t count[RADIX] = {0};
    for (size_t i = 0; i < n; i++) {
        count[digit(&items[i], shift)]++;
    }
    size_t sum = 0;
    for (unsigned b = 0; b < RADIX; b++) {
        next[b] = sum;
        sum += count[b];
        end[b] = sum;
    }
    for (unsigned b = 0; b < RADIX; b++) {
        while (next[b] < end[b]) {
            struct sorter_item x = items[next[b]];
            unsigned to = digit(&x, shift);
            while (to != b) {
                struct sorter_item y = items[next[to]];
                items[next[to]++] = x;
                x = y;
                to = digit(&x, shift);
            }
            items[next[b]++] = x;
        }
    }
}

void sorter_sort(struct sorter_item *items, size_t n)
{
    struct range stack[STACK_MAX];
    size_t end[RADIX];
    size_t waiting = 0;
    stack[waiting++] = (struct range){0, n, PREFIX_BITS - RADIX_BITS};
    while (waiting) {
        struct range r = stack[--waiting];
        struct sorter_item *part = items + r.from;
        if (r.n <= SMALL) {
            insertion_sort(part, r.n);
            continue;
        }
        distribute(part, r.n, r.shift, end);
        size_t from = 0;
        for (unsigned b = 0; b < RADIX; b++) {
            size_t count = end[b] - from;
            if (r.shift == 0 && count > SMALL) {
                heap_sort(part + from, count); /* one prefix */
            } else if (count <= SMALL) {
                insertion_sort(part + from, count);
            } else {
                stack[waiting++] =
                    (struct range){r.from + from, count, r.shift - RADIX_BITS};
            }
            from = end[b];
        }
    }
}
