/*
 * contents - the table of contents and the list of checksums of a backup, both text.
 *
 * The archive is a tar file compressed with zstd: MANIFEST first, then the files in its order, then
 * SHA256SUMS, as sha256sum(1) writes it. MANIFEST: lines "word value" (gillnet-backup FORMAT,
 * version, node, time, shared, counts, files), an empty line, then "MODE SIZE PATH" for each file,
 * paths rising. Only names that a state folder can have are valid, so a hostile archive cannot make
 * its reader write anywhere else.
 * Depends: base.   Threads: one object, one thread.   Owns: its paths.   ADR 0039.
 */
#ifndef CORE_BACKUP_CONTENTS_H
#define CORE_BACKUP_CONTENTS_H

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    CONTENTS_FORMAT = 1,
    CONTENTS_PATH_MAX = 400, /* bytes of a path */
    CONTENTS_DEPTH_MAX = 8,  /* folders and file of one */
    CONTENTS_NODE_MAX = 128, /* bytes of the server's name */
    CONTENTS_FILES_MAX = 4000000,
    CONTENTS_TEXT_MAX = 1 << 30 /* bytes of MANIFEST, and of SHA256SUMS */
};
#define CONTENTS_NAME     "MANIFEST"
#define CONTENTS_SUMS     "SHA256SUMS"
#define CONTENTS_SIZE_MAX (UINT64_C(1) << 44) /* bytes of all files */

struct contents_file {
    const char *path; /* below the state folder */
    uint64_t size;
    mode_t mode;                 /* 0600 or 0640 */
    char sha256[SHA256_HEX + 1]; /* empty: not read yet */
};

struct contents {
    char version[32];
    char node[CONTENTS_NODE_MAX + 1]; /* "-": in no ring */
    uint64_t time_s;                  /* when it was taken */
    bool is_shared;                   /* a running hub had published what was counted */
    bool has_counts;
    struct contents_file *v;
    size_t n;
    size_t room;
    uint64_t bytes; /* of all files */
    struct arena *arena;
};

void contents_init(struct contents *c);
void contents_fini(struct contents *c);

/* Whether a file of this path belongs into a backup. */
bool contents_takes(struct slice path, bool with_counts);
/* A file of one process or boot, or one that is rebuilt from the others: left out without a
 * message. */
bool contents_is_passing(struct slice path);
/* ERR_LIMIT, ERR_NOMEM. */
enum err contents_add(struct contents *c, struct slice path, uint64_t size, mode_t mode,
                      struct errinfo *reterr);
/* In order of paths, each once. */
void contents_sort(struct contents *c);

void contents_print(const struct contents *c, struct buf *ret);
/* ret: of contents_init. ERR_SYNTAX, ERR_VERSION, ERR_LIMIT, ERR_NOMEM. */
enum err contents_parse(struct slice text, struct contents *ret,
                        struct errinfo *reterr);

/* The lines of SHA256SUMS: of MANIFEST, then of each file. */
void contents_print_sums(const struct contents *c, const char *manifest_sha256,
                         struct buf *ret);
/* Compares them with what was read. ERR_CORRUPT: reterr names the first that differs. */
enum err contents_check_sums(const struct contents *c, const char *manifest_sha256,
                             struct slice sums, struct errinfo *reterr);

#endif
