/*
 * sync_modules - what the modules of sync do for each other.
 *
 * Not for other rooms.   ADR 0032.
 */
#ifndef CORE_RING_SYNC_SYNC_MODULES_H
#define CORE_RING_SYNC_SYNC_MODULES_H

#include "core/ring/sync/sync_content.h"
#include "core/ring/sync/sync_internal.h"

uint64_t sync_now_ms(void);
bool sync_is_self(const struct sync *s, const struct object_id *origin);
uint64_t sync_bump(struct sync *s); /* the next version */
/* A path below STATE/peers. */
enum err sync_path(const struct sync *s, char ret[FILE_PATH_MAX],
                   struct errinfo *reterr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- sync_stream.c: what is held, in memory and in the table ---- */

struct stream *sync_find(const struct sync *s, const struct object_id *id);
/* A new one, seq 0, in memory alone. NULL: no memory. */
struct stream *sync_add(struct sync *s, const struct stream_key *key,
                        struct origin *origin);
/* From memory alone. */
void sync_forget(struct sync *s, struct stream *st);
struct origin *sync_origin(const struct sync *s, const struct object_id *id);
enum err sync_load_streams(struct sync *s, struct errinfo *reterr);
enum err sync_put_cursor(struct table_txn *x, const struct stream *st);
/* One transaction with this alone. */
enum err sync_save(struct sync *s, const struct stream *st, struct errinfo *reterr);
/* Takes st out of table and memory. has_grave: that it was here is remembered, so that it is not taken in again. */
enum err sync_erase(struct sync *s, struct stream *st, bool has_grave,
                    struct errinfo *reterr);
bool sync_is_buried(struct sync *s, const struct object_id *id);

enum { SYNC_KEY_BYTES = 1 + OBJECT_ID_BYTES };
/* A key of the table: a letter for what it is, and whose. */
struct slice sync_table_key(char letter, const struct object_id *id,
                            char ret[SYNC_KEY_BYTES]);
enum err sync_put_number(struct table_txn *x, const char *name, uint64_t v);
uint64_t sync_get_number(struct table_txn *x, const char *name); /* 0: none */
/* Removes entries that are due by what they hold, of those whose keys begin with letter: SYNC_KEYS_MAX at most, so
 * that a transaction stays small. *retn: how many. */
enum { SYNC_KEYS_MAX = 4096 };
typedef bool sync_due_fn(const void *context, struct slice value);
enum err sync_remove_due(struct sync *s, const char *letter, sync_due_fn *is_due,
                         const void *context, size_t *retn, struct errinfo *reterr);

/* Of our own: the newest stream of that kind and list; NULL: none. */
struct stream *sync_newest(const struct origin *o, uint16_t kind, const char *list);

/* ---- sync_restored.c ---- */

/* Where the folder was put back from a back-up: once, what follows from it. After sync_load_streams. */
enum err sync_restored(struct sync *s, struct errinfo *reterr);

/* ---- sync_store.c: signed objects as files ---- */

/* Durable: the file, then the cursor. Then memory is as the table. */
enum err sync_keep(struct sync *s, struct offer *f, struct errinfo *reterr);
/* Appends object seq as it is stored; a SNAP may have its payload or not. */
enum err sync_object_read(const struct sync *s, const struct stream *st, uint64_t seq,
                          struct buf *ret, struct errinfo *reterr);
bool sync_object_is_there(const struct sync *s, const struct stream *st, uint64_t seq);
/* Replaces what is stored of seq. */
enum err sync_object_write(const struct sync *s, const struct stream *st, uint64_t seq,
                           struct slice bytes, struct errinfo *reterr);
/* Removes objects before seq and says so in the cursor. */
enum err sync_trim(struct sync *s, struct stream *st, uint64_t seq,
                   struct errinfo *reterr);
/* Our own object that was signed but not noted: its very bytes are taken, nothing is signed anew. */
bool sync_adopt(struct sync *s, struct stream *st, uint64_t seq);
void sync_remove_objects(const struct sync *s, const struct stream *st);
/* Files that a crash left: ours are finished, others' go. */
enum err sync_finish_objects(struct sync *s, struct errinfo *reterr);

/* ---- sync_count.c ---- */

/* How the streams of a kind are looked at and applied. */
struct kind_ops {
    /* f->reader holds: sets f->root. */
    enum sync_result (*check)(struct sync *s, struct offer *f, struct errinfo *reterr);
    /* Idempotent. f->stream is there and stands at or behind f->o.seq. */
    enum err (*apply)(struct sync *s, struct offer *f, struct errinfo *reterr);
    /* The canonical payload of the stream as it is now, from which a SNAP is made again. NULL: SNAPs keep their
     * payloads, as what is held moves on. */
    enum err (*snap)(struct sync *s, struct stream *st, struct buf *ret,
                     uint64_t *retrecords, struct errinfo *reterr);
};
/* False: not within a ring (TEXT: a publisher's). */
bool sync_is_exchanged(uint16_t kind);
/* Of a kind that is exchanged. */
const struct kind_ops *sync_ops(uint16_t kind);
extern const struct kind_ops sync_count_ops;
extern const struct kind_ops sync_list_ops;
extern const struct kind_ops sync_member_ops;

/* The stream as it was applied. */
enum err sync_count_content(struct sync *s, struct stream *st, struct content *ret,
                            struct errinfo *reterr);
/* What our own stream has up to own_seq, from its objects. ERR_NOT_FOUND: these are gone. */
enum err sync_count_own(struct sync *s, struct stream *st, struct content *ret,
                        struct errinfo *reterr);
/* An open stream becomes a run although its origin never ended it. */
enum err sync_count_seal(struct sync *s, struct stream *st, struct errinfo *reterr);
/* What was kept but not applied when we stopped. */
enum err sync_count_recover(struct sync *s, struct stream *st, struct errinfo *reterr);
/* Files of one stream that is given up. */
void sync_count_remove(struct sync *s, struct stream *st);
/* Files of all streams of an origin. */
enum err sync_count_drop(struct sync *s, const struct object_id *origin,
                         struct errinfo *reterr);

/* ---- sync_work.c: what takes long ---- */

void sync_work_init(struct sync *s);
/* Waits, takes nothing more. */
void sync_work_fini(struct sync *s);
/* The thread reads and writes nothing when it returns; what it made is still to be taken. */
void sync_work_wait(struct sync *s);
/* Takes what is made; begins with what waits. */
enum err sync_work_tick(struct sync *s, struct errinfo *reterr);
/* Merges days of peers' runs before first_day; expires: removes what is too old at bucket. */
enum err sync_work_days(struct sync *s, uint64_t first_day, uint64_t bucket,
                        bool expires, struct errinfo *reterr);
/* The SNAP of a list: the next object of one of ours, or the payload of a peer's newest, which came as a header.
 * Later, when the thread is busy. */
enum err sync_work_snap(struct sync *s, struct stream *st, struct errinfo *reterr);

/* ---- sync_publish_list.c ---- */

/* A SNAP of st with the payload in whole (behind room for a header). */
enum err sync_list_snap(struct sync *s, struct stream *st, const struct buf *whole,
                        uint64_t records, const struct hash256 *sum,
                        struct errinfo *reterr);
/* Who comes late would take many steps without. */
bool sync_is_worth_a_snap(const struct stream *st);

/* ---- sync_receive.c ---- */

/* Applies what is kept and not applied. */
enum err sync_catch_up(struct sync *s, struct stream *st, struct errinfo *reterr);
/* f is kept: now what holds it follows. */
enum err sync_apply(struct sync *s, struct offer *f, struct errinfo *reterr);
/* A newer incarnation of a list takes the place of the older ones. */
enum err sync_replace_older(struct sync *s, const struct stream *st,
                            struct errinfo *reterr);
/* Form, signer and time of bytes; fills f. */
enum sync_result sync_examine(struct sync *s, struct slice object, struct offer *f,
                              struct errinfo *reterr);
/* f->raw, f->records and f->reader from the payload. */
enum sync_result sync_unpack(struct offer *f, struct errinfo *reterr);
void offer_fini(struct offer *f);
/* Object seq of st as it is stored, unpacked, into f; offer_fini(f) and buf_fini(bytes) are due in any case. */
enum err sync_offer_stored(struct sync *s, struct stream *st, uint64_t seq,
                           struct buf *bytes, struct offer *f, struct errinfo *reterr);
/* Keeps the header of f alone: its payload can be made again. */
enum err sync_strip(struct sync *s, struct offer *f, struct errinfo *reterr);
bool sync_is_refused(const struct sync *s, const struct object_id *stream);

/* ---- sync_proof.c, sync_quota.c, sync_trust.c ---- */

/* f and the stored object of that seq contradict each other: sets the origin aside. */
enum sync_result sync_fork(struct sync *s, struct offer *f, uint64_t seq,
                           struct errinfo *reterr);
enum sync_result sync_take_heartbeat(struct sync *s, const struct offer *f,
                                     struct errinfo *reterr);
enum sync_result sync_take_proof(struct sync *s, const struct offer *f,
                                 struct errinfo *reterr);
enum err sync_load_proofs(struct sync *s, struct errinfo *reterr);
enum err sync_heartbeat(struct sync *s, struct errinfo *reterr);
/* The three parts of a PROOF object that tells of o's fork; false: cannot sign. */
bool sync_tell_proof(struct sync *s, struct origin *o, struct slice ret[3]);

uint64_t sync_quota(const struct sync *s, const struct origin *o);
uint64_t sync_quota_used(const struct origin *o, uint64_t start_s);
enum sync_result sync_quota_check(const struct sync *s, const struct offer *f,
                                  struct errinfo *reterr);
/* Learns from the bucket that is over. */
enum err sync_quota_learn(struct sync *s, uint64_t start_s, struct errinfo *reterr);
enum err sync_quota_load(struct sync *s, struct errinfo *reterr);

/* What the manifest no longer trusts goes; the origins' file is written. */
enum err sync_trust(struct sync *s, struct errinfo *reterr);
enum err sync_write_origins(struct sync *s, struct errinfo *reterr);
/* All that came from it, here and on disk. */
enum err sync_drop_origin(struct sync *s, const struct object_id *id,
                          struct errinfo *reterr);

/* ---- sync_publish.c ---- */

enum err sync_may_publish(const struct sync *s, struct errinfo *reterr);
/* Whether the next object of st may be signed here: we remember all of it, and began it with this key. */
bool sync_may_continue(const struct sync *s, const struct stream *st);
/* The same, whatever ring key it is of. */
bool sync_may_go_on(const struct sync *s, const struct stream *st);
/* f->o has type, flags and numbers, f->payload what is sent, f->reader and f->root what is meant. ERR_EXISTS: an object that
 * was signed before a failure was taken first: ask again, from what is published now. */
enum err sync_publish(struct sync *s, struct offer *f, struct errinfo *reterr);
/* The next DELTA of f->stream: f->raw has o.records records as columns, f->root what the stream holds after them. Frees
 * what f holds. */
enum err sync_publish_delta(struct sync *s, struct offer *f, struct errinfo *reterr);
uint64_t sync_fresh_inc(const struct sync *s);
void sync_published_free(struct sync *s);
enum err sync_close_stream(struct sync *s, struct stream *st, struct errinfo *reterr);

#endif
