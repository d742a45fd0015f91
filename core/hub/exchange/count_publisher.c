#include "core/hub/exchange/count_publisher.h"

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/count/follow.h"

struct count_publisher {
    struct node *node;
    struct follow *follow;
    struct count_record *v;
    size_t room;
    uint64_t published;
    struct errinfo *reterr; /* of the look under way */
};

enum err count_publisher_new(struct node *node, struct count_publisher **ret,
                             struct errinfo *reterr)
{
    struct count_publisher *c = calloc(1, sizeof(*c));
    enum err e;

    if (c == NULL) {
        return errinfo_nomem(reterr, "counts");
    }
    c->node = node;
    e = follow_open(node->state_dir, &node->keys, &c->follow, reterr);
    if (e != ERR_OK) {
        free(c);
        return e;
    }
    *ret = c;
    return ERR_OK;
}

void count_publisher_free(struct count_publisher **c)
{
    if (*c == NULL) {
        return;
    }
    follow_close(&(*c)->follow);
    free((*c)->v);
    free(*c);
    *c = NULL;
}

static enum err publish_run(void *context, uint64_t start_s,
                            const struct run_record *totals, size_t n, bool is_complete)
{
    struct count_publisher *c = context;
    enum err e = array_room(&c->v, &c->room, n, SIZE_MAX, sizeof(*c->v))
                     ? ERR_OK
                     : errinfo_nomem(c->reterr, "counts");

    if (e == ERR_OK && n > 0) {
        for (size_t i = 0; i < n; i++) {
            c->v[i] =
                (struct count_record){.key = totals[i].key, .count = totals[i].count};
        }
        e = sync_publish_counts(c->node->sync, start_s, c->v, n, c->reterr);
        c->published += e == ERR_OK ? n : 0;
    }
    if (e == ERR_OK && is_complete) {
        e = sync_close_counts(c->node->sync, start_s, c->reterr);
    }
    return e;
}

enum err count_publisher_tick(struct count_publisher *c, struct errinfo *reterr)
{
    enum err e;

    if (c == NULL) {
        return ERR_OK;
    }
    c->reterr = reterr;
    e = follow_look(c->follow, clock_wall_us() / 1000000, publish_run, c, reterr);
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

uint64_t count_publisher_published(const struct count_publisher *c)
{
    return c != NULL ? c->published : 0;
}
