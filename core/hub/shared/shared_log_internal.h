/*
 * shared_log_internal - the open log, for its two files: shared_log.c writes, shared_log_read.c
 * reads and remembers.
 */
#ifndef CORE_HUB_SHARED_SHARED_LOG_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_LOG_INTERNAL_H

#include "core/base/file.h"
#include "core/count/stream.h"
#include "core/hub/shared/shared_log.h"

enum { LOG_CACHED_MAX = 64 }; /* records kept in memory */

struct log_file {
    struct run_id id;
    struct pair_log_place begin; /* of its first record */
    struct stream_writer *writer;
    uint64_t bytes;
    bool is_dirty;
};

struct cached_record {
    uint64_t number; /* 0: none */
    struct run_record *v;
    size_t n;
};

struct shared_log {
    char dir[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX]; /* of this origin */
    uint8_t origin[RUN_ORIGIN_BYTES];
    uint32_t key_id;
    uint64_t inc;
    uint64_t last; /* of the state file */
    uint64_t from_s;
    uint64_t sure;
    struct log_file *v; /* by start_s */
    size_t n;
    size_t room;
    struct cached_record cache[LOG_CACHED_MAX];
    size_t cached_bytes;
    bool has_new_file; /* its name is not durable yet */
};

/* ---- shared_log.c ---- */

enum err log_file_path(const struct shared_log *l, const struct run_id *id,
                       char ret[FILE_PATH_MAX], struct errinfo *reterr);
/* NULL: no memory. Moves the others. */
struct log_file *log_add_file(struct shared_log *l, const struct run_id *id);
/* NULL: there is none. */
struct log_file *log_find_file(const struct shared_log *l, uint64_t start_s,
                               uint32_t key_id);
void log_unlink_file(const struct shared_log *l, const struct run_id *id);

/* ---- shared_log_read.c ---- */

/* Reads the files of the folder; removes those of other incarnations. */
enum err log_index_folder(struct shared_log *l, struct shared_positions *positions,
                          struct errinfo *reterr);
void log_mark_cell(struct shared_record *r, uint64_t key);
/* Remembers a record. Takes v. */
void log_cache(struct shared_log *l, uint64_t number, struct run_record *v, size_t n);
void log_empty_cache(struct shared_log *l);

#endif
