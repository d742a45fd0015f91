/*
 * sync_modules - functions that the modules of sync use of each other.
 *
 * Not for other rooms.   ADR 0032.
 */
#ifndef CORE_RING_SYNC_SYNC_MODULES_H
#define CORE_RING_SYNC_SYNC_MODULES_H

#include "core/ring/sync/sync_internal.h"

uint64_t sync_now_ms(void);
bool sync_is_self(const struct sync *s, const struct object_id *origin);
uint64_t sync_bump(struct sync *s); /* the next version */
/* A path below STATE/peers. */
enum err sync_path(const struct sync *s, char ret[FILE_PATH_MAX],
                   struct errinfo *reterr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- sync_stream.c: streams in memory and in the table ---- */

struct stream *sync_find(const struct sync *s, const struct object_id *id);
/* Adds a stream with seq 0 in memory only. NULL: no memory. */
struct stream *sync_add(struct sync *s, const struct stream_key *key,
                        struct origin *origin);
/* Removes it from memory only. */
void sync_forget(struct sync *s, struct stream *st);
struct origin *sync_origin(const struct sync *s, const struct object_id *id);
enum err sync_load_streams(struct sync *s, struct errinfo *reterr);
enum err sync_put_cursor(struct table_txn *x, const struct stream *st);
/* Stores the cursor in a transaction of its own. */
enum err sync_save(struct sync *s, const struct stream *st, struct errinfo *reterr);
/* Removes st from table and memory. has_grave: its name stays, so that it is not accepted again. */
enum err sync_erase(struct sync *s, struct stream *st, bool has_grave,
                    struct errinfo *reterr);
bool sync_is_buried(struct sync *s, const struct object_id *id);

enum { SYNC_KEY_BYTES = 1 + OBJECT_ID_BYTES };
/* A key of the table: a letter for the kind of entry, and an id. */
struct slice sync_table_key(char letter, const struct object_id *id,
                            char ret[SYNC_KEY_BYTES]);
enum err sync_put_number(struct table_txn *x, const char *name, uint64_t v);
uint64_t sync_get_number(struct table_txn *x, const char *name); /* 0: no such number */
/* Removes entries whose key begins with letter and whose value is due, SYNC_KEYS_MAX at most, so
 * that a transaction stays small. Returns their number in *retn. */
enum { SYNC_KEYS_MAX = 4096 };
typedef bool sync_due_fn(const void *context, struct slice value);
enum err sync_remove_due(struct sync *s, const char *letter, sync_due_fn *is_due,
                         const void *context, size_t *retn, struct errinfo *reterr);

/* Of our own: the newest stream of that kind and list; NULL: none. */
struct stream *sync_newest(const struct origin *o, uint16_t kind, const char *list);

/* ---- sync_restored.c ---- */

/* After a restore from a backup: leaves the own lists, once. Call it after sync_load_streams. */
enum err sync_restored(struct sync *s, struct errinfo *reterr);

/* ---- sync_store.c: signed objects as files ---- */

/* Durable: the file, then the cursor. Then memory is as the table. */
enum err sync_keep(struct sync *s, struct offer *f, struct errinfo *reterr);
/* Appends object seq as it is stored; a SNAP may have its payload or not. */
enum err sync_object_read(const struct sync *s, const struct stream *st, uint64_t seq,
                          struct buf *ret, struct errinfo *reterr);
bool sync_object_is_there(const struct sync *s, const struct stream *st, uint64_t seq);
/* Replaces the file of object seq. */
enum err sync_object_write(const struct sync *s, const struct stream *st, uint64_t seq,
                           struct slice bytes, struct errinfo *reterr);
/* Removes objects before seq, and moves `from` of the cursor. */
enum err sync_trim(struct sync *s, struct stream *st, uint64_t seq,
                   struct errinfo *reterr);
/* Accepts an own object that was signed but has no cursor: its place is never signed again. */
bool sync_adopt(struct sync *s, struct stream *st, uint64_t seq);
void sync_remove_objects(const struct sync *s, const struct stream *st);
/* Files that a crash left: own objects are adopted, others are removed. */
enum err sync_finish_objects(struct sync *s, struct errinfo *reterr);

/* ---- sync_count.c ---- */

/* Operations of the streams of one kind. */
struct kind_ops {
    /* f->reader has the records: sets f->root. */
    enum sync_result (*check)(struct sync *s, struct offer *f, struct errinfo *reterr);
    /* Idempotent. f->stream is there and stands at or behind f->o.seq. */
    enum err (*apply)(struct sync *s, struct offer *f, struct errinfo *reterr);
    /* Makes the canonical payload of the stream, and so its SNAP again. NULL: the content moves on,
     * so SNAPs keep their payloads. */
    enum err (*snap)(struct sync *s, struct stream *st, struct buf *ret,
                     uint64_t *retrecords, struct errinfo *reterr);
};
/* False: not within a ring (TEXT belongs to publishers). */
bool sync_is_exchanged(uint16_t kind);
/* kind must be exchanged. */
const struct kind_ops *sync_ops(uint16_t kind);
extern const struct kind_ops sync_count_ops;
extern const struct kind_ops sync_list_ops;
extern const struct kind_ops sync_member_ops;

/* The counts that were applied. */
enum err sync_count_content(struct sync *s, struct stream *st, struct content *ret,
                            struct errinfo *reterr);
/* The counts of an own stream up to own_seq, from its objects. ERR_NOT_FOUND: removed. */
enum err sync_count_own(struct sync *s, struct stream *st, struct content *ret,
                        struct errinfo *reterr);
/* Makes an open stream a run although its origin never ended it. */
enum err sync_count_seal(struct sync *s, struct stream *st, struct errinfo *reterr);
/* Counts of peers are taken here: they do not go through a shared store. */
bool sync_takes_counts(const struct sync *s);
/* Where they are not taken: removes those that were. */
enum err sync_count_leave(struct sync *s, struct errinfo *reterr);
/* Applies objects that were stored but not applied before the stop. */
enum err sync_count_recover(struct sync *s, struct stream *st, struct errinfo *reterr);
/* Removes the files of one stream. */
void sync_count_remove(struct sync *s, struct stream *st);
/* Removes the files of all streams of an origin. */
enum err sync_count_drop(struct sync *s, const struct object_id *origin,
                         struct errinfo *reterr);

/* ---- sync_work.c: slow work ---- */

void sync_work_init(struct sync *s);
/* Waits for the thread and ignores its result. */
void sync_work_fini(struct sync *s);
/* Waits until the thread is idle; its result stays for sync_work_tick. */
void sync_work_wait(struct sync *s);
/* Takes the result, and starts the next work. */
enum err sync_work_tick(struct sync *s, struct errinfo *reterr);
/* Merges days of peers' runs before first_day; expires: removes what is too old at bucket. */
enum err sync_work_days(struct sync *s, uint64_t first_day, uint64_t bucket,
                        bool expires, struct errinfo *reterr);
/* Makes the SNAP of a list: the next object of an own one, or the payload of a peer's newest SNAP,
 * which came as a header. Later, if the thread is busy. */
enum err sync_work_snap(struct sync *s, struct stream *st, struct errinfo *reterr);

/* ---- sync_publish_list.c ---- */

/* A SNAP of st with the payload in whole (behind room for a header). */
enum err sync_list_snap(struct sync *s, struct stream *st, const struct buf *whole,
                        uint64_t records, const struct hash256 *sum,
                        struct errinfo *reterr);
/* Without a SNAP a new peer would have to take many steps. */
bool sync_is_worth_a_snap(const struct stream *st);

/* ---- sync_receive.c ---- */

/* Applies stored objects that are not applied yet. */
enum err sync_catch_up(struct sync *s, struct stream *st, struct errinfo *reterr);
/* Applies f, which is stored. */
enum err sync_apply(struct sync *s, struct offer *f, struct errinfo *reterr);
/* Erases older incarnations of the list of st. */
enum err sync_replace_older(struct sync *s, const struct stream *st,
                            struct errinfo *reterr);
/* Checks form, signer and time of the object; fills f. */
enum sync_result sync_examine(struct sync *s, struct slice object, struct offer *f,
                              struct errinfo *reterr);
/* f->raw, f->records and f->reader from the payload. */
enum sync_result sync_unpack(struct offer *f, struct errinfo *reterr);
void offer_fini(struct offer *f);
/* Reads the stored object seq of st into f and unpacks it. In any case the caller calls
 * offer_fini(f) and buf_fini(bytes). */
enum err sync_offer_stored(struct sync *s, struct stream *st, uint64_t seq,
                           struct buf *bytes, struct offer *f, struct errinfo *reterr);
/* Reduces the stored object of f to its header: its payload can be made again. */
enum err sync_strip(struct sync *s, struct offer *f, struct errinfo *reterr);
bool sync_is_refused(const struct sync *s, const struct object_id *stream);

/* ---- sync_proof.c, sync_quota.c, sync_trust.c ---- */

/* f and the stored object of that seq contradict each other: the origin becomes distrusted. */
enum sync_result sync_fork(struct sync *s, struct offer *f, uint64_t seq,
                           struct errinfo *reterr);
enum sync_result sync_take_heartbeat(struct sync *s, const struct offer *f,
                                     struct errinfo *reterr);
enum sync_result sync_take_proof(struct sync *s, const struct offer *f,
                                 struct errinfo *reterr);
enum err sync_load_proofs(struct sync *s, struct errinfo *reterr);
enum err sync_heartbeat(struct sync *s, struct errinfo *reterr);
/* The three parts of a PROOF object with o's fork; false: cannot sign. */
bool sync_tell_proof(struct sync *s, struct origin *o, struct slice ret[3]);

uint64_t sync_quota(const struct sync *s, const struct origin *o);
uint64_t sync_quota_used(const struct origin *o, uint64_t start_s);
enum sync_result sync_quota_check(const struct sync *s, const struct offer *f,
                                  struct errinfo *reterr);
/* Learns the usual rate from the bucket that has ended. */
enum err sync_quota_learn(struct sync *s, uint64_t start_s, struct errinfo *reterr);
enum err sync_quota_load(struct sync *s, struct errinfo *reterr);

/* Removes objects that the manifest no longer trusts; writes the file of origins. */
enum err sync_trust(struct sync *s, struct errinfo *reterr);
enum err sync_write_origins(struct sync *s, struct errinfo *reterr);
/* Removes all objects of an origin, in memory and on disk. */
enum err sync_drop_origin(struct sync *s, const struct object_id *id,
                          struct errinfo *reterr);

/* ---- sync_publish.c ---- */

enum err sync_may_publish(const struct sync *s, struct errinfo *reterr);
/* Whether the next object of st may be signed here: all are remembered, and of this key. */
bool sync_may_continue(const struct sync *s, const struct stream *st);
/* The same for any digest key. */
bool sync_may_go_on(const struct sync *s, const struct stream *st);
/* Signs, stores and applies f. f->o has type, flags and numbers, f->payload the bytes to send,
 * f->reader the records, f->root the root. ERR_EXISTS: an object that was signed before a failure
 * was accepted instead: compute the difference again. */
enum err sync_publish(struct sync *s, struct offer *f, struct errinfo *reterr);
/* Publishes the next DELTA of f->stream: f->raw has o.records records as columns, f->root is the
 * root after them. Frees f. */
enum err sync_publish_delta(struct sync *s, struct offer *f, struct errinfo *reterr);
uint64_t sync_fresh_inc(const struct sync *s);
/* Of one bucket; 0: of all. */
void sync_forget_published(struct sync *s, uint64_t start_s);
enum err sync_close_stream(struct sync *s, struct stream *st, struct errinfo *reterr);

#endif
