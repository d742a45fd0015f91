/*
 * live - the running bucket: how often each key was counted in it, exactly.
 *
 * An open-addressing table {key, count} in a mmapped file allocated in full, in parts by shard; in
 * anonymous memory where the disk refuses ("volatile": counting goes on, nothing is kept). It
 * survives kill -9 as it stands (the system keeps the pages); for a power loss there is the
 * journal, which live_flush brings up to date. A bucket ends by live_seal, which makes a run.
 * Shard of a key: its top bits (live_shard_of). Functions that take a shard are called with that
 * shard's lock held; this module has none. The others say who calls them.
 * Depends: base, store.   Owns: mapping, files.   Format, journal, crash states: ADR 0025.
 */
#ifndef CORE_COUNT_LIVE_H
#define CORE_COUNT_LIVE_H

#include "core/base/err.h"
#include "core/store/run.h"

enum { LIVE_SHARDS_MAX = 256 };

struct live;

/* nshards is a power of two up to LIVE_SHARDS_MAX; slots is the number for all shards and is
 * rounded up. dir is the folder counts/ of the state folder; "" makes a table in memory. On a disk
 * that refuses: ERR_OK and live_is_volatile, with the reason in reterr. */
enum err live_new(const char *dir, const struct run_id *id, unsigned nshards,
                  uint64_t slots, struct live **ret, struct errinfo *reterr);
/* Unmaps and, when remove is set (its run is safe, or is not wanted), deletes its files. Otherwise
 * they wait for live_recover; flush before, for another boot has only the journal. */
void live_free(struct live **l, bool remove);

const struct run_id *live_id(const struct live *l);
bool live_is_volatile(const struct live *l);
size_t live_used(const struct live *l);  /* keys in it; from any thread */
size_t live_slots(const struct live *l); /* from any thread */

unsigned live_shard_of(uint64_t key, unsigned nshards);

/* ---- with the shard's lock ---- */

void live_prefetch(const struct live *l, unsigned shard, uint64_t key);
/* Adds amount; *retcount is the count now. False: the shard has no room (live_grow_begin). */
bool live_add(struct live *l, unsigned shard, uint64_t key, uint64_t amount,
              uint64_t *retcount);
uint64_t live_get(const struct live *l, unsigned shard, uint64_t key); /* 0: none */
typedef void live_each_fn(void *context, uint64_t key, uint64_t count);
void live_each(const struct live *l, unsigned shard, live_each_fn *fn, void *context);

/* ---- growing, in three steps; one thread at a time ---- */

bool live_wants_room(const struct live *l); /* some shard is half full */
/* Makes room beside; without the shards' locks. On a full disk in memory (then volatile). */
enum err live_grow_begin(struct live *l, struct errinfo *reterr);
void live_grow_shard(struct live *l, unsigned shard); /* with its lock: moves it over */
void live_grow_end(struct live *l); /* all were moved: drops the old table */

/* ---- a table whose file was cut (sigbus.h); one thread at a time, as growing ---- */

bool live_is_damaged(const struct live *l);
/* Makes room beside, and reads what the journal has: n records that the caller frees, of each key
 * its count. Then live_mend_shard for each shard with its lock, then live_grow_end. Counts since
 * the last live_flush that were in lost pages are lost. */
enum err live_mend_begin(struct live *l, struct run_record **retlogged, size_t *retn,
                         struct errinfo *reterr);
void live_mend_shard(struct live *l, unsigned shard, const struct run_record *logged,
                     size_t n);

/* ---- the journal; one thread at a time ---- */

/* With the shard's lock: gathers what changed since the last time. */
void live_flush_shard(struct live *l, unsigned shard);
/* Without locks: appends what was gathered, one record, and syncs it. After a failure the journal
 * is closed, not tried again on the same file, and live_is_volatile says so. */
enum err live_flush(struct live *l, struct errinfo *reterr);

/* ---- the end of the bucket ---- */

/* Counting in the table has ended. Sorts and writes the run into runs_dir (the name is
 * runset_name's); an empty table makes none (ERR_NOT_FOUND). Durable when ERR_OK; then
 * live_free(remove). */
enum err live_seal(const struct live *l, const char *runs_dir, struct errinfo *reterr);

/* Its run is durable: deletes its files. The table can be read until live_free. */
void live_forget(struct live *l);

/* Call this at start, with the lock of the folder, before live_new. Turns the files of a gillnetd
 * that ended into runs: the table after a kill; the journal after a power loss, or if the table is
 * damaged. A bucket that has its run already is skipped. Which digest key they were counted with
 * does not matter here: runs name theirs. Files of another version: ERR_UNSUPPORTED, and they stay.
 * If the run cannot be written, the error is returned and the files stay for the next start. */
struct live_recovered {
    uint64_t keys;
    uint64_t runs;
    bool by_journal;
    unsigned damaged; /* tables or journals of which something could not be used */
};
enum err live_recover(const char *dir, const char *runs_dir, struct live_recovered *ret,
                      struct errinfo *reterr);

/* ---- another process's look at a running table ---- */

/* The count of key in the running table of the newest bucket found in dir that is no run yet, for
 * `gillnet lookup`; start_s: the bucket. ERR_NOT_FOUND: no table of this boot. */
enum err live_peek(const char *dir, uint64_t key, uint64_t *retcount,
                   uint64_t *retstart_s, struct errinfo *reterr);

/* ---- a journal, read without changing it ---- */

/* True if a file of this name, without its folder, is a journal. */
bool live_is_journal(const char *name);
/* ERR_OK: every whole record is right. A record that is cut at the end was being written and is no
 * damage. ERR_NOT_FOUND: there is no such file. Other errors fill reterr. */
enum err live_verify_journal(const char *path, struct errinfo *reterr);

/* As if this were the boot of that name; NULL: the real one. */
void live_set_boot_for_test(const char *name);

#endif
