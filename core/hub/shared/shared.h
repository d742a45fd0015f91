/*
 * shared - the store that the servers of one owner share, as the hub uses it.
 *
 * The servers of a ring of kind own keep counts, lists and filter lines in one Redis or Valkey
 * instead of sending them to each other. Only the hub speaks to the store; gillnetd reads files.
 * Nothing in the store is trusted more than an honest server of the ring would be.
 * Depends: base, config, redis, exchange.   Threads: that of the event loop.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_H
#define CORE_HUB_SHARED_SHARED_H

#include <jansson.h>

#include "core/config/config.h"
#include "core/hub/exchange/exchange.h"
#include "core/hub/exchange/node.h"
#include "core/hub/redis/redis.h"
#include "core/hub/shared/shared_status.h"

enum {
    SHARED_CELLS = 128,   /* a power of two; see shared_cell_of */
    SHARED_NAME_MAX = 160 /* bytes of a key's name, with NUL */
};

struct shared;
/* Connects at the first use. All arguments are borrowed; the node may be closed. ERR_DENIED and
 * others: a password or certificate file cannot be read. */
enum err shared_new(struct event_base *base, const struct config *config,
                    struct node *node, const struct exchange *exchange,
                    struct shared **ret, struct errinfo *reterr);
void shared_free(struct shared **s); /* accepts NULL */
/* Takes another configuration; settings that need a restart stay as they were. Accepts NULL. */
void shared_renew(struct shared *s, const struct config *config);
/* Call it each second while the ring is open. Accepts NULL. */
void shared_tick(struct shared *s);
/* Call it before the ring's files are closed. The node is not used until the next tick. */
void shared_pause(struct shared *s);

struct shared_counts;
/* NULL: the ring is closed. */
const struct shared_counts *shared_counts_of(const struct shared *s);
/* The store as a source of this server's own objects: see exchange_may_publish. */
struct exchange_sources shared_source(const struct shared *s);

/* The cell of a counted key: its first bits. All keys of one cell lie in one slot. */
unsigned shared_cell_of(uint64_t key);
/* "PREFIX{TAG}REST" */
struct shared_name {
    char text[SHARED_NAME_MAX];
};
struct shared_name shared_name(const struct shared *s, const char *tag,
                               const char *rest);
/* Begins to compare the store with this server's counts (shared_verify.h), after sending missing
 * counts again if is_repair. Sets *retjob to the job's number. ERR_LOCKED: a comparison is under
 * way. ERR_NOT_FOUND: no ring. */
enum err shared_check(struct shared *s, bool is_repair, uint64_t *retjob);
/* Returns the report of a job. ERR_LOCKED: it is under way. ERR_NOT_FOUND: unknown job. */
enum err shared_checked(const struct shared *s, uint64_t job, json_t **ret);
/* For `gillnet doctor`: asks all servers of the store again. Accepts NULL. */
void shared_look(struct shared *s);
struct redis *shared_redis(struct shared *s);
struct node *shared_node(struct shared *s);
const struct config *shared_config(const struct shared *s);

#endif
