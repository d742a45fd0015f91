/*
 * disk_calls - the calls that change files, recorded by wrappers that the program is linked with.
 *
 * One thread. Writes through mappings are not recorded, except to the headers of running tables,
 * which are compared at each call.
 */
#ifndef TESTS_INTEG_COUNT_DISK_CALLS_H
#define TESTS_INTEG_COUNT_DISK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/file.h"

enum {
    KEYS = 60,
    NODES_MAX = 4096,
    OPS_MAX = 65536,
    NAMES_MAX = 1024,
    HEADER = 8192,
    DIRS = 2 /* the counts' folder, and its runs */
};

/* A file, whatever it is called. */
struct node {
    char *bytes;
    size_t size; /* as far as is synced */
    bool is_table;
    bool has_header;
    char header[HEADER]; /* of a table: as it was last seen */
};

enum op_kind {
    OP_CREATE,
    OP_WRITE,
    OP_ALLOC,
    OP_SYNC,
    OP_SYNC_DIR,
    OP_RENAME,
    OP_UNLINK,
    OP_MARK
};

struct ledger {
    uint64_t counted[KEYS];
    uint64_t flushed[KEYS];
    uint64_t now; /* bucket */
};

struct op {
    enum op_kind kind;
    unsigned dir;
    unsigned node;
    char *name;
    char *to;
    uint64_t offset;
    size_t n;
    char *bytes;
    size_t ledger; /* index */
    char *header;  /* of the table `header_of` as it is now; NULL: not looked at */
    unsigned header_of;
};

struct name {
    char *name; /* NULL: free */
    unsigned dir;
    unsigned node;
};

extern struct node nodes[NODES_MAX];
extern unsigned nnodes;
extern struct op *ops; /* OPS_MAX, by the caller */
extern size_t nops;
extern struct ledger *ledgers;
extern char dirs[DIRS][FILE_PATH_MAX];
extern bool is_recording;
extern bool is_checking;  /* nothing is synced: the disk does not matter */
extern struct ledger now; /* kept by the caller */

_Noreturn void fail(const char *what);
void *must(void *p);
char *copy(const void *p, size_t n);
struct op *record(enum op_kind kind);
void set_name(struct name *in, unsigned dir, const char *name, unsigned node);
void drop_name(struct name *in, unsigned dir, const char *name);

#endif
