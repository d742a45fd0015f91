/*
 * list_manager_peers - the lists of peers follow the local lists in the set, each with its origin.
 *
 * Without a folder of peers this costs two calls of stat a refresh.
 */

#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/list/list_manager_internal.h"
#include "core/telemetry/stats.h"

enum {
    LISTS_PER_ORIGIN = 16,
    CACHE_PART = 16, /* of the confirmation cache of one of our lists */
    CACHE_LEAST = 256
};

static bool is_believed(const struct origins *o, const struct origin_row *row)
{
    return row->state == ORIGIN_ACTIVE &&
           memcmp(row->origin, o->self, ORIGIN_BYTES) != 0;
}

static size_t count_believed(const struct origins *o)
{
    size_t n = 0;
    for (unsigned i = 0; i < o->n; i++) {
        n += is_believed(o, &o->v[i]);
    }
    return n;
}

size_t peers_look(struct list_manager *h)
{
    struct hold_origins *p = &h->peers;
    struct file_mark now = file_mark_in(h->state_dir, "peers/origins");
    struct file_mark more = file_mark_in(h->state_dir, "peers/origins.subscriptions");
    if (file_mark_eq(&now, &p->mark) && file_mark_eq(&more, &p->more_mark)) {
        return count_believed(&p->origins) * LISTS_PER_ORIGIN;
    }
    struct origins fresh;
    struct errinfo info;
    char text[ERRINFO_TEXT_MAX];
    enum err e = origins_read(h->state_dir, &fresh, &info);
    p->mark = now;
    p->more_mark = more;
    if (e == ERR_OK || e == ERR_NOT_FOUND) {
        origins_fini(&p->origins);
        p->origins = e == ERR_OK ? fresh : (struct origins){.n = 0};
        if (p->is_failed) {
            stats_fault("origins", NULL);
        }
    } else { /* the known origins stay in use */
        stats_fault("origins", errinfo_format(&info, text, sizeof(text)));
        log_errinfo("origins", &info);
    }
    p->is_failed = e != ERR_OK && e != ERR_NOT_FOUND;
    return count_believed(&p->origins) * LISTS_PER_ORIGIN;
}

/* Whether a peer's list of this name is used. If the name is not configured, its hits are shown
 * with weight 0. */
static bool is_asked(const struct config_list *c)
{
    return c->enabled && !c->is_allow; /* peers can never let mail through */
}

static const uint8_t *owner_id(const struct origin_row *row)
{
    return origin_is_own(row) ? row->origin : row->owner;
}

/* The first row of the same server. */
static unsigned owner_of(const struct origins *o, unsigned at)
{
    unsigned i = 0;

    while (i < at &&
           memcmp(owner_id(&o->v[i]), owner_id(&o->v[at]), ORIGIN_BYTES) != 0) {
        i++;
    }
    return i;
}

static void refresh_origin(struct refresh *x, const struct config *config, unsigned at,
                           struct arena *arena)
{
    const struct origins *o = &x->h->peers.origins;
    const struct origin_row *row = &o->v[at];
    char folder[FILE_PATH_MAX];
    char hex[2 * ORIGIN_BYTES + 1];
    struct slice *names = NULL;
    size_t n = 0;
    hex_print(row->origin, ORIGIN_BYTES, hex);
    arena_reset(arena);
    if (file_path(folder, "%s/peers/lists/%s", x->h->state_dir, hex) != ERR_OK ||
        list_names(folder, arena, &names, &n, NULL) != ERR_OK) {
        return; /* nothing was listed yet */
    }
    size_t cache = config->limits.confirm_cache / CACHE_PART;
    for (size_t i = 0; i < n && i < LISTS_PER_ORIGIN; i++) {
        const struct config_list *c = config_list_find(config, names[i]);
        struct list_place place = {.state_dir = folder,
                                   .name = names[i],
                                   .config = c,
                                   .origin = row,
                                   .owner = owner_of(o, at),
                                   .cache = cache < CACHE_LEAST ? 0 : cache};
        place.weight = c->name ? config_peer_weight(config, slice_str(row->name)) : 0.0;
        (void)snprintf(place.label, sizeof(place.label), "%.*s of %s",
                       SLICE_ARGS(names[i]), row->name);
        size_t before = x->fresh->n;
        if (is_asked(c)) {
            refresh_list(x, &place);
        }
        if (x->fresh->n > before) {
            x->fresh->item[before].origin_at = x->fresh->norigins;
        }
    }
    x->fresh->norigins++;
}

void peers_refresh(struct refresh *x, const struct config *config)
{
    const struct origins *o = &x->h->peers.origins;
    struct arena *arena = arena_new(NAMES_ARENA_BYTES);
    for (unsigned i = 0; arena && i < o->n; i++) {
        if (is_believed(o, &o->v[i])) {
            refresh_origin(x, config, i, arena);
        }
    }
    arena_free(&arena);
}
