/* peerlist_filters - whole filters of an origin: checked as files, kept as the bytes that came. */

#include "core/list/files.h"
#include "core/list/peer_filter.h"
#include "core/ring/sync/peerlist_internal.h"

static bool is_revoked(const struct stream_key *k)
{
    return k->kind == OBJECT_MEMBER_REVOKED;
}

/* Only this module reads the file, so it may stay volatile until it is in its place. */
static enum err temp_write(const char *path, struct slice bytes, bool is_durable,
                           struct errinfo *reterr)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                  LIST_FILE_MODE);
    if (fd < 0) {
        return errinfo_errno(reterr, path, "cannot write a peer's filter");
    }
    enum err e = ERR_OK;
    if (!file_write_all(fd, bytes) || (is_durable && fsync(fd) != 0)) {
        e = errinfo_errno(reterr, path, "cannot write a peer's filter");
    }
    (void)close(fd);
    if (e != ERR_OK) {
        (void)unlink(path);
    }
    return e;
}

static enum err believe(const struct peerlists *p, const struct object *o,
                        const char *path, struct errinfo *reterr)
{
    struct peer_filter_belief b = {
        .key = keyring_find(p->keys, o->stream.ring_key),
        .is_revoked = is_revoked(&o->stream),
        .guarded = p->guarded,
        .nguarded = p->nguarded,
    };
    if (!b.key) {
        return errinfo_set(
            reterr, ERR_KEY, o->stream.list, 0,
            "its digests are of a digest key which keys/digest.key does not "
            "hold");
    }
    if (b.key->id != p->keys->ring[0].id || b.is_revoked) {
        b.nguarded =
            0; /* guarded digests are of the first key; a revocation cannot harm them */
    }
    return peer_filter_believe(path, &b, reterr);
}

enum err peermember_check(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct owner owner;
    enum err e = owner_read(p, &o->stream, &owner, reterr);
    if (e == ERR_OK && !owner_is(&owner, &o->stream)) {
        e = owner_may_become(p, &owner, &o->stream, reterr);
    }
    THEN(e, path_make(path, reterr, "%s/.check" FILE_TEMP_SUFFIX, p->dir));
    THEN(e, temp_write(path, file, false, reterr));
    if (e == ERR_OK) {
        e = believe(p, o, path, reterr);
        (void)unlink(path);
    }
    return e;
}

enum err peermember_apply(struct peerlists *p, const struct object *o,
                          struct slice file, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    struct held *h = NULL;
    enum err e = held_open(p, &o->stream, &h, reterr);
    if (e == ERR_OK) {
        held_settle(p, h);
        e = origin_path(p, &o->stream.origin, folder, reterr);
    }
    THEN(e, path_make(path, reterr, "%s/lists/filter" FILE_TEMP_SUFFIX, folder));
    THEN(e, temp_write(path, file, true, reterr));
    THEN(e, list_member_replace(h->w, is_revoked(&o->stream), path, reterr));
    return e == ERR_OK ? owner_write(p, &o->stream, reterr) : e;
}

/* The path of the filter of k. ERR_NOT_FOUND: the folder has another stream. */
static enum err find_filter(struct peerlists *p, const struct stream_key *k,
                            char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    struct held *h = NULL;
    enum err e = held_of(p, k, &h, reterr);
    return e == ERR_OK ? list_member_path(h->w, is_revoked(k), ret, reterr) : e;
}

enum err peermember_snap(struct peerlists *p, const struct stream_key *k,
                         struct buf *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = find_filter(p, k, path, reterr);
    return e == ERR_OK ? file_read(path, ret, reterr) : e;
}

enum err peermember_peek(struct peerlists *p, const struct stream_key *k,
                         uint64_t *retcreated_s, uint64_t *retentries,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = find_filter(p, k, path, reterr);
    return e == ERR_OK ? list_member_peek(path, retcreated_s, retentries, reterr) : e;
}
