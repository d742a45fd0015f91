/*
 * commit - the write order: data, then what names it, CURRENT last.
 */
#include "core/list/commit.h"

#include "core/base/clock.h"

enum { STREAM_US = 30 * 1000 * 1000 };

enum err list_commit_new_segment(const struct list_writer *w, uint32_t number,
                                 struct active_segment *ret, struct errinfo *reterr)
{
    struct segment_header h = {
        .number = number,
        .key_id = w->key.id,
        .kind = SEGMENT_TAIL,
        .created_s = writer_now_s(),
    };
    enum err e = segment_create(w->dir, &h, reterr);
    return e == ERR_OK
               ? active_segment_open(ret, w->dir, number, SEGMENT_HEADER_BYTES, reterr)
               : e;
}

/* Twice the slots of the last table if that filled within STREAM_US, so that a stream of changes
 * does not merge a small list all the time. */
static uint32_t slots_for(const struct list_writer *w, const struct list_current *c)
{
    uint32_t slots = memtable_slots_for(c->listed + c->revoked);
    bool was_filled = w->recent.used >= memtable_capacity(&w->recent) / 2;
    bool is_stream =
        w->recent.map.p && was_filled && clock_mono_us() - w->begun_mono_us < STREAM_US;
    while (is_stream && slots <= w->recent.slots && slots < MEMTABLE_SLOTS_MAX) {
        slots *= 2;
    }
    return slots;
}

enum err list_commit_new_memtable(struct list_writer *w, const struct list_current *c,
                                  uint32_t tail, struct memtable *ret,
                                  struct errinfo *reterr)
{
    struct memtable_ids ids = {c->generation, tail, c->key_id};
    uint32_t slots = slots_for(w, c);
    struct memtable image;
    enum err e = memtable_new(&ids, &w->node, slots, &image, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct memtable_numbers n = {
        .segment = tail,
        .tail_bytes = SEGMENT_HEADER_BYTES,
        .updated_s = c->updated_s,
        .totals = {c->listed, c->revoked},
    };
    memtable_numbers_set(&image, &n);
    e = memtable_save(&image, w->dir, reterr);
    memtable_close(&image);
    w->begun_mono_us = clock_mono_us();
    return e == ERR_OK
               ? memtable_open(w->dir, &ids, &w->node, FILEMAP_WRITE, ret, reterr)
               : e;
}

enum err list_commit_current(struct list_writer *w, const struct list_current *c,
                             struct errinfo *reterr)
{
    enum err e = current_write(w->dir, LIST_CURRENT, c, &w->why);
    if (e != ERR_OK) {
        w->state = WRITER_STOPPED;
        return errinfo_set(reterr, e, w->why.source, 0, "%s", w->why.text);
    }
    return ERR_OK;
}

/* The former CURRENT is kept beside the new one. */
static enum err current_replace(struct list_writer *w, const struct list_current *c,
                                struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (w->state == WRITER_READY && w->current.generation != 0) {
        e = current_write(w->dir, LIST_CURRENT_PREV, &w->current, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    return list_commit_current(w, c, reterr);
}

/* Keeps the indexes that the new generation names, closes the others. */
static void indexes_take(struct list_writer *w, struct publication *p)
{
    for (uint32_t i = 0; i < p->current.nlevels; i++) {
        uint64_t number = p->current.level[i].number;
        for (uint32_t j = 0; !p->fresh[i] && j < w->current.nlevels; j++) {
            if (w->current.level[j].number == number) {
                p->fresh[i] = w->index[j];
                w->index[j] = NULL;
            }
        }
    }
    for (uint32_t j = 0; j < LIST_LEVELS_MAX; j++) {
        index_close(&w->index[j]);
        w->index[j] = p->fresh[j];
        p->fresh[j] = NULL;
    }
}

void list_edit_drop(struct publication *p)
{
    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        index_close(&p->fresh[i]);
    }
    memtable_close(&p->recent);
    active_segment_close(&p->tail);
}

enum err publish(struct list_writer *w, struct publication *p, struct errinfo *reterr)
{
    memtable_keep_current(&p->recent, &p->current);
    enum err e = current_replace(w, &p->current, reterr);
    if (e != ERR_OK) {
        list_edit_drop(p);
        return e;
    }
    indexes_take(w, p);
    memtable_close(&w->recent);
    w->recent = p->recent;
    if (p->tail.fd >= 0) {
        active_segment_close(&w->tail);
        w->tail = p->tail;
    }
    w->current = p->current;
    w->state = WRITER_READY;
    w->wants_all = false;
    writer_stack(w);
    writer_clean(w);
    return ERR_OK;
}

enum err list_commit_fresh(struct list_writer *w, struct publication *p,
                           struct errinfo *reterr)
{
    const struct list_current *c = &p->current;
    enum err e = list_commit_new_segment(w, c->tail, &p->tail, reterr);
    THEN(e, list_commit_new_memtable(w, c, c->tail, &p->recent, reterr));
    if (e != ERR_OK) {
        list_edit_drop(p);
        return e;
    }
    return publish(w, p, reterr);
}
