/*
 * ring_key - notices that the ring has another digest key than the one gillnetd writes with.
 *
 * Only a start takes a key up: fingerprints and counts of one process must have one. Until then the
 * log, the statistics page and each reload say that a restart is needed.
 * Threads: the watcher's, and the main thread before watch_start.
 */
#ifndef MILTER_RING_KEY_H
#define MILTER_RING_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* The key for writing until the process ends. state_dir NULL: nothing is looked at. */
void ring_key_set(const char *state_dir, uint32_t id);
/* Reads keys/digest.key if it changed. An unreadable file changes nothing: doctor and the next
 * start report it. */
void ring_key_look(void);
/* Whether the ring had another key at the last look. */
bool ring_key_differs(void);

#endif
