/* sync_content - records in a growing array; parts in order are merged two by two. */
#include "core/base/array.h"
#include "core/ring/sync/sync_internal.h"

void content_reserve(struct content *c, size_t n)
{
    (void)array_room(&c->v, &c->room, n, SIZE_MAX / sizeof(*c->v), sizeof(*c->v));
}

void content_add(struct content *c, uint64_t key, uint64_t count)
{
    if (c->n == c->room) {
        content_reserve(c, c->n + 1);
    }
    if (c->n == c->room) {
        c->failed = true;
        return;
    }
    c->v[c->n++] = (struct run_record){key, count};
}

/* The end of the rising part that begins at i. */
static size_t end_of(const struct run_record *v, size_t n, size_t i)
{
    i++;
    while (i < n && v[i].key > v[i - 1].key) {
        i++;
    }
    return i;
}

static size_t merge(const struct run_record *v, size_t a, size_t a_end, size_t b_end,
                    struct run_record *to)
{
    size_t n = 0;
    size_t b = a_end;
    while (a < a_end && b < b_end) {
        if (v[a].key == v[b].key) {
            to[n] = v[a++];
            to[n++].count += v[b++].count;
        } else {
            to[n++] = v[a].key < v[b].key ? v[a++] : v[b++];
        }
    }
    while (a < a_end) {
        to[n++] = v[a++];
    }
    while (b < b_end) {
        to[n++] = v[b++];
    }
    return n;
}

enum err content_sort(struct content *c, struct errinfo *reterr)
{
    struct run_record *other = NULL;
    if (!c->failed && c->n > 0 && end_of(c->v, c->n, 0) < c->n) {
        other = malloc(c->n * sizeof(*other));
        c->failed = other == NULL;
    }
    if (c->failed) {
        return errinfo_nomem(reterr, "counts");
    }
    while (other && end_of(c->v, c->n, 0) < c->n) {
        size_t n = 0;
        size_t i = 0;
        while (i < c->n) {
            size_t a_end = end_of(c->v, c->n, i);
            size_t b_end = a_end < c->n ? end_of(c->v, c->n, a_end) : a_end;
            n += merge(c->v, i, a_end, b_end, other + n);
            i = b_end;
        }
        struct run_record *done = other;
        other = c->v;
        c->v = done;
        c->room = c->n; /* both arrays have room for it */
        c->n = n;
    }
    free(other);
    return ERR_OK;
}

void content_fini(struct content *c)
{
    free(c->v);
    *c = (struct content){.v = NULL};
}
