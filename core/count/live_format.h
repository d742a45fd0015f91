/*
 * live_format - files of the running bucket, for the modules that write and read them.
 *
 * live.START-INC.GEN.table has the header twice, at 0 and at LIVE_HEADER (magic, version, state,
 * run id, shards, generation, slots of a shard, boot; XXH3-64 in the last 8 bytes). The slots {key,
 * count} follow in native byte order, because a table is only read in the boot that wrote it.
 * Growing makes the next generation. live.START-INC.journal: a pair_log of keys and their counts;
 * records are numbered 1, 2, 3. Not for other rooms.
 */
#ifndef CORE_COUNT_LIVE_FORMAT_H
#define CORE_COUNT_LIVE_FORMAT_H

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/count/live.h"
#include "core/count/pair_log.h"

#define LIVE_TABLE_MAGIC UINT64_C(0x31424154434e4747) /* "GGNCTAB1" */
enum {
    LIVE_VERSION = 1,
    LIVE_HEADER = 4096,
    LIVE_DATA_AT = 2 * LIVE_HEADER,
    LIVE_SUM = 8,
    LIVE_FILE_MODE = 0640,
    /* bytes of a journal; above it, and above 4 pairs for each key, it is rewritten */
    LIVE_JOURNAL_MAX = 64 << 20,
    LIVE_RECORD_MAX = 1 << 30 /* bytes of one record */
};

enum live_state { LIVE_RUNNING = 1, LIVE_SEALED = 2 };

/* Which boot of the machine; where the system does not name it, when it was. */
struct live_boot {
    uint32_t kind;     /* 1: named, 2: by time */
    uint64_t id;       /* of the name; or microseconds of the wall clock at the boot */
    uint64_t since_us; /* by time: since the boot, at the writing */
};
struct live_boot live_boot_now(void);
/* Whether what was written under then was written in this boot. */
bool live_boot_is_same(const struct live_boot *then, const struct live_boot *now);

struct live_header {
    struct run_id id;
    uint32_t state;
    uint32_t nshards;
    uint32_t generation;
    uint64_t per_shard; /* slots */
    struct live_boot boot;
};

struct live_slot {
    uint64_t key;
    uint64_t count;
};

/* The place at which key is sought first in its shard of per_shard slots. */
uint64_t live_slot_of(uint64_t key, unsigned nshards, uint64_t per_shard);

/* LIVE_HEADER bytes. */
void live_header_print(const struct live_header *h, struct buf *ret);
/* From the first LIVE_DATA_AT bytes of a file of size bytes. ERR_NOT_FOUND: never written (zeros).
 * ERR_CORRUPT, ERR_UNSUPPORTED: as said by the text. */
enum err live_header_read(struct slice bytes, uint64_t size, const char *path,
                          struct live_header *ret, struct errinfo *reterr);

extern const struct pair_log_form live_journal_form;
/* Reads a journal's header. ERR_CORRUPT, ERR_UNSUPPORTED: as said by the text. */
enum err live_journal_begin(struct pair_log *l, struct pair_log_place *ret,
                            struct errinfo *reterr);

/* ---- names ---- */

enum live_kind { LIVE_OTHER, LIVE_TABLE, LIVE_JOURNAL };
struct live_name {
    enum live_kind kind;
    uint64_t start_s;
    uint64_t inc;
    uint32_t generation;
};
enum err live_table_path(char dst[FILE_PATH_MAX], const char *dir,
                         const struct run_id *id, uint32_t generation);
enum err live_journal_path(char dst[FILE_PATH_MAX], const char *dir,
                           const struct run_id *id);
struct live_name live_name_parse(struct slice name);

#endif
