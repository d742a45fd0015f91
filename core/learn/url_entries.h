/*
 * url_entries - URLs that the model of URLs found malicious, each for a while: a feed as a file.
 *
 * The file is in the format plain of gillnet-feeds(7): "url:HOST/PATH # until 1800000000". gillnetd
 * writes no list: the hub fetches the file like any feed, checks it and keeps the list ml. An entry
 * that ends leaves the file, and with the next update the list. When the table is full, the entry
 * that ends first makes room.
 * Threads: one at a time.   Owns: its texts.   Depends: base.   ADR 0076.
 */
#ifndef CORE_LEARN_URL_ENTRIES_H
#define CORE_LEARN_URL_ENTRIES_H

#include "core/base/buf.h"

/* In the state folder. */
#define STATE_URLS_FILE "model/urls.txt"

enum {
    URL_ENTRIES_MAX = 2048,
    URL_ENTRY_BYTES = 512, /* of a URL; longer ones are not kept */
    URL_ENTRIES_FILE = URL_ENTRIES_MAX * (URL_ENTRY_BYTES + 64)
};

struct url_entries;
struct url_entries *url_entries_new(void); /* NULL: no memory */
void url_entries_free(struct url_entries **e);

/* False: a URL that was added before, is too long, or has bytes that no normal form has. */
bool url_entries_add(struct url_entries *e, struct slice url, uint64_t until_s);
/* Removes what ended; returns whether something did. */
bool url_entries_expire(struct url_entries *e, uint64_t now_s);
size_t url_entries_count(const struct url_entries *e);
/* The file; with a line of comment even without an entry. */
void url_entries_print(const struct url_entries *e, struct buf *ret);
/* Adds the entries of a file of any bytes; other lines are ignored. */
void url_entries_read(struct url_entries *e, struct slice file);

#endif
