/*
 * report_log - the files of the log of reports, STATE/reports/log.N.
 *
 * N is the number of the first entry in the file. An entry is {magic u32, bytes u32, XXH3-64, the
 * bytes of report.h}, little-endian. It is on the disk when report_log_add returns. A file that
 * has REPORT_FILE_BYTES is followed by another, and so is one whose end is damaged. Damage costs
 * the damaged entries alone. The oldest files go when their entries are older than reports.keep,
 * or when all files exceed REPORT_LOG_BYTES.
 * One process writes, under STATE/reports/LOCK; readers take no lock.
 * Threads: one object, one thread.   Owns: the lock and the open file.
 */
#ifndef CORE_REPORT_REPORT_LOG_H
#define CORE_REPORT_REPORT_LOG_H

#include "core/base/file.h"
#include "core/report/report.h"

enum {
    REPORT_FILE_BYTES = 16 << 20,
    REPORT_LOG_BYTES = 512 << 20,
    REPORT_FILES_MAX = 10000
};

struct report_log;

/* Makes STATE/reports if it is missing. ERR_LOCKED: another process writes. */
enum err report_log_open(const char *state_dir, struct report_log **ret,
                         struct errinfo *reterr);
/* Accepts NULL. */
void report_log_close(struct report_log **l);
/* Gives the n entries their numbers and appends them with one write and one sync. After a
 * failure none of them is kept. */
enum err report_log_add(struct report_log *l, struct report *v, size_t n,
                        struct errinfo *reterr);
/* The number of the last entry that was written; 0: none. */
uint64_t report_log_last(const struct report_log *l);
/* Later entries have higher numbers than this one, as after a lost log. */
void report_log_skip(struct report_log *l, uint64_t number);
/* Removes files whose last entry is older than keep_s, but not the newest file. Returns the number
 * of the first entry that is left; 0: unknown. */
uint64_t report_log_trim(struct report_log *l, uint64_t now_s, uint64_t keep_s);

/* Overwrites the names of a reporter who is this person, or LOGIN/person, in place: also while
 * another process appends. Adds the number of entries to *retn. */
enum err report_log_forget(const char *state_dir, struct slice person, uint64_t *retn,
                           struct errinfo *reterr);

/* An entry, until the function returns. False stops. */
typedef bool report_log_fn(void *context, const struct report *r);
struct report_log_numbers {
    uint64_t entries;
    uint64_t bytes;
    uint64_t damaged; /* places, also those where entries are missing */
    uint64_t next;    /* number of the next entry */
};
/* How far a reader has come; all zeros: it begins. */
struct report_log_place {
    uint64_t oldest; /* the first file of the log then */
    uint64_t file;   /* the one read last */
    uint64_t end;    /* of the last entry in it */
    uint64_t last;   /* its begin */
    uint64_t sum;    /* and its checksum: another entry may have come in its place */
};
/* Reads the entries behind the place and moves it. ERR_RANGE: entries that were read are no longer
 * in the log, or are others; then nothing was read, and the place is the beginning. */
enum err report_log_follow(const char *state_dir, struct report_log_place *place,
                           report_log_fn *fn, void *context, struct errinfo *reterr);
/* Another number when entries were added; 0: there is no log. */
uint64_t report_log_stamp(const char *state_dir);

/* Reads all entries, the oldest first; a missing log has none. report_log_after: those with higher
 * numbers, and perhaps some before; ret->next - 1 is the last number that there is. */
enum err report_log_each(const char *state_dir, report_log_fn *fn, void *context,
                         struct report_log_numbers *ret, struct errinfo *reterr);
enum err report_log_after(const char *state_dir, uint64_t number, report_log_fn *fn,
                          void *context, struct report_log_numbers *ret,
                          struct errinfo *reterr);

#endif
