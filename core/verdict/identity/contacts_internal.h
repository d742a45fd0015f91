/*
 * contacts_internal - the parts of the store; for contacts.c, contacts_file.c and contacts_fold.c.
 */
#ifndef CORE_VERDICT_IDENTITY_CONTACTS_INTERNAL_H
#define CORE_VERDICT_IDENTITY_CONTACTS_INTERNAL_H

#include <pthread.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/filter/bloom.h"
#include "core/filter/tally.h"
#include "core/store/run.h"
#include "core/verdict/identity/contacts.h"

/* The numbers are on disk. */
enum contact_kind {
    CONTACT_PERSON = 1, /* our address, theirs */
    CONTACT_SITE = 2,   /* our domain, their address */
    CONTACT_MESSAGE = 3,
    CONTACT_DOMAIN = 4,
    CONTACT_LIST = 5
};

/* An entry's value: day * CONTACT_KINDS + kind. The day is Unix time / 86400. */
enum { CONTACT_KINDS = 8, CONTACT_REFRESH_DAYS = 7 };

struct contact_entry {
    uint64_t key; /* never 0 */
    uint32_t value;
};

/* known.N with its filter; constant. */
struct contacts_known {
    struct run *run;
    struct bloom filter; /* words NULL: everything may be in it */
    uint64_t number;
    unsigned refs; /* guarded by the store's lock */
};

struct contacts {
    char dir[FILE_PATH_MAX];
    const struct keyring *keys;
    struct contacts_hooks hooks;
    pthread_mutex_t lock; /* guards: all below that is not the thread's alone */
    pthread_cond_t changed;
    pthread_t thread;
    bool is_view; /* for a few look-ups of a command */
    bool has_thread;
    bool ends;
    bool wants_fold;         /* somebody asked the thread for one */
    bool is_dirty;           /* the log has entries that are not synced */
    bool is_volatile;        /* the log is not written any more */
    bool is_faulty;          /* told by on_fault; the thread's */
    struct filelock folding; /* held while this process folds */
    int log;                 /* -1: none */
    uint64_t log_number;
    uint64_t log_bytes;
    uint64_t dropped;
    struct tally recent;          /* learnt since the last fold began */
    struct tally frozen;          /* being folded */
    struct contacts_known *known; /* NULL: nothing was folded */
};

/* ---- contacts.c ---- */

uint32_t contact_today(void);
/* Whether an entry of this value is too old on the day. */
bool contact_is_over(uint64_t value, uint32_t day);
/* Puts the later of both values; false: there is no room. The caller holds the lock. */
bool contact_put(struct tally *t, uint64_t key, uint64_t value);

/* ---- contacts_file.c ---- */

/* Makes a log of this process with a number above all others and locks it; *retfd, *retnumber. */
enum err contacts_log_make(const char *dir, int *retfd, uint64_t *retnumber,
                           struct errinfo *reterr);
/* Appends; on failure nothing of it is in the file, or the file is not to be used any more. */
bool contacts_log_append(int fd, uint64_t size, const struct contact_entry *v,
                         size_t n);
enum { CONTACT_RECORD = 16 };

typedef bool contacts_entry_fn(void *context, const struct contact_entry *entry);
/* Gives the whole entries of the file to fn until it returns false. *retlocked: a process appends
 * to it. ERR_NOT_FOUND, ERR_CORRUPT, ERR_VERSION. */
enum err contacts_log_read(const char *dir, uint64_t number, contacts_entry_fn *fn,
                           void *context, bool *retlocked, struct errinfo *reterr);

/* Numbers of the files PREFIX.N in the folder, rising, at most CONTACTS_FILES. */
enum {
    CONTACTS_FILES = 2048
}; /* each process that is killed before it folds leaves a log */
enum err contacts_files(const char *dir, const char *prefix,
                        uint64_t ret[CONTACTS_FILES], size_t *retn,
                        struct errinfo *reterr);
enum err contacts_path(char dst[FILE_PATH_MAX], const char *dir, const char *prefix,
                       uint64_t number, struct errinfo *reterr);

/* Opens known.N and makes its filter, for which all of it is read; key NULL: without a filter. */
enum err contacts_known_open(const char *dir, uint64_t number,
                             const struct hashkey *key, struct contacts_known **ret,
                             struct errinfo *reterr);
void contacts_known_free(struct contacts_known *k); /* accepts NULL */

/* ---- contacts_fold.c ---- */

void *contacts_run(void *context);

#endif
