/* disk_calls - the linker sends the calls of all rooms here first. */
#include "tests/integ/count/disk_calls.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FDS_MAX = 1024 };

struct node nodes[NODES_MAX];
unsigned nnodes;
struct op *ops;
size_t nops;
struct ledger *ledgers;
static size_t nledgers;
static struct name names[NAMES_MAX];
static unsigned node_of_fd[FDS_MAX]; /* + 1 */
static unsigned dir_of_fd[FDS_MAX];  /* + 1 */
bool is_recording;
bool is_checking; /* nothing is synced: the disk does not matter */
char dirs[DIRS][FILE_PATH_MAX];
struct ledger now;

void fail(const char *what)
{
    (void)fprintf(stderr, "count_states: %s\n", what);
    exit(2); /* NOLINT(concurrency-mt-unsafe): one thread */
}

void *must(void *p)
{
    if (!p) {
        fail("no memory");
    }
    return p;
}

char *copy(const void *p, size_t n)
{
    char *c = must(malloc(n + 1));
    memcpy(c, p, n);
    c[n] = '\0';
    return c;
}

/* Splits a path into folder and name; false: it is of no concern. */
static bool split(const char *path, unsigned *retdir, const char **retname)
{
    const char *slash = strrchr(path, '/');
    for (unsigned d = 0; d < DIRS && slash; d++) {
        size_t n = (size_t)(slash - path);
        if (strlen(dirs[d]) == n && memcmp(dirs[d], path, n) == 0) {
            *retdir = d;
            *retname = slash + 1;
            return true;
        }
    }
    return false;
}

static struct name *find_name(struct name *in, unsigned dir, const char *name)
{
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (in[i].name && in[i].dir == dir && strcmp(in[i].name, name) == 0) {
            return &in[i];
        }
    }
    return NULL;
}

void set_name(struct name *in, unsigned dir, const char *name, unsigned node)
{
    struct name *n = find_name(in, dir, name);
    for (size_t i = 0; i < NAMES_MAX && !n; i++) {
        if (!in[i].name) {
            n = &in[i];
            n->name = copy(name, strlen(name));
            n->dir = dir;
        }
    }
    if (!n) {
        fail("too many names");
    }
    n->node = node;
}

void drop_name(struct name *in, unsigned dir, const char *name)
{
    struct name *n = find_name(in, dir, name);
    if (n) {
        free(n->name);
        n->name = NULL;
    }
}

static int real_open(const char *path);

/* A table that is mapped changes without calls: its header is looked at after each. */
static void look_at_table(struct op *op)
{
    for (size_t i = 0; i < NAMES_MAX; i++) {
        const struct name *n = &names[i];
        char path[FILE_PATH_MAX];
        if (!n->name || !nodes[n->node].is_table || strstr(n->name, ".tmp") ||
            file_path(path, "%s/%s", dirs[n->dir], n->name) != ERR_OK) {
            continue;
        }
        char header[HEADER] = "";
        int fd = real_open(path);
        if (fd >= 0 && pread(fd, header, HEADER, 0) == HEADER) {
            op->header = copy(header, HEADER);
            op->header_of = n->node;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
}

struct op *record(enum op_kind kind)
{
    if (nops >= OPS_MAX) {
        fail("too many calls");
    }
    if (nledgers == 0 || memcmp(&ledgers[nledgers - 1], &now, sizeof(now)) != 0) {
        ledgers = must(realloc(ledgers, (nledgers + 1) * sizeof(*ledgers)));
        ledgers[nledgers++] = now;
    }
    struct op *op = &ops[nops++];
    *op = (struct op){.kind = kind, .ledger = nledgers - 1};
    look_at_table(op);
    return op;
}

/* ---- the wrappers ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */
int __real_open(const char *path, int flags, ...);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_unlinkat(int fd, const char *name, int flags);
int __real_posix_fallocate(int fd, off_t offset, off_t n);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t offset);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_unlinkat(int fd, const char *name, int flags);
int __wrap_posix_fallocate(int fd, off_t offset, off_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t offset);

static int real_open(const char *path)
{
    return __real_open(path, O_RDONLY | O_CLOEXEC);
}

static void opened(int fd, const char *path, int flags)
{
    unsigned dir = 0;
    const char *name = NULL;
    node_of_fd[fd] = 0;
    dir_of_fd[fd] = 0;
    for (unsigned d = 0; d < DIRS; d++) {
        if (strcmp(path, dirs[d]) == 0) {
            dir_of_fd[fd] = d + 1;
        }
    }
    if (!split(path, &dir, &name)) {
        return;
    }
    const struct name *known = find_name(names, dir, name);
    if (!known && (flags & O_CREAT)) {
        struct node *node = &nodes[nnodes++];
        if (nnodes >= NODES_MAX) {
            fail("too many files");
        }
        node->is_table = strstr(name, ".table") != NULL;
        set_name(names, dir, name, nnodes - 1);
        struct op *op = record(OP_CREATE);
        op->dir = dir;
        op->name = copy(name, strlen(name));
        op->node = nnodes - 1;
        known = find_name(names, dir, name);
    }
    node_of_fd[fd] = known ? known->node + 1 : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    int fd = __real_open(path, flags, mode);
    if (is_recording && fd >= FDS_MAX) {
        fail("too many open files");
    }
    if (is_recording && fd >= 0) {
        opened(fd, path, flags);
    }
    return fd;
}

static void written(int fd, const void *p, size_t n, uint64_t offset)
{
    if (!is_recording || node_of_fd[fd] == 0) {
        return;
    }
    struct op *op = record(OP_WRITE);
    op->node = node_of_fd[fd] - 1;
    op->offset = offset;
    op->n = n;
    op->bytes = copy(p, n);
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t offset)
{
    ssize_t done = __real_pwrite(fd, p, n, offset);
    if (done > 0) {
        written(fd, p, (size_t)done, (uint64_t)offset);
    }
    return done;
}

/* Only journals are appended to. */
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    struct stat st = {.st_size = 0};
    (void)fstat(fd, &st);
    ssize_t done = __real_write(fd, p, n);
    if (done > 0) {
        written(fd, p, (size_t)done, (uint64_t)st.st_size);
    }
    return done;
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t n)
{
    int failed = __real_posix_fallocate(fd, offset, n);
    if (!failed && is_recording && node_of_fd[fd] != 0) {
        struct op *op = record(OP_ALLOC);
        op->node = node_of_fd[fd] - 1;
        op->n = (size_t)n;
    }
    return failed;
}

static int synced(int fd, int done)
{
    if (done != 0 || !is_recording) {
        return done;
    }
    if (dir_of_fd[fd] != 0) {
        record(OP_SYNC_DIR)->dir = dir_of_fd[fd] - 1;
    } else if (node_of_fd[fd] != 0) {
        record(OP_SYNC)->node = node_of_fd[fd] - 1;
    }
    return 0;
}

int __wrap_fsync(int fd)
{
    return is_checking ? 0 : synced(fd, __real_fsync(fd));
}

int __wrap_fdatasync(int fd)
{
    return is_checking ? 0 : synced(fd, __real_fdatasync(fd));
}

int __wrap_rename(const char *from, const char *to)
{
    unsigned dir = 0;
    const char *name = NULL;
    const char *target = NULL;
    int done = __real_rename(from, to);
    if (done != 0 || !is_recording || !split(from, &dir, &name) ||
        !split(to, &dir, &target)) {
        return done;
    }
    const struct name *known = find_name(names, dir, name);
    if (!known) {
        fail("a file nobody made is renamed");
        return done;
    }
    unsigned node = known->node;
    drop_name(names, dir, name);
    set_name(names, dir, target, node);
    struct op *op = record(OP_RENAME);
    op->dir = dir;
    op->name = copy(name, strlen(name));
    op->to = copy(target, strlen(target));
    op->node = node;
    return 0;
}

int __wrap_unlink(const char *path)
{
    unsigned dir = 0;
    const char *name = NULL;
    int done = __real_unlink(path);
    if (done == 0 && is_recording && split(path, &dir, &name)) {
        drop_name(names, dir, name);
        struct op *op = record(OP_UNLINK);
        op->dir = dir;
        op->name = copy(name, strlen(name));
    }
    return done;
}

int __wrap_unlinkat(int fd, const char *name, int flags)
{
    if (is_recording) {
        fail("a temporary was left behind"); /* the model has no unlink */
    }
    return __real_unlinkat(fd, name, flags);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */
