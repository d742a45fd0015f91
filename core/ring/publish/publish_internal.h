/*
 * publish_internal - what the modules of the publisher share.
 *
 * Not for other rooms.   Depends: publish.   Threads: one.
 */
#ifndef CORE_RING_PUBLISH_PUBLISH_INTERNAL_H
#define CORE_RING_PUBLISH_PUBLISH_INTERNAL_H

#include "core/base/file.h"
#include "core/ring/publish/publish.h"

/* A list's stream as it will be shown. */
struct publish_row {
    struct head head;
    uint64_t
        keep;     /* objects before it are removed from the place afterwards; 0: none */
    bool is_ours; /* brought by this publication; else as the place had it */
    bool is_verified; /* or signed with the key in use */
};

struct publish {
    struct publish_options o;
    char place[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers/publish */
    struct filelock lock;
    struct publish_row row[REPOSITORY_LISTS_MAX]; /* sorted by name */
    size_t nrows;
    struct object_id before[REPOSITORY_LISTS_MAX]; /* streams that the place showed */
    size_t nbefore;
    uint64_t heads_seq; /* of the newest heads known */
    uint64_t heads_ms;  /* when they were made */
};

/* The numbers in LIST/state. */
enum {
    PUBLISH_FROM,        /* objects of the chain from this seq on are in the place */
    PUBLISH_SNAP,        /* seq of the newest SNAP */
    PUBLISH_SNAP_BYTES,  /* of its payload, as sent */
    PUBLISH_DELTA_BYTES, /* of the DELTAs since */
    PUBLISH_SNAP_BEFORE, /* seq of the SNAP before */
    PUBLISH_SNAP_HASH    /* its header's hash: four numbers */
};

/* One list on its way. */
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

/* Signs the next object and stages it. steps: of a DELTA; NULL: a SNAP of what the state holds. */
enum err publishing_add(struct publishing *x, const struct textlist *steps,
                        struct errinfo *reterr);
/* Removes what was staged and never committed (seq behind the state's). */
enum err publishing_sweep(struct publishing *x, struct errinfo *reterr);
/* What is staged goes into the place; what is there stays. */
enum err publishing_deliver(struct publishing *x, struct errinfo *reterr);
/* Whether the place has every file that the head promises. */
bool publishing_is_whole(const struct publishing *x);
/* NULL: the place does not have the list. */
struct publish_row *publish_find_row(struct publish *p, const char *name);
/* Remembers what the place shows. */
void publish_note_streams(struct publish *p);
/* Removes from the place, in time, the files of streams that its heads name no more. What cannot be removed stays. */
void publish_sweep(const struct publish *p);
/* Removes files of objects before keep from a folder of them. What cannot be removed stays. */
void publish_remove_files(const char *dir, uint64_t keep);
/* Removes from the place the objects of a stream before keep. */
void publish_remove_before(const struct publish *p, const struct object_id *stream,
                           uint64_t keep);

#endif
