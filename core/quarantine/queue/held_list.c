#include "core/quarantine/queue/held_list.h"

#include "core/quarantine/queue/queue.h"

enum { ARENA_MAX = 128 << 20, ROOM_FIRST = 64 };

enum err held_list_init(struct held_list *l, struct errinfo *reterr)
{
    *l = (struct held_list){.arena = arena_new(ARENA_MAX)};
    return l->arena != NULL ? ERR_OK : errinfo_nomem(reterr, "list");
}

void held_list_fini(struct held_list *l)
{
    free(l->v);
    arena_free(&l->arena);
}

struct held *held_list_next(struct held_list *l)
{
    if (l->n == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : ROOM_FIRST;
        struct held *more =
            l->n < QUEUE_LISTED_MAX ? realloc(l->v, room * sizeof(*more)) : NULL;

        if (more == NULL) {
            return NULL;
        }
        l->v = more;
        l->room = room;
    }
    return &l->v[l->n];
}

static int compare_times(const void *a, const void *b)
{
    const struct held *x = a;
    const struct held *y = b;

    return (x->time_s > y->time_s) - (x->time_s < y->time_s);
}

void held_list_sort(struct held_list *l)
{
    if (l->n > 1) {
        qsort(l->v, l->n, sizeof(*l->v), compare_times);
    }
}

enum err held_list_print(const struct held_list *l, struct buf *ret,
                         struct errinfo *reterr)
{
    for (size_t i = 0; i < l->n; i++) {
        json_t *row = held_json(&l->v[i]);
        char *text = json_dumps(row, JSON_COMPACT);

        json_decref(row);
        if (text == NULL) {
            return errinfo_nomem(reterr, "list");
        }
        buf_add_str(ret, text);
        buf_add_char(ret, '\n');
        free(text);
    }
    return ERR_OK;
}
