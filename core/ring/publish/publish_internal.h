/*
 * publish_internal - state and functions shared by the files of the publisher.
 *
 * Not for other rooms.   Depends: publish.   Threads: one.
 */
#ifndef CORE_RING_PUBLISH_PUBLISH_INTERNAL_H
#define CORE_RING_PUBLISH_PUBLISH_INTERNAL_H

#include "core/base/file.h"
#include "core/ring/publish/publish.h"

/* A row of the next heads. */
struct publish_row {
    struct head head;
    uint64_t
        keep;     /* objects before it are removed from the place afterwards; 0: none */
    bool is_ours; /* from this publication; else from the place */
    bool is_verified; /* or signed with the key in use */
};

struct publish {
    struct publish_options o;
    char place[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers/publish */
    struct filelock lock;
    struct publish_row row[REPOSITORY_LISTS_MAX]; /* sorted by name */
    size_t nrows;
    struct object_id
        before[REPOSITORY_LISTS_MAX]; /* streams in the place's heads at the start */
    size_t nbefore;
    uint64_t heads_seq; /* of the newest heads known */
    uint64_t heads_ms;  /* when they were made */
};

/* The numbers in LIST/state. */
enum {
    PUBLISH_FROM,        /* first seq of the chain in the place */
    PUBLISH_SNAP,        /* seq of the newest SNAP */
    PUBLISH_SNAP_BYTES,  /* of its payload, as sent */
    PUBLISH_DELTA_BYTES, /* of the DELTAs since */
    PUBLISH_SNAP_BEFORE, /* seq of the SNAP before */
    PUBLISH_SNAP_HASH    /* its header's hash: four numbers */
};

/* The publication of one list. */
struct publishing {
    struct publish *p;
    const char *name;
    char dir[FILE_PATH_MAX]; /* STATE/peers/publish/LIST */
    char out[FILE_PATH_MAX];
    struct object_id id; /* of the stream */
    struct textfile state;
    bool has_state;
    struct publish_result result;
};

/* Signs and stages the next object. steps: of a DELTA; NULL: a SNAP of the state's list. */
enum err publishing_add(struct publishing *x, const struct textlist *steps,
                        struct errinfo *reterr);
/* Removes staged objects that are not in the state (later seq). */
enum err publishing_sweep(struct publishing *x, struct errinfo *reterr);
/* Moves staged objects into the place. */
enum err publishing_deliver(struct publishing *x, struct errinfo *reterr);
/* Whether the place has every file of the head. */
bool publishing_is_whole(const struct publishing *x);
/* NULL: the place does not have the list. */
struct publish_row *publish_find_row(struct publish *p, const char *name);
/* Remembers the streams in the place's heads. */
void publish_note_streams(struct publish *p);
/* Removes files of former streams after PUBLISH_GRACE_S. Ignores failures. */
void publish_sweep(const struct publish *p);
/* Removes files of objects before keep from one folder. Ignores failures. */
void publish_remove_files(const char *dir, uint64_t keep);
/* Removes from the place the objects of a stream before keep. */
void publish_remove_before(const struct publish *p, const struct object_id *stream,
                           uint64_t keep);

#endif
