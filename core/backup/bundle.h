/*
 * bundle - a snapshot as one file, and that file read again: tar in zstd (libarchive).
 *
 * The files of an archive must match its table of contents exactly, in that order: another file,
 * kind, size or sum is an error that names the file.
 * Files in reading order: contents (names and sums), beneath (folders without links), snapshot (the
 * state folder stands still), bundle_write, bundle_read (the archive), restore (into place).
 * Example of a change: a new file in a folder of STATE is in the backup without a change. A new
 * folder is a name in contents_takes, a place in the order of snapshot.h for the command
 * (core/cli/cmd_backup.c), and a place in core/base/statedir.c.
 * Depends: base, contents, snapshot.   Threads: one.   Owns: nothing.   ADR 0039.
 */
#ifndef CORE_BACKUP_BUNDLE_H
#define CORE_BACKUP_BUNDLE_H

#include "core/backup/snapshot.h"

/* share: 0..1 of the bytes. */
typedef void bundle_progress_fn(void *context, const char *what, double share);

/* Takes the next bytes of the archive. The first failure ends the writing. */
typedef enum err bundle_write_fn(void *context, struct slice bytes);

/* Writes all of the snapshot; its contents get their sums. */
enum err bundle_write(struct snapshot *s, bundle_write_fn *write, void *sink,
                      bundle_progress_fn *progress, void *context,
                      struct errinfo *reterr);

/* Callbacks for the files of an archive; each may be NULL. */
struct bundle_taker {
    /* First, with the table of contents. */
    enum err (*begin)(void *context, const struct contents *c, struct errinfo *reterr);
    enum err (*open)(void *context, const struct contents_file *f,
                     struct errinfo *reterr);
    enum err (*bytes)(void *context, struct slice bytes, struct errinfo *reterr);
    enum err (*close)(void *context, struct errinfo *reterr);
    bundle_progress_fn *progress;
    void *context;
};

/* Reads fd from its position. ret, of contents_init, is filled as far as the archive was read.
 * ERR_OK: the archive is whole, and every sum is right. ERR_CORRUPT, ERR_SYNTAX: damaged, or not an
 * archive of gillnet. */
enum err bundle_read(int fd, const char *name, const struct bundle_taker *taker,
                     struct contents *ret, struct errinfo *reterr);

#endif
