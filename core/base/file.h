/*
 * file - whole files, safely: published by write-temp, fsync, rename, fsync of the folder.
 *
 * Nothing here follows a symbolic link at the last component, and every descriptor is
 * close-on-exec. Errors name the path. Threads: one object, one thread.
 * Source of the write order: enumeration of crash states (ADR 0007).
 */
#ifndef CORE_BASE_FILE_H
#define CORE_BASE_FILE_H

#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum { FILE_PATH_MAX = 4096 };
#define FILE_TEMP_SUFFIX ".tmp"

/* dst = printf(format, ...); ERR_LIMIT when it does not fit FILE_PATH_MAX. */
enum err file_path(char dst[FILE_PATH_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* file_path that also fills reterr, which may be NULL: "the path is too long". For callers that
 * report; it is to replace file_path. */
enum err path_make(char dst[FILE_PATH_MAX], struct errinfo *reterr, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

/* Reads n bytes of an open file from offset `at` on. Returns how many it read: fewer at the end of
 * the file (errno is 0 then) or where the file cannot be read (errno). */
size_t file_read_at(int fd, uint64_t at, void *dst, size_t n);
/* Writes all bytes, at the file's position or at an offset. False: errno. */
bool file_write_all(int fd, struct slice bytes);
bool file_write_at(int fd, uint64_t at, struct slice bytes);
/* Closes *fd if it is not -1, and sets it to -1. */
void fd_close(int *fd);

/* Opens a file in dir that has no name and is gone when it is closed. Returns -1 and errno. */
int file_open_nameless(const char *dir);

/* Appends the whole file to retbuf (initialised by the caller; its cap bounds the read). */
enum err file_read(const char *path, struct buf *retbuf, struct errinfo *reterr);

/* Replaces path by bytes, durably: a crash leaves the old file or the new one. Like all that
 * make a file here it never replaces a device or a socket: ERR_CORRUPT. */
enum err file_write_atomic(const char *path, struct slice bytes, mode_t mode,
                           struct errinfo *reterr);

/* A file being written under a temporary name beside its final one. */
struct file_out {
    int fd; /* -1 when not open */
    char path[FILE_PATH_MAX];
    char temp[FILE_PATH_MAX];
    struct buf pending;
    uint64_t written; /* bytes handed to file_out_add so far */
    enum err failed;  /* sticky */
};
enum err file_out_open(struct file_out *f, const char *path, mode_t mode,
                       struct errinfo *reterr);
/* Buffered; a failure is kept for file_out_commit. */
void file_out_add(struct file_out *f, struct slice bytes);
/* Overwrites bytes at offset (a header whose sums are known only at the end). */
void file_out_put_at(struct file_out *f, uint64_t offset, struct slice bytes);
/* Flush, fsync, rename into place, fsync of the folder. On failure the temporary is removed. */
enum err file_out_commit(struct file_out *f, struct errinfo *reterr);
/* Removes the temporary; accepts a committed or never opened one. */
void file_out_abort(struct file_out *f);

/* Removes the temporaries (names ending in FILE_TEMP_SUFFIX) that killed writers left in dir.
 * Only for the holder of the folder's lock: a temporary in use would be lost too. */
enum err file_sweep_temps(const char *dir, struct errinfo *reterr);
/* Only those that were last written at least age_s ago: for a folder without a lock, whose writers
 * need less. */
enum err file_sweep_old_temps(const char *dir, unsigned age_s, struct errinfo *reterr);

/* A read-only or shared-writable mapping of a whole file (file_map.c). A page that is cut off, or
 * that the disk does not give, reads as ones, or as zeros where the mapping may be written; what is
 * written there is lost (sigbus.h). The owner asks filemap_is_damaged before it relies
 * on a page; a writer asks at each tick. */
struct filemap {
    unsigned char *p; /* NULL when empty or not open */
    size_t n;
    int fd; /* of the file that is mapped; -1: a copy, or not open */
};
enum filemap_mode {
    FILEMAP_READ,  /* MAP_SHARED, PROT_READ */
    FILEMAP_WRITE, /* MAP_SHARED, PROT_READ|PROT_WRITE; the file was allocated in full */
    FILEMAP_COPY   /* anonymous private copy: survives truncation of the file */
};
enum err filemap_open(struct filemap *m, const char *path, enum filemap_mode mode,
                      struct errinfo *reterr);
void filemap_close(struct filemap *m);
/* Puts a new file of size bytes, mapped for writing, in the place of path. fill sets its bytes,
 * which are zero before, under another name: no reader sees half of them. On failure *m is
 * empty. */
struct filemap_new {
    size_t size;
    mode_t mode;
    void (*fill)(void *context, void *p);
    void *context;
};
enum err filemap_make(struct filemap *m, const char *path,
                      const struct filemap_new *fresh, struct errinfo *reterr);
/* Whether a page was replaced, or the file is shorter than its mapping. */
bool filemap_is_damaged(const struct filemap *m);
/* The same as an error: ERR_CORRUPT. */
enum err filemap_check(const struct filemap *m, const char *path,
                       struct errinfo *reterr);
/* For a mapping that is written, at each tick of its owner. Nothing happens while it is sound. If
 * not, a new file takes the place of path and of the mapping, which keeps its address: other
 * threads may go on using it. The file gets what the mapping has, where lost pages are zeros, and
 * then fresh->fill mends it. What other threads write at that moment may be lost. A line in the log
 * says what happened; `lost` names what the file had. False: it is damaged still (the disk is full,
 * say). */
bool filemap_mend(struct filemap *m, const char *path, const char *lost,
                  const struct filemap_new *fresh);

/* Creates path (or replaces it atomically) with size zero bytes that really exist on disk
 * (posix_fallocate), so that a later store through a mapping cannot fault. */
enum err file_allocate(const char *path, uint64_t size, mode_t mode,
                       struct errinfo *reterr);

enum err file_sync_dir(const char *dir, struct errinfo *reterr);
/* mkdir -p of the last component only, with mode. ERR_OK also when the folder exists. */
enum err file_make_dir(const char *dir, mode_t mode, struct errinfo *reterr);

/* Puts fresh in the place of path and path in that of fresh, two files or folders of one file
 * system, durably: at any moment one of the two is there, and after ERR_OK the former one may be
 * removed. */
enum err file_exchange(const char *fresh, const char *path, struct errinfo *reterr);
/* Removes a file, or a folder with all that is in it, following no link; fine when nothing is
 * there. ERR_LIMIT: folders deeper than any that gillnet makes. */
enum err file_remove_tree(const char *path, struct errinfo *reterr);

/* An advisory whole-file lock. ERR_LOCKED when another process has it; never waits. */
struct filelock {
    int fd; /* -1: not held */
};
enum err filelock_take(struct filelock *l, const char *path, struct errinfo *reterr);
/* Beside any number of others who share it; ERR_LOCKED while somebody took it for himself. */
enum err filelock_share(struct filelock *l, const char *path, struct errinfo *reterr);
void filelock_drop(struct filelock *l);
/* Whether a process holds it now. Takes the lock for an instant, so a taker may get ERR_LOCKED. */
bool filelock_is_held(const char *path);

#endif
