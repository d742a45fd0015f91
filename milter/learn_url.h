/*
 * learn_url - URLs that the model finds malicious, as a feed for the list ml.
 *
 * A message leaves its URLs in a table, and the thread of learn.c writes the file
 * (core/learn/url_entries.h) within a second, so mail never waits for a disk. A restart reads the
 * file again.
 * Threads: learn_url_note from any, the others from one.   Owns: the table.   ADR 0076.
 */
#ifndef MILTER_LEARN_URL_H
#define MILTER_LEARN_URL_H

#include "core/learn/url_entries.h"
#include "core/verdict/verdict.h"

/* Reads the file in the state folder, and writes it again without what ended. */
void learn_url_open(const char *state_dir);
void learn_url_close(void);
/* Enters the malicious URLs of a verdict on mail from outside. */
void learn_url_note(const struct config *config, const struct verdict *v);
/* Once a second: removes what ended, and writes what changed. */
void learn_url_tick(void);

#endif
