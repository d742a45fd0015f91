/*
 * status_board - the status of all parts of the hub: named sections of JSON text.
 *
 * Each part puts its own section after a change, or about once a second. API, metrics and page read
 * them. No caller waits for another: a put swaps the text of the section.
 * Files in reading order: status_board; status_headline; list_watcher, the hub's snapshot of the
 * lists.
 * To add a section: a name in the enum, its empty text in empty_text (status_board.c), a put by its
 * part, and a route in core/hub/api/api_route.def if clients read it.
 * Depends: base, jansson.   Threads: any.   Owns: the texts.
 */
#ifndef CORE_HUB_STATUS_STATUS_BOARD_H
#define CORE_HUB_STATUS_STATUS_BOARD_H

#include <jansson.h>

#include "core/base/buf.h"

enum status_board_section {
    STATUS_BOARD_HUB,           /* object of numbers: the hub's own */
    STATUS_BOARD_NOW,           /* object: the headline (core/summary/summary_json.h) */
    STATUS_BOARD_RING,          /* object, or null without a ring */
    STATUS_BOARD_STORE,         /* object, or null without a store: shared_json.h */
    STATUS_BOARD_PEERS,         /* array: rows of `gillnet peer status` */
    STATUS_BOARD_SUBSCRIPTIONS, /* array */
    STATUS_BOARD_FEEDS,         /* array */
    STATUS_BOARD_ALERTS,        /* array */
    STATUS_BOARD_TASKS,         /* array: long work under way */
    STATUS_BOARD_SECTIONS
};

struct status_board;
/* Every section is empty: an array, or null for _RING and _STORE, {} for _HUB and _NOW. NULL:
 * no memory. */
struct status_board *status_board_new(void);
void status_board_free(struct status_board **b);

/* Replaces the section. Takes the value (json_decref). NULL changes nothing. */
void status_board_put(struct status_board *b, enum status_board_section s,
                      json_t *value);
/* Appends the section's text as it is now. */
void status_board_add(struct status_board *b, enum status_board_section s,
                      struct buf *ret);
/* The section parsed; the caller's. NULL: no memory. */
json_t *status_board_get(struct status_board *b, enum status_board_section s);
/* Rises with every put of the section. */
uint64_t status_board_version(struct status_board *b, enum status_board_section s);

/* Long work that people wait for: shown as BOARD_TASKS until it ends. */
struct board_task;
/* what: such as "import". name: of the list or feed. Returns NULL if there is no room; all calls
 * accept NULL. */
struct board_task *status_board_task_begin(struct status_board *b, const char *what,
                                           const char *name);
/* share: 0..1, or below 0: unknown. Cheap: shown at most four times a second. */
void status_board_task_show(struct board_task *t, const char *stage, double share);
void status_board_task_end(struct board_task **t);

#endif
