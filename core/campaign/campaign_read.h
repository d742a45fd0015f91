/*
 * campaign_read - the campaigns of a state folder, while gillnetd runs or not.
 *
 * Depends: base.   Threads: any.   Allocates: the list.   ADR 0073.
 */
#ifndef CORE_CAMPAIGN_CAMPAIGN_READ_H
#define CORE_CAMPAIGN_CAMPAIGN_READ_H

#include "core/base/err.h"
#include "core/base/slice.h"

/* Results of the messages of a campaign. */
enum campaign_done {
    CAMPAIGN_ACCEPTED, /* without a mark */
    CAMPAIGN_MARKED,
    CAMPAIGN_HELD,
    CAMPAIGN_REFUSED, /* deferred, rejected or discarded */
    CAMPAIGN_DONE_COUNT
};
const char *campaign_done_name(enum campaign_done d); /* "accepted", ... */

/* A key of a campaign. */
struct campaign_item {
    uint64_t digest;   /* the beginning of the one under which it is counted */
    uint16_t type;     /* enum feature_type */
    uint64_t messages; /* of the campaign that have it; 255: as many or more */
};

enum { CAMPAIGN_BARS = 14 };

enum { CAMPAIGN_ID_SIZE = 13 }; /* 12 hexadecimal digits and a NUL */

struct campaign {
    uint64_t id; /* later campaigns have higher ones */
    uint32_t slot;
    uint64_t first_s; /* Unix time */
    uint64_t last_s;
    uint64_t messages; /* 2 or more */
    uint64_t done[CAMPAIGN_DONE_COUNT];
    double score;         /* mean */
    uint64_t networks;    /* about: distinct.h has the error */
    uint64_t senders;     /* domains, about */
    struct slice subject; /* of the first message; empty: not kept */
    struct slice sender;  /* likewise */
    size_t nitems;
    const struct campaign_item *items;
    /* messages by time from the first one on: about, where they are many (picture.h) */
    uint64_t bar[CAMPAIGN_BARS];
    uint64_t bar_s; /* length of one */
};

struct campaign_list {
    size_t n;
    struct campaign *v; /* the latest message first */
    uint32_t key_id;    /* of the digests of the items */
    void *memory;       /* of all of them */
};
/* Without a file the list is empty. ERR_CORRUPT: the file is damaged, or of another version. */
enum err campaigns_read(const char *state_dir, struct campaign_list *ret,
                        struct errinfo *reterr);
void campaign_list_fini(struct campaign_list *list);

void campaign_id_print(uint64_t id, char ret[CAMPAIGN_ID_SIZE]);
bool campaign_id_read(struct slice text, uint64_t *ret);
/* The campaign with this id, or NULL. */
const struct campaign *campaign_find(const struct campaign_list *list, uint64_t id);

/* The campaign that these keys of one message belong to: as a message joins one, but with the keys
 * that a record of the journal has (record_item), which are fewer. NULL: none. */
const struct campaign *campaign_of_keys(const struct campaign_list *list,
                                        const struct campaign_item *keys, size_t n);

/* Erases samples that name the address (ASCII case ignored). *retn: how many. Works while gillnetd
 * runs. */
enum err campaigns_forget(const char *state_dir, struct slice address, uint64_t *retn,
                          struct errinfo *reterr);

#endif
