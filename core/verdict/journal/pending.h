/*
 * pending - records on their way to the disk: a ring in a mapped file, STATE/journal/pending.
 *
 * A message's thread copies its record into the ring before its reply, which waits for no disk; a
 * thread of the journal moves records into the day's file. The file's pages belong to the system,
 * so a record in the ring survives the end of the process, also by kill -9. The ring was allocated
 * in full when it was made: storing into it cannot fail. A copy in memory serves if the file is cut
 * in place: then no record is lost unless the process ends before pending_keep. The head of the
 * journal stands in the ring, so that another version can move what it finds.
 * Threads: any may add; one takes.   Owns: the mapping.   ADR 0064.
 */
#ifndef CORE_VERDICT_JOURNAL_PENDING_H
#define CORE_VERDICT_JOURNAL_PENDING_H

#include "core/verdict/journal/journal_head.h"

enum {
    PENDING_BYTES = 8 << 20,
    PENDING_WAIT_US = 200000, /* for the lock, at most */
    PENDING_REST_US = 5000000 /* after such a wait in vain nobody waits for so long */
};

struct pending;

/* Puts a new, empty ring at path; the next record has this number. head: JOURNAL_HEAD bytes. */
enum err pending_make(const char *path, struct slice head, uint64_t number,
                      struct pending **ret, struct errinfo *reterr);
/* The mapping goes, the file stays. Accepts NULL. */
void pending_close(struct pending **p);

/* Adds a frame of n bytes (record_print) and gives it its number. False: no room, or the thread
 * that has the lock stands still, which means that the disk does. */
bool pending_add(struct pending *p, char *frame, size_t n);
/* Appends all frames of the ring to ret; returns the place behind them. */
uint64_t pending_take(struct pending *p, struct buf *ret);
/* Makes the ring again if its file was cut; for the thread that takes. */
void pending_keep(struct pending *p);
/* They are on disk: overwrites them with zeros and frees their room. */
void pending_free_to(struct pending *p, uint64_t place);

/* Appends the head (JOURNAL_HEAD bytes) and the frames of a ring file to two empty buffers, also
 * while gillnetd uses it. *retplace: behind the frames. ERR_NOT_FOUND: no file. ERR_CORRUPT: no
 * ring. */
enum err pending_read(const char *path, struct buf *rethead, struct buf *retframes,
                      uint64_t *retplace, struct errinfo *reterr);
/* Whether everything before place has left the ring at path. False for one that was cut: it is made
 * again. */
bool pending_is_past(const char *path, uint64_t place);

#endif
