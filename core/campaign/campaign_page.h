/*
 * campaign_page - the mapped file of campaigns; private to this room.
 *
 * A header of 4 KiB, the slots (a campaign each), buckets of keys, then the slots' pictures. The
 * file stays on its machine, so numbers are in native order. gillnetd alone writes, under the lock
 * of its struct campaigns. Other processes read while it writes: seq of a slot is odd while the
 * slot changes. A key points to a slot of one generation; when a slot gets another campaign its
 * generation rises, and the keys of the former one mean nothing. A file that is damaged, or of
 * another version, is replaced by an empty one; a slot that a kill left half written is emptied.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_PAGE_H
#define CORE_CAMPAIGN_CAMPAIGN_PAGE_H

#include <stdatomic.h>

#include "core/campaign/campaign.h"
#include "core/campaign/distinct.h"
#include "core/campaign/picture.h"

#define CAMPAIGN_MAGIC UINT64_C(0x31504d41434c4947) /* "GILCAMP1" */

enum {
    CAMPAIGN_VERSION = 2,
    CAMPAIGN_SLOTS = 2 * CAMPAIGNS_MAX,
    CAMPAIGN_BUCKETS = 30000,
    CAMPAIGN_BUCKET_KEYS = 8,
    CAMPAIGN_DAY_S = 86400,
    CAMPAIGN_LIFE_S = CAMPAIGN_DAYS * CAMPAIGN_DAY_S,
    CAMPAIGN_DONES = 4
};

struct campaign_slot {
    _Atomic uint32_t seq;
    uint16_t generation;
    uint8_t nsubject; /* bytes */
    uint8_t nsender;
    uint64_t id; /* 0: free */
    uint32_t first_s;
    uint32_t last_s;
    uint32_t messages;
    uint32_t done[CAMPAIGN_DONES]; /* enum campaign_done */
    float score;                   /* sum */
    uint16_t nkeys;                /* at least those in the buckets */
    struct distinct networks;
    struct distinct domains;
    char subject[CAMPAIGN_SUBJECT_MAX];
    char sender[CAMPAIGN_SENDER_MAX];
};

struct campaign_key {
    uint64_t digest; /* the beginning of the one under which it is counted */
    uint16_t slot;
    uint16_t generation;
    uint8_t type;      /* 0: free */
    uint8_t day;       /* of its last message: the last 8 bits of Unix time / 86400 */
    uint8_t hits;      /* messages of its campaign that had it, at most 255 */
    uint8_t strangers; /* messages of other campaigns that had it, at most 255 */
};

struct campaign_page {
    uint64_t magic;
    uint32_t version;
    uint32_t key_id; /* of the digests */
    uint32_t serial; /* the last 16 bits of the next id */
    uint32_t shown;  /* slots with two messages or more */
    uint32_t hand;   /* where the next slot is looked for */
    uint32_t weak;   /* where the next weak campaign is looked for */
    uint32_t swept_slot;
    uint32_t swept_bucket;
    char spare[4096 - 40];
    struct campaign_slot slot[CAMPAIGN_SLOTS];
    struct campaign_key key[CAMPAIGN_BUCKETS][CAMPAIGN_BUCKET_KEYS];
    struct picture picture[CAMPAIGN_SLOTS]; /* of the slot; changes with it */
};
_Static_assert(sizeof(struct campaign_slot) == 256 &&
                   sizeof(struct campaign_key) == 16 && sizeof(struct picture) == 16 &&
                   sizeof(struct campaign_page) <= 8 << 20,
               "the layout of the file");

#define CAMPAIGN_FILE "table"
#define CAMPAIGN_LOCK "LOCK"

/* ---- slots.c ---- */

/* A change of a slot is between the two. */
void slot_begin(struct campaign_slot *s);
void slot_end(struct campaign_slot *s);

bool slot_is_alive(const struct campaign_slot *s, uint64_t now_s);
/* An empty slot for a new campaign; another campaign of one message may end for it. */
struct campaign_slot *slot_take(struct campaign_page *p, uint64_t now_s);
/* The campaign becomes one that is shown; a small or old one may end for it. */
void slot_show(struct campaign_page *p, const struct campaign_slot *s, uint64_t now_s);
void slot_free(struct campaign_page *p, struct campaign_slot *s);
/* Ends the slots that are too old among the next n. */
void slots_sweep(struct campaign_page *p, unsigned n, uint64_t now_s);
/* Empties slots that make no sense, and counts those that are shown. */
void slots_mend(struct campaign_page *p);

/* ---- keys.c ---- */

void key_prefetch(const struct campaign_page *p, uint64_t digest);
/* The key's entry, if its campaign is alive; else NULL. */
struct campaign_key *key_find(struct campaign_page *p, uint64_t digest, uint64_t now_s);
/* Adds a key to the campaign of s. It takes a free place, else that of a dead key or of a key of a
 * campaign of one message; otherwise it is not added. */
void key_add(struct campaign_page *p, struct campaign_slot *s, uint64_t digest,
             uint8_t type, uint64_t now_s);
/* Whether k is the entry of this key, and its campaign is alive. */
bool key_is(struct campaign_page *p, const struct campaign_key *k, uint64_t digest,
            uint64_t now_s);
void key_touch(struct campaign_key *k, uint64_t now_s);
/* Removes the dead keys of the next n buckets. */
void keys_sweep(struct campaign_page *p, unsigned n, uint64_t now_s);

#endif
