/*
 * contacts - correspondents, Message-IDs of outgoing mail with their recipients, known sender domains.
 *
 * Nothing readable is kept: an entry is 64 bits of a digest under the digest key and the day on
 * which it was last learnt. Entries of correspondents and of sender domains stay 180 days, those of
 * Message-IDs 60 days; at most CONTACTS_MOST in all, then the oldest go first. ASCII case does not
 * matter in addresses.
 *
 * Files in STATE/identity: known.N, a run (core/store/run.h) of all entries up to some time, and
 * log.N, entries of 16 bytes appended by write(2) since then: what was appended before a reply is
 * there after kill -9. A thread folds logs into the next known.N and syncs the log every 5 seconds.
 * A log belongs to the process that has it locked; those of dead processes are folded too, and
 * repeating one changes nothing. Each look-up asks the entries in memory, then a filter of known.N,
 * and only if that says "perhaps" known.N itself: the answer is exact. Threads: any; learning and
 * looking up never wait for the disk to sync, and never call back.
 * Depends: base, filter, store.   Owns: its files and memory.   ADR 0062.
 */
#ifndef CORE_VERDICT_IDENTITY_CONTACTS_H
#define CORE_VERDICT_IDENTITY_CONTACTS_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/base/slice.h"

#define CONTACTS_DIR "identity"
enum {
    CONTACTS_DAYS = 180,          /* of correspondents and sender domains */
    CONTACTS_MESSAGE_DAYS = 60,   /* of Message-IDs */
    CONTACTS_MOST = 4000000,      /* entries on disk, about 9 bytes each */
    CONTACTS_MOST_RECENT = 400000 /* entries in memory, until they are folded */
};

struct contacts;

/* One call in the thread of the store every 5 seconds, and the present fault (NULL: it is over). */
struct contacts_hooks {
    void (*on_tick)(void);
    void (*on_fault)(const char *text);
};

/* Opens the store for learning and makes its folder. The caller keeps keys. */
enum err contacts_open(const char *state_dir, const struct keyring *keys,
                       struct contacts **ret, struct errinfo *reterr);
/* Opens it as it is now, for looking up while gillnetd runs. Without a folder it is empty. */
enum err contacts_view(const char *state_dir, const struct keyring *keys,
                       struct contacts **ret, struct errinfo *reterr);
/* Starts the thread of an open store. Without it nothing is folded. */
enum err contacts_start(struct contacts *c, const struct contacts_hooks *hooks,
                        struct errinfo *reterr);
/* Ends the thread; all entries stay in the log. Accepts NULL. */
void contacts_close(struct contacts **c);
/* Folds now; with a thread, only asks it to fold. The thread also folds by itself. */
enum err contacts_fold(struct contacts *c, struct errinfo *reterr);

/* ---- learning; addresses in normal form (core/message/url/address.h) ---- */

/* A message from here. */
struct contacts_sent {
    struct slice from;        /* our address */
    const struct slice *rcpt; /* theirs */
    size_t nrcpt;
    struct slice message_id; /* without <>, or empty */
};
/* When it returns ERR_OK all of it survives kill -9. Recipients that are known as mailing lists are
 * left out. */
enum err contacts_learn_sent(struct contacts *c, const struct contacts_sent *sent);
/* Mail of this registrable domain was accepted. */
enum err contacts_learn_domain(struct contacts *c, struct slice domain);
/* The address is a mailing list's. */
enum err contacts_learn_list(struct contacts *c, struct slice address);

/* ---- looking up ---- */

/* Whether ours, or somebody else of its domain, wrote to theirs. */
bool contacts_wrote(struct contacts *c, struct slice ours, struct slice theirs);
/* Whether a message with this id went from here to theirs. */
bool contacts_sent_id(struct contacts *c, struct slice message_id, struct slice theirs);
/* Whether somebody wrote to the registrable domain, or mail of it was accepted. */
bool contacts_has_domain(struct contacts *c, struct slice domain);

struct contacts_numbers {
    uint64_t folded;  /* entries in known.N */
    uint64_t recent;  /* in memory */
    uint64_t dropped; /* not learnt, because memory was full */
    uint64_t bytes;   /* of files */
    bool is_volatile; /* the log cannot be written */
};
void contacts_numbers(struct contacts *c, struct contacts_numbers *ret);

#endif
