/*
 * import - entries are sorted outside memory, then merged into the next generation.
 */
#include <stdlib.h>
#include <string.h>

#include "core/list/merge.h"

/* Memory of the sort before it goes to disk. */
enum { IMPORT_SORT_BYTES = 96 * 1024 * 1024 };

struct list_import {
    struct list_writer *w;
    struct sorter *sorter;
    struct buf scratch;
    char source[LIST_SOURCE_MAX];
    uint32_t time_s;
    uint64_t given;
};

enum err list_import_begin(struct list_writer *w, struct slice source,
                           struct list_import **ret, struct errinfo *reterr)
{
    enum err e = writer_check(w, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct list_import *im = calloc(1, sizeof(*im));
    if (!im) {
        return errinfo_set(reterr, ERR_NOMEM, w->dir, 0, "no memory for an import");
    }
    im->w = w;
    im->time_s = writer_now_s();
    source = slice_head(source, LIST_SOURCE_MAX - 1);
    if (source.n > 0) {
        memcpy(im->source, source.p, source.n);
    }
    buf_init(&im->scratch, SORTER_DATA_MAX);
    e = sorter_new(w->dir, IMPORT_SORT_BYTES, &im->sorter, reterr);
    if (e != ERR_OK) {
        list_import_abort(&im);
        return e;
    }
    *ret = im;
    return ERR_OK;
}

enum err list_import_add(struct list_import *im, const struct feature_entry *e,
                         uint32_t expiry_s, struct errinfo *reterr)
{
    if (e->text.n > LIST_TEXT_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "", 0,
                           "the entry is longer than %d bytes", LIST_TEXT_MAX);
    }
    struct sorter_record r = {.order = im->given};
    digest_make(&im->w->key, e->class_type, e->text, &r.digest);
    buf_clear(&im->scratch);
    merge_data_print(e->class_type, expiry_s, im->w->keep_text ? e->text : SLICE_NONE,
                     &im->scratch);
    if (buf_failed(&im->scratch)) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory for an entry");
    }
    r.data = buf_slice(&im->scratch);
    enum err failed = sorter_add(im->sorter, &r, reterr);
    if (failed == ERR_OK) {
        im->given++;
    }
    return failed;
}

enum err list_import_commit(struct list_import **im, list_progress_fn *progress,
                            void *context, struct list_import_result *ret,
                            struct errinfo *reterr)
{
    struct list_import *i = *im;
    struct list_import_result result = {0};
    if (progress) {
        progress(context, "sort", 0);
    }
    enum err e = sorter_finish(i->sorter, reterr);
    if (e == ERR_OK) {
        struct merge_input in = {
            .sorter = i->sorter, .source = slice_str(i->source), .time_s = i->time_s};
        e = list_merge(i->w, &in, progress, context, &result, reterr);
    }
    if (e == ERR_OK) {
        result.given = i->given;
        *ret = result;
    }
    list_import_abort(im);
    return e;
}

void list_import_abort(struct list_import **im)
{
    if (*im) {
        sorter_free(&(*im)->sorter);
        buf_fini(&(*im)->scratch);
        free(*im);
    }
    *im = NULL;
}
