/*
 * writer - contents of an open list writer, for the modules of this room.
 *
 * Depends: base, store, the room's files.   Threads: one at a time.
 */
#ifndef CORE_LIST_WRITER_H
#define CORE_LIST_WRITER_H

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/list/active_segment.h"
#include "core/list/files.h"
#include "core/list/list.h"
#include "core/list/locks.h"
#include "core/list/memtable.h"
#include "core/list/merged_index.h"
#include "core/store/index.h"

enum writer_state {
    WRITER_READY,
    WRITER_DAMAGED, /* only a rebuild is possible; why says what is wrong */
    WRITER_STOPPED  /* a commit failed midway: open the list again */
};

/* A change that is staged: not durable, seen by nobody. */
struct pending {
    struct digest digest;
    struct index_record before;
    struct index_record after;
    bool has_before;
};

enum { PENDING_MAX = 1024, PENDING_SLOTS = 2 * PENDING_MAX };

struct compaction;

struct list_writer {
    char dir[FILE_PATH_MAX];
    char name[LIST_NAME_MAX + 1];
    struct list_lock lock;
    struct keyring keys;
    struct hashkey key; /* the list's */
    struct hashkey node;
    enum writer_state state;
    struct errinfo why;
    struct list_current current;          /* generation 0: there is none */
    struct index *index[LIST_LEVELS_MAX]; /* of current.level; NULL: damaged */
    struct merged_index stack;            /* those that are not */
    struct errinfo index_why;             /* of the first that is */
    struct memtable recent;
    struct active_segment tail; /* its last segment */
    struct arena *scratch;      /* of one entry */
    bool keep_text;
    bool is_exact; /* expired entries stay until the owner removes them */
    struct filter_wish filter;
    struct list_ageing ageing;
    uint64_t period_next_s; /* begin of the period that additions from now on are of */
    bool is_dropping;       /* the next generation is without drop_period_s */
    uint64_t drop_period_s;
    struct entry_totals dropped; /* what goes with it */
    bool
        wants_all; /* a filter is not as configured: the next compaction takes all levels */
    struct pending *pending; /* PENDING_MAX */
    size_t npending;
    uint16_t slot[PENDING_SLOTS];  /* hash table of pending, 1 and up; 0: free */
    uint64_t pending_s;            /* time of the last one */
    struct compaction *compaction; /* NULL: none runs */
    struct memtable next;          /* of the generation it makes */
    uint64_t begun_mono_us;        /* when the last memtable was made */
    uint64_t compact_at; /* entries in the memtable from which another is tried */
    struct errinfo compact_why; /* of the last that failed; code ERR_OK: none */
};

/* An entry as this list has it. */
struct writer_entry {
    uint16_t class_type;
    struct digest digest;
    struct slice text; /* for the log; may be empty */
};
enum err writer_entry_of(const struct list_writer *w, const struct feature_entry *e,
                         struct writer_entry *ret, struct errinfo *reterr);
/* ERR_OK if the writer can change the list; else the reason and the remedy. */
enum err writer_check(const struct list_writer *w, struct errinfo *reterr);
/* ERR_OK when no level is damaged: a merge needs them all. */
/* The key of the positions in the filters that are built from now on. */
const struct hashkey *writer_position_key(const struct list_writer *w);
enum err writer_levels_check(const struct list_writer *w, struct errinfo *reterr);
/* Makes staged changes durable and waits for a compaction. */
enum err writer_settled(struct list_writer *w, struct errinfo *reterr);
/* Sets w->stack from w->index. */
void writer_stack(struct list_writer *w);
/* Only CURRENT is replaced, for other filters of peers: the generation is the same, and
 * CURRENT.prev still names the previous one. */
enum err member_name(struct list_writer *w, const struct list_current *c,
                     struct errinfo *reterr);
/* Removes files that no generation in use names. Failures are left for the next time. */
void writer_clean(const struct list_writer *w);
/* Closes indexes, memtables and tail. */
void writer_close_generation(struct list_writer *w);
uint32_t writer_now_s(void);
/* New levels leave out entries that expired by this time. */
uint32_t writer_expired_s(const struct list_writer *w);

#endif
