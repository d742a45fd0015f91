/*
 * writer - the inside of an open list writer, for the room's own modules.
 *
 * Depends: base, store, the room's files.   Threads: one at a time.
 */
#ifndef CORE_LIST_WRITER_H
#define CORE_LIST_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/list/files.h"
#include "core/list/list.h"
#include "core/list/recent.h"
#include "core/list/tail.h"
#include "core/store/index.h"

enum writer_state {
    WRITER_READY,
    WRITER_DAMAGED, /* only a rebuild is possible; why says what is wrong */
    WRITER_STOPPED /* a publication broke off: what is on disk must be looked at anew */
};

struct list_writer {
    char dir[FILE_PATH_MAX];
    char name[LIST_NAME_MAX + 1];
    struct filelock lock;
    struct keyring keys;
    struct hashkey key; /* the list's */
    struct hashkey node;
    enum writer_state state;
    struct errinfo why;
    struct list_current current; /* generation 0: there is none */
    struct index *index;         /* NULL: damaged, index_why says how */
    struct errinfo index_why;
    struct recent recent;
    struct tail tail;
    bool keep_text;
    struct filter_wish filter;
};

/* ERR_OK when the writer may change the list; else what is wrong and what to do. */
enum err writer_check(const struct list_writer *w, struct errinfo *reterr);
/* Closes index, recent table and tail. */
void writer_close_generation(struct list_writer *w);
/* Removes files that no generation in use names. Failures are left for the next time. */
void writer_clean(const struct list_writer *w);
uint32_t writer_now_s(void);

#endif
