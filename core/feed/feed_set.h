/*
 * feed_set - a version of a feed: its entries' digests in order, each with its first date and its
 * end.
 *
 * A file of a header of SET_HEADER_BYTES and records of SET_RECORD_BYTES, with a checksum over all
 * of it: it is whole or not there. Little-endian; published by rename.
 * Depends: base.   Threads: an open set is constant; one thread writes.   Owns: its mapping, its
 * file.
 */
#ifndef CORE_FEED_FEED_SET_H
#define CORE_FEED_FEED_SET_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/file.h"
#include "core/message/feature/list_keys.h"

enum {
    FEED_SET_HEADER_BYTES = 48,
    FEED_SET_RECORD_BYTES = 24,
    FEED_SET_FILE_MODE = 0640 /* of every file of a feed */
};

struct feed_set_entry {
    struct digest digest;
    uint32_t first_seen_s;
    uint32_t expiry_s; /* as the feed says; 0: never */
};

/* ---- reading ---- */

struct feed_set {
    struct filemap map;
    const unsigned char *record;
    uint64_t n;
    uint32_t key_id; /* of the digests */
    uint64_t
        form; /* set_form of them; 0: from before there was a normal form of URLs */
};
uint64_t set_form(enum url_match match);
/* Verified as a whole. ERR_CORRUPT, ERR_VERSION: it cannot be used. */
enum err feed_set_open(struct feed_set *s, const char *path, struct errinfo *reterr);
/* s may be closed already. */
void feed_set_close(struct feed_set *s);
/* As feed_set_open, of bytes that stay: nothing is to be closed. */
enum err feed_set_parse(struct feed_set *s, struct slice bytes, const char *path,
                        struct errinfo *reterr);
void feed_set_get(const struct feed_set *s, uint64_t i, struct feed_set_entry *ret);
bool feed_set_has(const struct feed_set *s, const struct digest *d);

/* ---- writing ---- */

struct feed_set_out {
    struct file_out out;
    uint64_t n;
    uint64_t sum;
    uint32_t key_id;
    uint64_t form;
    struct digest last;
    struct buf block;
};
/* Of which key and form the digests are. */
struct set_kind {
    uint32_t key_id;
    enum url_match url_match;
};
enum err feed_set_out_open(struct feed_set_out *o, const char *path,
                           const struct set_kind *kind, struct errinfo *reterr);
/* Digests must rise. A failure is kept for feed_set_out_commit. */
void feed_set_out_add(struct feed_set_out *o, const struct feed_set_entry *e);
/* Durable and in place; or removed. */
enum err feed_set_out_commit(struct feed_set_out *o, struct errinfo *reterr);
void feed_set_out_abort(struct feed_set_out *o);

#endif
