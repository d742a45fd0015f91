/*
 * list_change - one change of a list, durable when it returns ERR_OK.
 */
#ifndef TESTS_UNIT_LIST_LIST_CHANGE_H
#define TESTS_UNIT_LIST_LIST_CHANGE_H

#include "core/list/list.h"

static inline enum err list_change_one(struct list_writer *w,
                                       const struct list_change *c, struct slice source,
                                       struct errinfo *reterr)
{
    enum err e = list_stage(w, c, source, reterr);
    return e == ERR_OK ? list_flush(w, reterr) : e;
}

static inline enum err list_add(struct list_writer *w, const struct feature_entry *e,
                                struct slice source, uint32_t expiry_s,
                                struct errinfo *reterr)
{
    const struct list_change c = {.entry = *e, .expiry_s = expiry_s};
    return list_change_one(w, &c, source, reterr);
}

static inline enum err list_revoke(struct list_writer *w, const struct feature_entry *e,
                                   struct slice source, struct errinfo *reterr)
{
    const struct list_change c = {.entry = *e, .is_revoke = true};
    return list_change_one(w, &c, source, reterr);
}

#endif
