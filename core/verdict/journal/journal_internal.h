/* journal_internal - the folder of the journal and the file that is written, for the modules that
 * change them. */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_INTERNAL_H
#define CORE_VERDICT_JOURNAL_JOURNAL_INTERNAL_H

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/verdict/journal/journal_file.h"

enum { JOURNAL_FOLDER_MODE = 02750 };

/* The folder, with the lock of its one writer. */
struct journal_folder {
    char dir[FILE_PATH_MAX];
    struct filelock lock;
};
/* Makes the folder if it is missing. ERR_LOCKED: another process writes there; the lock is not
 * taken, and dir is set. */
enum err journal_folder_take(struct journal_folder *f, const char *state_dir,
                             struct errinfo *reterr);
void journal_folder_drop(struct journal_folder *f);

/* Moves the records of a ring that no process uses into files. *retnumber: of the next record. Cuts
 * a record off that a killed process wrote in part. */
enum err journal_settle(const struct journal_folder *f, uint64_t *retnumber,
                        struct errinfo *reterr);

/* The file of messages that records are appended to. */
struct journal_out {
    const struct journal_folder *folder;
    int fd; /* -1: none yet */
    uint64_t day;
    uint64_t size;
    struct buf head;
};
/* Goes on in the newest file if its head is the same. */
enum err journal_out_open(struct journal_out *o, const struct journal_folder *folder,
                          struct slice head, struct errinfo *reterr);
/* Appends whole frames, in a new file if there is none of that day or it is full. After a failure
 * the file is as before. */
enum err journal_out_add(struct journal_out *o, uint64_t day, struct slice frames,
                         struct errinfo *reterr);
void journal_out_close(struct journal_out *o);

/* Removes files of messages and reports that are older than keep_s, and the oldest files of
 * messages above size_max bytes; never the newest one for its size. */
enum err journal_expire(const struct journal_folder *f, uint64_t keep_s,
                        uint64_t size_max, uint64_t now_s, struct errinfo *reterr);

/* Opens a file of the journal to append, after cutting off a record that was written in part; makes
 * it with this head if it is missing. *retsize: its bytes. */
enum err journal_file_open(const char *path, struct slice head, int *retfd,
                           uint64_t *retsize, struct errinfo *reterr);

#endif
