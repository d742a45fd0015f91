/*
 * status_board - what the parts of the hub show of themselves: named sections of JSON text.
 *
 * Each part puts its own section when it changed, or about once a second; API, metrics and page
 * read them. Nobody waits for another: a section is a reference-counted text that is swapped.
 * Depends: base, jansson.   Threads: any.   Owns: the texts.
 */
#ifndef CORE_HUB_STATUS_STATUS_BOARD_H
#define CORE_HUB_STATUS_STATUS_BOARD_H

#include <jansson.h>

#include "core/base/buf.h"

enum status_board_section {
    STATUS_BOARD_HUB,           /* object of numbers: the hub's own */
    STATUS_BOARD_RING,          /* object, or null without a ring */
    STATUS_BOARD_PEERS,         /* array: rows of `gillnet peer status` */
    STATUS_BOARD_SUBSCRIPTIONS, /* array */
    STATUS_BOARD_FEEDS,         /* array */
    STATUS_BOARD_ALERTS,        /* array */
    STATUS_BOARD_TASKS,         /* array: long work under way */
    STATUS_BOARD_SECTIONS
};

struct status_board;
/* Every section is empty: an array, or null for BOARD_RING, {} for BOARD_HUB. NULL: no memory. */
struct status_board *status_board_new(void);
void status_board_free(struct status_board **b);

/* Puts the value, which it takes (json_decref), in place of what was there; NULL is no change. */
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
/* what: "import", "rebuild", ...; name: of the list or feed. NULL when there is no room: all calls accept it. */
struct board_task *status_board_task_begin(struct status_board *b, const char *what,
                                           const char *name);
/* share: 0..1, or below 0: unknown. Cheap: shown at most four times a second. */
void status_board_task_show(struct board_task *t, const char *stage, double share);
void status_board_task_end(struct board_task **t);

#endif
