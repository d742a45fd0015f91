/*
 * reader - contents of an open list, for the modules of this room.
 *
 * Depends: base, filter, store, the room's files.   Threads: constant once open, except the
 * memtable, which the writer changes.
 */
#ifndef CORE_LIST_READER_H
#define CORE_LIST_READER_H

#include "core/list/confirm_cache.h"
#include "core/list/level.h"
#include "core/list/list.h"
#include "core/list/memtable.h"
#include "core/list/peer_filter.h"

/* Of STATE/lists/NAME/CURRENT; zeros when there is none. */
struct file_mark list_current_mark(const char *state_dir, struct slice name);

struct list_reader {
    char name[LIST_NAME_MAX + 1];
    char dir[FILE_PATH_MAX];
    struct hashkey key;
    struct list_current current;
    struct level *level[LIST_LEVELS_MAX]; /* of current.level */
    bool is_whole;                        /* no index of them is damaged */
    bool has_filters;                     /* no filter is */
    bool
        has_remote; /* lines of some are elsewhere: list_reader_test alone rules nothing out */
    /* with a damaged index, the levels of the generation before, with `recent` holding every
     * single change since; or none */
    struct level *former[LIST_LEVELS_MAX];
    uint32_t nformer;
    const struct list_reader *other; /* while it is opened: see reader_opening */
    enum bloomfile_hold hold;        /* how filters are held */
    struct peer_filter *member;      /* filters of peers; NULL: none */
    struct memtable recent;
    struct confirm_cache *cache; /* of answers of the immutable levels; NULL: none */
    bool is_private; /* recent was built here and does not see the writer's changes */
    struct file_mark mark;        /* of CURRENT */
    uint32_t tail_last;           /* with is_private: the last segment then ... */
    struct file_mark tail_mark;   /* ... and its file */
    char fault[ERRINFO_TEXT_MAX]; /* empty: none */
};

/* As list_reader_open_beside, with filters held as `hold` says: levels held otherwise are not
 * shared. */
struct reader_opening {
    const struct list_reader *other; /* may be NULL */
    enum bloomfile_hold hold;
};
enum err list_reader_open_held(const char *state_dir, struct slice name,
                               const struct keyring *keys,
                               const struct reader_opening *how,
                               struct list_reader **ret, struct errinfo *reterr);

/* True if CURRENT, or the log behind a private memtable, changed: open the list again. Two calls of
 * stat at most. */
bool list_reader_is_stale(const struct list_reader *r);

/* True if a file that the reader has mapped was cut short, or cannot be read: what it says is
 * "perhaps" there (sigbus.h). Open the list again. */
bool list_reader_is_damaged(const struct list_reader *r);

/* Caches `entries` answers of the immutable levels (0: none). Call this before the reader is shared
 * between threads. */
void list_reader_set_cache(struct list_reader *r, size_t entries);

/* Answer of list_reader_ask and its source. */
struct reader_answer {
    enum list_answer answer;
    uint64_t period;  /* of the level that knows the digest */
    bool is_known;    /* it has a record, perhaps expired */
    bool is_explicit; /* and it is from a person */
    bool was_cached;  /* no level had to be read */
    bool is_member;   /* known from filters of peers alone */
};
/* The classes of its entries. Unknown (all) with filters of peers or a damaged index. Loaded with
 * each call, because a writer can add a class. */
struct feature_classes list_reader_classes(const struct list_reader *r);
/* As list_reader_test, of the list's own entries alone. */
void list_reader_test_own(const struct list_reader *r, const struct digest *d, size_t n,
                          uint8_t *rethit);
void list_reader_ask(const struct list_reader *r, const struct digest *d,
                     uint64_t now_s, struct reader_answer *ret);
/* For when there is no time to ask: LIST_REVOKED if a recent change in memory says so, else
 * LIST_POSSIBLE. Reads no file. */
void list_reader_recall(const struct list_reader *r, const struct digest *d,
                        uint64_t now_s, struct reader_answer *ret);
/* The list's own filters, all whole, do not rule it out. */
bool list_reader_may_hold(const struct list_reader *r, const struct digest *d);

/* The files of one level, or a filter of peers, as they are open. */
struct reader_part {
    const char *name; /* "base", "front", "spam", "revoked": of the filter's file */
    uint64_t number;  /* of the file */
    uint64_t order;   /* rises from part to part, also when parts are added */
    bool is_member;   /* a filter of peers: no index */
    bool is_front;    /* stands before a level's filter: no index */
    uint64_t period;  /* begin of its period; 0: the list does not age */
    const struct index *index;      /* NULL: damaged */
    const struct bloomfile *filter; /* NULL: damaged */
};
enum { READER_PARTS_MAX = 2 * LIST_LEVELS_MAX + 2 };
/* At most max of them; returns how many. */
size_t list_reader_parts(const struct list_reader *r, struct reader_part *ret,
                         size_t max);

/* e: the index of this list is damaged, and the remedy. */
enum err list_index_damaged(enum err e, const char *dir, const char *name,
                            struct errinfo *reterr);

/* ---- texts ---- */

/* An entry from its record, without text and source. */
struct list_provenance entry_shown(const struct digest *d,
                                   const struct index_record *r);

enum { LOG_TEXT_FILES = 32 };
/* Open segments, for reading single records. */
struct log_texts {
    const char *dir;
    struct {
        uint32_t number; /* 0: none */
        int fd;
    } file[LOG_TEXT_FILES];
};
void log_texts_init(struct log_texts *t, const char *dir);
void log_texts_fini(struct log_texts *t);
/* Source and text of the entry at rec's place; both stay empty when the log cannot tell. The
 * text goes to arena. */
void log_texts_get(struct log_texts *t, const struct digest *d,
                   const struct index_record *rec, struct arena *arena,
                   struct list_provenance *ret);

#endif
