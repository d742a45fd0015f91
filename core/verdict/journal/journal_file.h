/*
 * journal_file - the files of the journal: their names, and the records in one.
 *
 * STATE/journal/messages-20261123-0001 has the messages of a UTC day, in at most
 * JOURNAL_FILE_BYTES; reports-20261123, of earlier versions, is only removed in time. A file is a
 * head (journal_head.h) and frames (record.h). After damage the next whole frame is sought, so a
 * damaged record costs no other.
 * Threads: one object, one thread.   Owns: names on the heap.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_FILE_H
#define CORE_VERDICT_JOURNAL_JOURNAL_FILE_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/verdict/journal/record.h"

#define STATE_JOURNAL_DIR "journal"
#define JOURNAL_PENDING   "pending"

enum {
    JOURNAL_FILE_BYTES = 32 << 20, /* a file that is longer is followed by another */
    JOURNAL_FILE_NAME = 32,
    JOURNAL_FILES_MAX = 100000,
    JOURNAL_FILE_MODE = 0640,
    JOURNAL_DAY_S = 86400
};

/* ---- names ---- */

enum journal_kind { JOURNAL_MESSAGES, JOURNAL_REPORTS };

struct journal_name_of {
    enum journal_kind kind;
    uint64_t day; /* since 1970 */
    unsigned part;
    uint64_t size; /* of journal_files_list */
};
void journal_file_print(const struct journal_name_of *name,
                        char ret[JOURNAL_FILE_NAME]);
/* Rises from file to file of messages. */
uint64_t journal_file_number(const struct journal_name_of *name);
/* False: no file of the journal. */
bool journal_file_read(struct slice text, struct journal_name_of *ret);

struct journal_files {
    struct journal_name_of *v; /* messages before reports, the oldest first */
    size_t n;
    size_t room;
    uint64_t bytes;
};
/* dir: the folder of the journal; a missing one has no files. */
enum err journal_files_list(const char *dir, struct journal_files *ret,
                            struct errinfo *reterr);
void journal_files_fini(struct journal_files *f);

/* ---- records ---- */

struct journal_walk {
    struct slice bytes; /* frames, without the head */
    size_t at;
    size_t whole;      /* end of the last whole frame */
    uint64_t damaged;  /* stretches that are no frame and lie before one */
    size_t damaged_at; /* the first of them */
    bool is_cut_off;   /* the bytes end within a frame, or in damage */
};
struct journal_walk journal_walk_begin(struct slice frames);
/* False: there is no further frame. */
bool journal_walk_next(struct journal_walk *w, struct slice *retframe);

#endif
