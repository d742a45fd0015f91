/*
 * journal - one record for each message, for explanations, replays and later learning.
 *
 * gillnetd adds a record before it answers the MTA (pending.h), so a case id that a client has seen
 * can be explained after kill -9. The thread of this module moves records into the files of the
 * day, starts new files, and removes the oldest by age and by size. On a full disk messages go on:
 * records wait in the ring, then they are dropped and counted, and a fault says so. Readers take no
 * lock. Files in reading order: case_id; record, record_write, record_read (one record);
 * journal_head, journal_file, pending (where they are); journal, journal_gather (gillnetd's side);
 * journal_read, journal_forget (everybody's); message_row, message_query, message_match (finding
 * messages); journal_replay, replay_setting, replay_rule (what would have happened).
 * Example of a change: a new field of a message is a field of struct record, a line at the end of
 * its section in record_write and record_read, and a line in journal_gather.
 * Depends: base, telemetry, config, feature, extract, list, count, identity, verdict.   Threads:
 * any.
 * Owns: the ring and the thread.   ADR 0064.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_H
#define CORE_VERDICT_JOURNAL_JOURNAL_H

#include "core/base/case_id.h"
#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/verdict/journal/record.h"

enum { JOURNAL_MOVE_MS = 200 };

struct journal;

struct journal_options {
    const char *state_dir;
    const struct hashkey *key; /* of the digest of Message-IDs */
    uint64_t keep_s;
    uint64_t size_max;
};
/* Takes STATE/journal and its lock, moves what a killed process left in the ring, makes a new ring
 * and starts the thread. ERR_LOCKED: another process has it. After any other failure the thread
 * tries again every few seconds: *ret is set, reterr says why. NULL only for ERR_LOCKED and
 * ERR_NOMEM. */
enum err journal_open(const struct journal_options *options, struct journal **ret,
                      struct errinfo *reterr);
/* Moves what is in the ring; accepts NULL. No thread adds after that. */
void journal_close(struct journal **j);
/* Sets the bounds. keep_s 0: nothing is written, and the files are removed. */
void journal_set_bounds(struct journal *j, uint64_t keep_s, uint64_t size_max);
bool journal_is_on(struct journal *j);
/* Waits for no disk. False: the record was dropped, which is counted. */
bool journal_add(struct journal *j, const struct record *r);

/* The digest by which a Message-ID is kept: without blanks and <>. 0: of an empty one. */
uint64_t journal_message_id(const struct hashkey *key, struct slice message_id);

#endif
