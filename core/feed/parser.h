/*
 * parser - what the readers of the feed formats share; private to this room.
 *
 * feed.c hands each line to the reader of the format; the reader calls feed_emit, feed_ignored
 * or feed_bad. Threads: one at a time.
 */
#ifndef CORE_FEED_PARSER_H
#define CORE_FEED_PARSER_H

#include "core/feed/feed.h"

/* Lines that form one record: a CSV record with line ends in quotes, a zone record in
 * parentheses. The same bound as a line. */
struct feed_record {
    char *p; /* FEED_LINE_MAX bytes */
    size_t n;
    uint64_t lines; /* 0: no record is open */
    uint64_t first; /* number of its first line */
};

enum csv_state { CSV_FIELD, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE };

struct feed_csv {
    enum csv_state state; /* at the end of the open record */
    bool is_ready;        /* column and separator are known */
    bool may_be_header; /* the next record may be a header that names no known column */
    char separator;
    size_t column;
    uint16_t hint;
};

enum { RPZ_NAME_MAX = 255 };

struct rpz_name {
    size_t n;
    char p[RPZ_NAME_MAX + 1];
};

struct feed_rpz {
    bool has_origin;
    bool has_apex;
    bool has_soa;
    struct rpz_name origin; /* of relative names; without final dot */
    struct rpz_name apex;   /* name of the zone itself */
    struct rpz_name owner;  /* the last one: full name */
    bool owner_is_known;    /* it lies below the apex */
};

struct feed {
    const char *name;
    struct feed_options options;
    const struct feed_sink *sink;
    struct feed_counts counts;
    struct arena *arena; /* of one entry */
    struct feed_record record;
    struct feed_csv csv;
    struct feed_rpz rpz;
    struct errinfo *reterr;
    enum err failed; /* stops the feed; reterr is filled */
};

/* Times of an entry, in seconds since 1970; 0: not known. */
struct feed_times {
    uint32_t first_seen_s;
    uint32_t expiry_s;
};

/* Reads text as an entry and hands it on; a bad one is a bad line. */
void feed_emit(struct feed *f, struct slice text, uint16_t hint);
void feed_emit_timed(struct feed *f, struct slice text, uint16_t hint,
                     const struct feed_times *times);
void feed_ignored(struct feed *f);
void feed_unused(struct feed *f, enum feed_unused why);
void feed_bad(struct feed *f, const char *reason, struct slice text);
/* Adds a line to the open record; false: over the bound, the record was closed as bad. */
bool feed_record_add(struct feed *f, struct slice line, const char *reason);
/* Forgets the open record after it was read; its lines but one count as ignored. */
void feed_record_end(struct feed *f);

/* One line each; at the end of the file CSV and RPZ are told to close an open record. */
void feed_line_plain(struct feed *f, struct slice line);
void feed_line_hosts(struct feed *f, struct slice line);
void feed_line_dnsmasq(struct feed *f, struct slice line);
void feed_line_unbound(struct feed *f, struct slice line);
void feed_line_adblock(struct feed *f, struct slice line);
void feed_line_csv(struct feed *f, struct slice line);
void feed_line_rpz(struct feed *f, struct slice line);

/* ---- words ---- */

/* Cuts the first run of bytes that are not white space from *s; empty at the end. */
struct slice feed_word(struct slice *s);
/* Text up to a '#' that stands at the beginning or after white space, trimmed. */
struct slice feed_without_comment(struct slice line);
/* A single word that has the form of an entry: URL, name with a dot, IP, CIDR, address,
 * checksum, TYPE:VALUE. Cheap; for guesses only. */
bool feed_looks_like_entry(struct slice word);
/* Only bytes of names, with a dot inside. */
bool feed_looks_like_name(struct slice word);
/* An address that block lists point names at: 0.0.0.0/8, 127.0.0.0/8, ::, ::1. */
bool feed_is_sink(struct slice word);
/* A column name that says what it holds; rank 1 is the best, 0: unknown. */
unsigned feed_column_rank(struct slice name, uint16_t *rethint);
/* The separator of a CSV line: the most frequent of , ; TAB outside quotes; 0: none. */
char feed_csv_separator(struct slice line);
/* Cuts the first field of a record with its quotes; false when the record is used up. */
bool feed_csv_field(struct slice *rest, char separator, struct slice *ret);
/* A comment that may be a header: several single words. */
bool feed_csv_is_word_row(struct slice text, char separator);
/* Why a file with this beginning is no list at all, or NULL. */
const char *feed_refusal(struct slice beginning);

#endif
