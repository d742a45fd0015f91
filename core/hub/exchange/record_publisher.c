#include "core/hub/exchange/record_publisher.h"

#include "core/base/array.h"
#include "core/ring/sync/peerlist.h"

/* The steps from the published records to the wanted ones. */
struct steps {
    struct list_record *v;
    size_t n;
    size_t room;
    bool again;
};

static enum err add_step(struct steps *s, const struct mirror_entry *e, bool is_gone,
                         struct errinfo *reterr)
{
    struct list_record r = peerlist_record(e);

    if (!array_room(&s->v, &s->room, s->n + 1, SIZE_MAX, sizeof(*s->v))) {
        return errinfo_nomem(reterr, "records");
    }
    r.before = is_gone ? ENTRY_STANDS : ENTRY_ABSENT;
    r.after = is_gone ? ENTRY_ABSENT : ENTRY_STANDS;
    s->v[s->n++] = r;
    return ERR_OK;
}

static enum err compare_entries(struct steps *s, const struct mirror_entry *want,
                                const struct mirror_entry *held, struct errinfo *reterr)
{
    if (want == NULL || held == NULL) {
        return add_step(s, want != NULL ? want : held, want == NULL, reterr);
    }
    if (want->class_type != held->class_type || want->expiry_s != held->expiry_s) {
        s->again = true;
        return add_step(s, held, true, reterr);
    }
    return ERR_OK;
}

static enum err compare_walk(struct steps *s, const struct records_wanted *w,
                             struct mirror_iter *walk, struct errinfo *reterr)
{
    struct mirror_entry held;
    enum err e = ERR_OK;
    bool has_held = walk != NULL && mirror_iter_next(walk, &held, &e);
    size_t i = 0;

    while (e == ERR_OK && (i < w->n || has_held)) {
        int order = !has_held   ? -1
                    : i == w->n ? 1
                                : digest_cmp(&w->v[i].digest, &held.digest);
        e = compare_entries(s, order <= 0 ? &w->v[i] : NULL, order >= 0 ? &held : NULL,
                            reterr);
        i += order <= 0;
        if (order >= 0 && e == ERR_OK) {
            has_held = mirror_iter_next(walk, &held, &e);
        }
    }
    return e;
}

enum err records_publish(struct sync *sync, const struct records_wanted *wanted,
                         bool *retagain, struct errinfo *reterr)
{
    struct mirror_iter *walk = NULL;
    struct steps steps = {.v = NULL};
    struct stream_key key;
    enum err e = ERR_OK;

    if (sync_own_stream(sync, OBJECT_LIST, wanted->list, &key)) {
        e = peerlist_walk(sync_lists(sync), &key, &walk, reterr);
    } else if (wanted->n == 0) { /* an older stream, if there is one, ends */
        return sync_publish_list(sync, wanted->list, NULL, 0, reterr);
    }
    THEN(e, compare_walk(&steps, wanted, walk, reterr));
    mirror_iter_free(&walk);
    if (e == ERR_OK && steps.n > 0) {
        e = sync_publish_list(sync, wanted->list, steps.v, steps.n, reterr);
    }
    *retagain = *retagain || steps.again;
    free(steps.v);
    return e;
}
