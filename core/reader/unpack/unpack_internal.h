/*
 * unpack_internal - an archive that is read entry by entry, for the files of this room.
 *
 * Files in reading order: unpack_archive (the passes over an archive), unpack_source (the library's
 * object), unpack_stream (its input), unpack_entry (names and bytes), unpack_rar5.
 * Threads: one object, one thread.   Allocates: the library's memory.   Depends: base, wire.
 */
#ifndef CORE_READER_UNPACK_INTERNAL_H
#define CORE_READER_UNPACK_INTERNAL_H

#include <archive.h>
#include <archive_entry.h>

#include "core/base/buf.h"
#include "core/reader/wire/format.h"

enum {
    UNPACK_STREAM_FACTOR =
        2, /* bytes of a decompressed stream for one that may come out: heads and
                               * padding of a tar come on top */
    UNPACK_TRIED_FACTOR =
        2, /* bytes of encrypted entries that are read, for one that may come out */
    UNPACK_MISSES = 16 /* encrypted entries that a password may fail to open */
};

enum unpack_open { UNPACK_OPEN, UNPACK_STRANGE, UNPACK_BROKEN };

/* A file that is compressed as a whole. */
struct unpack_stream;
enum unpack_step {
    UNPACK_PIECE,
    UNPACK_END,
    UNPACK_CUT /* it is damaged, or ends early */
};

/* Opens the stream. NULL with UNPACK_OPEN: bytes are not compressed as a whole. */
enum unpack_open unpack_stream_open(struct slice bytes, struct unpack_stream **ret);
void unpack_stream_free(struct unpack_stream **s); /* accepts NULL */
bool unpack_stream_is_empty(const struct unpack_stream *s);
/* The name in the stream, or an empty one. */
struct slice unpack_stream_name(const struct unpack_stream *s);
/* Writes the next piece, which lives until the next call. */
enum unpack_step unpack_stream_next(struct unpack_stream *s, struct slice *ret);

/* The input of one pass. */
struct unpack_source {
    const struct reader_job *job;
    struct found *found;
    struct archive *formats;      /* gives the entries */
    struct unpack_stream *stream; /* the input of formats; NULL: that is job->bytes */
    uint64_t nstream;             /* bytes of stream */
    uint64_t nread;               /* bytes of entries */
    bool is_cut;                  /* stream ended early */
    bool is_over;                 /* a limit was met */
};

enum unpack_as { UNPACK_ARCHIVE, UNPACK_LONE /* one compressed file */ };

/* Opens job->bytes; password may be empty. UNPACK_STRANGE: no format that the library knows.
 * The source is closed by unpack_close in every case. */
enum unpack_open unpack_open(struct unpack_source *s, const struct reader_job *job,
                             struct found *f, enum unpack_as as, struct slice password);
void unpack_close(struct unpack_source *s);

/* An entry's kind. */
enum unpack_kind { UNPACK_FILE, UNPACK_ENCRYPTED, UNPACK_NAME_ONLY };
enum unpack_kind unpack_kind(const struct unpack_source *s,
                             struct archive_entry *entry);

/* The name of an entry in UTF-8, in dst. Bytes that are no UTF-8 become U+FFFD. The end of a name
 * that is too long is kept: there stands what kind of file it is. */
struct slice unpack_name(const struct unpack_source *s, struct archive_entry *entry,
                         char dst[FOUND_NAME_MAX]);

/* The name of the one file of a source with a stream. The stream has it, or the job. */
struct slice unpack_lone_name(const struct unpack_source *s, char dst[FOUND_NAME_MAX]);

enum unpack_read {
    UNPACK_WHOLE,
    UNPACK_PART, /* this entry is damaged */
    UNPACK_LOST, /* and nothing can be read after it */
    UNPACK_STOP  /* enough is found */
};
/* Takes bytes of an entry; returns false to end the reading. */
typedef bool unpack_take_fn(void *context, struct slice bytes);
/* Reads the bytes of the current entry; holes are zeros. */
enum unpack_read unpack_bytes(struct unpack_source *s, unpack_take_fn *take,
                              void *context);

/* Whether the next file of a RAR 5 archive, whose heads begin at offset, or all heads behind it,
 * are encrypted: the library does not say so. */
bool unpack_rar5_is_encrypted(struct slice bytes, uint64_t offset);

#endif
