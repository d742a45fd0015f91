/*
 * table - a small transactional table on disk: keys to values, several changed in one durable step.
 *
 * For state that must change together, such as the cursor of a stream and its target. Each value
 * carries a checksum that every read verifies: LMDB has none. One process opens it for writing.
 * A reader takes no lock, so it may belong to another user: it reads tables that are replaced as a
 * whole, never one that somebody changes.
 * Depends: base, LMDB.   Threads: one transaction at a time for writing; reading ones from any
 * thread,
 * each closed by the thread that began it.   Owns: the environment.
 */
#ifndef CORE_STORE_TABLE_H
#define CORE_STORE_TABLE_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum { TABLE_KEY_MAX = 480, TABLE_VALUE_MAX = 1 << 20 };

struct table;
/* A writer makes dir if needed. The file grows up to most_bytes (at least 1 MiB); values fill at
 * most three quarters of it, then table_put returns ERR_NOSPACE, so that removing always has room.
 * A process opens one folder once, and closes it before it forks. */
enum err table_open(const char *dir, bool is_writing, uint64_t most_bytes,
                    struct table **ret, struct errinfo *reterr);
void table_close(struct table **t);
/* Whether its files were cut short, or could not be read, since it was opened: then every use fails
 * with ERR_CORRUPT, and a transaction is not committed. */
bool table_is_damaged(struct table *t);

struct table_txn;
enum err table_begin(struct table *t, bool is_writing, struct table_txn **ret,
                     struct errinfo *reterr);
/* ERR_OK: all changes are durable. Else none is. Frees the transaction in any case. */
enum err table_commit(struct table_txn **x, struct errinfo *reterr);
void table_abort(struct table_txn **x); /* accepts NULL */

/* *ret is good until the transaction ends or changes something. ERR_NOT_FOUND. ERR_CORRUPT: its
 * checksum. */
enum err table_get(struct table_txn *x, struct slice key, struct slice *ret);
enum err table_put(struct table_txn *x, struct slice key, struct slice value);
enum err table_remove(struct table_txn *x, struct slice key); /* ERR_NOT_FOUND */
/* Those whose keys begin with prefix, in order of key; stops at the first false. fn must change
 * nothing. */
typedef bool table_each_fn(void *context, struct slice key, struct slice value,
                           bool is_damaged);
enum err table_each(struct table_txn *x, struct slice prefix, table_each_fn *fn,
                    void *context);

#endif
