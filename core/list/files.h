/*
 * files - the names of a list's files and its CURRENT record.
 *
 * Depends: base, feature.   Threads: pure, apart from the file system.   Allocates: nothing that
 * stays.
 */
#ifndef CORE_LIST_FILES_H
#define CORE_LIST_FILES_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/base/slice.h"
#include "core/message/feature/list_keys.h"

/* Mode of every file of a list: the group (gillnetd) may read. */
enum { LIST_FILE_MODE = 0640, LIST_DIR_MODE = 0750 };

enum list_file {
    LIST_FILE_LOG,
    LIST_FILE_INDEX,
    LIST_FILE_INDEX_SUM,
    LIST_FILE_BASE,
    LIST_FILE_RECENT,
    LIST_FILE_FRONT, /* a small filter before a large one that is mapped */
    LIST_FILE_SPAM,  /* filters of peers (core/list/peer_filter.h) */
    LIST_FILE_REVOKED,
    LIST_FILE_OTHER
};

/* STATE/lists/NAME; ERR_SYNTAX when the name cannot be one. */
enum err list_dir_path(char dst[FILE_PATH_MAX], const char *state_dir,
                       struct slice name, struct errinfo *reterr);
/* DIR/log.00000007 and so on. */
enum err list_file_path(char dst[FILE_PATH_MAX], const char *dir, enum list_file kind,
                        uint64_t number, struct errinfo *reterr);
/* Identity of a file version. */
struct file_mark {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};
bool file_mark_eq(const struct file_mark *a, const struct file_mark *b);
/* Zeros when there is no such file. */
struct file_mark file_mark_of(const char *path);
struct file_mark file_mark_in(const char *dir, const char *name);
struct file_mark list_file_mark(const char *dir, enum list_file kind, uint64_t number);
/* True if the file of a list still has this mark. */
bool list_file_is_same(const struct file_mark *mark, const char *dir,
                       enum list_file kind, uint64_t number);

/* The kind and number that a file name in the folder means. */
enum list_file list_file_parse(struct slice name, uint64_t *retnumber);

/* Calls on_file for every file of the folder in no order; stops at its first failure. */
typedef enum err list_file_fn(void *context, enum list_file kind, uint64_t number);
enum err list_files_each(const char *dir, list_file_fn *on_file, void *context,
                         struct errinfo *reterr);

/* Levels of one list at most: each older one is more than LEVEL_GROWTH times the sum of the newer
 * ones of its period, so that a list without periods has a dozen; one that ages has as many for its
 * present period, and one for each former period. */
enum { LIST_LEVELS_MAX = 64 };

/* One immutable level: index.N and base.N. */
struct list_level {
    uint64_t number;   /* the generation that made it */
    uint64_t entries;  /* records in its index */
    uint64_t period_s; /* begin of its period (ageing lists), else 0 */
    uint32_t first;    /* its records stand in segments first..last of the log */
    uint32_t last;
};

/* How texts become digests. LIST_FORM_FORMER: URLs as written, classes not recorded; such lists are
 * looked up in every form and rewritten (core/list/rekey.h). */
enum { LIST_FORM_FORMER = 0, LIST_FORM = 1 };

/* The record that names the active generation. */
struct list_current {
    uint64_t generation;
    uint32_t tail; /* first segment that no level holds; see list_tail_last */
    uint32_t key_id;
    uint64_t created_s;
    uint64_t updated_s; /* last change that the levels hold */
    uint64_t listed;    /* entries of all levels by status */
    uint64_t revoked;
    uint64_t period_s;    /* begin of the period that the tail is of; 0: no ageing */
    uint64_t member_spam; /* numbers of the filters of peers; 0: none */
    uint64_t member_revoked;
    struct feature_classes
        classes;   /* of the levels' entries; perhaps more; the tail's come to it */
    uint32_t form; /* LIST_FORM, or LIST_FORM_FORMER */
    uint32_t url_match; /* enum url_match */
    uint32_t nlevels;
    struct list_level
        level[LIST_LEVELS_MAX]; /* oldest first; a newer one's records win */
};

#define LIST_CURRENT      "CURRENT"
#define LIST_CURRENT_PREV "CURRENT.prev"

enum err current_parse(struct slice bytes, const char *path, struct list_current *ret,
                       struct errinfo *reterr);
void current_print(const struct list_current *c, struct buf *ret);
/* file: LIST_CURRENT or LIST_CURRENT_PREV. */
enum err current_read(const char *dir, const char *file, struct list_current *ret,
                      struct errinfo *reterr);
enum err current_write(const char *dir, const char *file, const struct list_current *c,
                       struct errinfo *reterr);
/* The last segment of the tail: while a merge runs, additions go to a segment behind the one that
 * is merged. It counts when its header says SEGMENT_TAIL: an import's segments do not. */
uint32_t list_tail_last(const char *dir, uint32_t tail);
/* The digest key that a list's digests were made with; ERR_KEY when keys does not hold it. */
enum err current_key(const struct list_current *c, const struct keyring *keys,
                     const char *dir, struct hashkey *ret, struct errinfo *reterr);

#endif
