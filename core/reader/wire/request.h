/*
 * request - a job on its way to gillnet-reader.
 *
 * Layout, little-endian: "GNR1", u64 bytes behind this field, u32 entries, u64 bytes, u32 ratio,
 * u32 pages, u64 pixels, u32 flags, u32 processor seconds, u16 passwords, u16 next files, then the
 * name, the type, each password, each next file and the file, all as u64 length and bytes. The
 * reader answers with records (record.h), the first of which is RECORD_READY.
 * Threads: pure.   Depends: base.
 */
#ifndef CORE_READER_WIRE_REQUEST_H
#define CORE_READER_WIRE_REQUEST_H

#include "core/base/err.h"
#include "core/reader/wire/found.h"

enum {
    REQUEST_HEAD_BYTES = 12,
    REQUEST_PASSWORDS_MAX = 16,
    REQUEST_NEXT_MAX = 15,
    REQUEST_TEXT_MAX = 64 * 1024 /* bytes of a name, type or password */
};
#define REQUEST_BYTES_MAX (UINT64_C(2) << 30)

/* The pieces of a request, to be written one after the other. Texts and files are those of job. */
struct request {
    struct buf head; /* all but the bytes of files */
    size_t npieces;
    struct slice piece[2 * REQUEST_NEXT_MAX + 4];
};

/* cpu_s: processor time after which the reader may be killed. ERR_LIMIT: more than fits; ERR_NOMEM.
 * The caller frees with request_fini either way. */
enum err request_make(const struct reader_job *job, uint32_t cpu_s,
                      struct request *ret);
void request_fini(struct request *r);

/* Bytes behind the head; 0: these REQUEST_HEAD_BYTES begin no request. */
uint64_t request_rest(const char head[REQUEST_HEAD_BYTES]);

/* A request as it was read. */
struct request_read {
    struct reader_job job; /* its slices point into the bytes */
    uint32_t cpu_s;
    struct slice password[REQUEST_PASSWORDS_MAX];
    struct slice next[REQUEST_NEXT_MAX];
};
/* rest: the bytes behind the head. False: it is no request. ret must stay where it is. */
bool request_parse(struct slice rest, struct request_read *ret);

#endif
