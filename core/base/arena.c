/* arena - chunks in a list; the newest is the one that is filled. */
#include "core/base/arena.h"

/* Under AddressSanitizer every allocation is followed by a poisoned gap, so that a parser that
 * runs past its bytes is caught although chunks are shared. */
#if defined(__SANITIZE_ADDRESS__)
#    define ARENA_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define ARENA_ASAN 1
#    endif
#endif
#ifdef ARENA_ASAN
#    include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#    define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#    define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
enum { GAP = 0 };
#    define POISON(p, n)   ((void)(p), (void)(n))
#    define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
    ALIGN = _Alignof(max_align_t),
    CHUNK_FIRST = 16 * 1024,
    CHUNK_LAST = 256 * 1024 /* chunks double up to here */
};

struct chunk {
    struct chunk *next;
    size_t size; /* of bytes */
    size_t used;
    _Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *head; /* being filled; NULL before the first allocation */
    size_t next_size;   /* of the next common chunk */
    size_t cap;
    size_t used; /* given out, with the padding that alignment took */
    bool full;
};

struct arena *arena_new(size_t cap_bytes)
{
    struct arena *a = calloc(1, sizeof(*a));
    if (a) {
        a->cap = cap_bytes;
        a->next_size = CHUNK_FIRST;
    }
    return a;
}

/* Frees the chunks before last, which stays; returns it. */
static struct chunk *free_before(struct chunk *c, const struct chunk *last)
{
    while (c != last) {
        struct chunk *next = c->next;
        UNPOISON(c->bytes, c->size);
        free(c);
        c = next;
    }
    return c;
}

static void free_chunks(struct chunk *c)
{
    (void)free_before(c, NULL);
}

void arena_free(struct arena **a)
{
    if (*a) {
        free_chunks((*a)->head);
        free(*a);
        *a = NULL;
    }
}

void arena_reset(struct arena *a)
{
    struct chunk *keep = a->head;
    if (keep) {
        free_chunks(keep->next);
        keep->next = NULL;
        keep->used = 0;
        if (keep->size > CHUNK_LAST) { /* one huge mail must not hold its memory */
            free_chunks(keep);
            a->head = NULL;
        } else {
            POISON(keep->bytes, keep->size);
        }
    }
    a->used = 0;
    a->full = false;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){.head = a->head,
                               .behind = a->head ? a->head->next : NULL,
                               .filled = a->head ? a->head->used : 0,
                               .used = a->used};
}

void arena_rewind(struct arena *a, const struct arena_mark *to)
{
    a->head = free_before(a->head, to->head);
    if (a->head) {
        a->head->next = free_before(a->head->next, to->behind);
        a->head->used = to->filled;
        POISON(a->head->bytes + to->filled, a->head->size - to->filled);
    }
    a->used = to->used;
}

static struct chunk *chunk_new(size_t size)
{
    struct chunk *c = malloc(sizeof(*c) + size);
    if (c) {
        c->next = NULL;
        c->size = size;
        c->used = 0;
        POISON(c->bytes, size);
    }
    return c;
}

/* A chunk with room for size bytes at an aligned start; NULL without memory. */
static struct chunk *chunk_for(struct arena *a, size_t size)
{
    if (size > a->next_size / 4 && a->head) {
        /* A big one gets its own chunk behind the head, which stays in use. */
        struct chunk *own = chunk_new(size);
        if (own) {
            own->next = a->head->next;
            a->head->next = own;
        }
        return own;
    }
    struct chunk *c = chunk_new(size > a->next_size ? size : a->next_size);
    if (c) {
        c->next = a->head;
        a->head = c;
        if (a->next_size < CHUNK_LAST) {
            a->next_size *= 2;
        }
    }
    return c;
}

static void *give_bytes(struct arena *a, size_t size, size_t align)
{
    if (size == 0) {
        return a; /* valid, aligned, and nothing may be read from it */
    }
    struct chunk *c = a->head;
    size_t pad = c ? (align - c->used % align) % align : 0;
    if (a->full || size > a->cap - a->used || pad > a->cap - a->used - size ||
        size > SIZE_MAX / 2) {
        a->full = true;
        return NULL;
    }
    if (!c || pad + size + GAP > c->size - c->used) {
        pad = 0;
        c = chunk_for(a, size + GAP);
        if (!c) {
            a->full = true;
            return NULL;
        }
    }
    unsigned char *p = c->bytes + c->used + pad;
    size_t taken = pad + size + GAP;
    c->used += taken < c->size - c->used ? taken : c->size - c->used;
    a->used += pad + size;
    UNPOISON(p, size);
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = give_bytes(a, size, ALIGN);
    return p && size ? memset(p, 0, size) : p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) {
        a->full = true;
        return NULL;
    }
    return arena_alloc(a, total);
}

char *arena_bytes(struct arena *a, size_t size)
{
    return give_bytes(a, size, 1);
}

struct slice arena_copy(struct arena *a, struct slice s)
{
    char *p = s.n < SIZE_MAX ? arena_bytes(a, s.n + 1) : NULL;
    if (!p) {
        return SLICE_NONE;
    }
    if (s.n) {
        memcpy(p, s.p, s.n);
    }
    p[s.n] = '\0';
    return (struct slice){p, s.n};
}

bool arena_is_full(const struct arena *a)
{
    return a->full;
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}
