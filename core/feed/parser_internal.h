/*
 * parser_internal - declarations that the readers of the feed formats share; private to this room.
 *
 * feed.c hands each line, and json_records.c each JSON record, to the reader of the format; the
 * reader calls feed_emit, feed_ignored, feed_unused or feed_bad. Threads: one at a time.
 */
#ifndef CORE_FEED_PARSER_INTERNAL_H
#define CORE_FEED_PARSER_INTERNAL_H

#include <jansson.h>

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

/* A record by the names of its fields: of a table, or of JSON. */
enum { FEED_FIELDS_MAX = 48, FEED_HEADER_MAX = 4096, FEED_NUMBERS_MAX = 4 };
struct feed_fields {
    json_t *object; /* NULL: of a table */
    size_t n;
    struct slice name[FEED_FIELDS_MAX];
    struct slice value[FEED_FIELDS_MAX];
    char header[FEED_HEADER_MAX]; /* where the names lie */
    char number[FEED_NUMBERS_MAX][24];
    unsigned numbers; /* used, in turn */
};

/* Where the scanner of JSON stands: the open containers from the outermost on. */
enum { FEED_JSON_DEPTH = 64, FEED_JSON_KEY = 32 };
struct feed_json_level {
    char open; /* '{' or '[' */
    bool wants_key;
    size_t nkey;
    char key[FEED_JSON_KEY]; /* of the value at hand; cut */
};
struct feed_json_path {
    unsigned depth;
    struct feed_json_level level[FEED_JSON_DEPTH];
};

struct feed;
typedef void feed_line_fn(struct feed *f, struct slice line);
typedef void feed_fields_fn(struct feed *f, struct feed_fields *r);
/* Whether an object that begins here is a record. */
typedef bool feed_place_fn(const struct feed_json_path *path);

struct feed_row {
    const char *name;
    feed_line_fn *line;
    const char *column;
    feed_fields_fn *fields;
    feed_place_fn *place;
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

struct feed_rbldnsd {
    bool is_other; /* the current dataset has a type that is not read */
    bool is_error; /* its entries stand for an error of the server */
};

struct feed {
    const char *name;
    const struct feed_row *row;
    struct feed_options options;
    const struct feed_sink *sink;
    struct feed_counts counts;
    struct arena *arena; /* of one entry */
    struct feed_record record;
    struct feed_csv csv;
    struct feed_rpz rpz;
    struct feed_rbldnsd rbldnsd;
    struct feed_fields fields;
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

/* Read one line each; feed.c ends records that are open at the end of the file. */
feed_line_fn feed_line_plain, feed_line_hosts, feed_line_dnsmasq, feed_line_unbound,
    feed_line_adblock, feed_line_csv, feed_line_rpz, feed_line_rbldnsd,
    feed_line_openphish, feed_line_malwarebazaar, feed_line_drop,
    feed_line_safebrowsing, feed_line_misp;
/* One record each. */
feed_fields_fn feed_fields_phishtank, feed_fields_urlhaus, feed_fields_threatfox,
    feed_fields_malwarebazaar, feed_fields_drop, feed_fields_safebrowsing,
    feed_fields_misp, feed_fields_stix;
/* Objects in the array that is the whole, or lies in the object that is the whole. */
feed_place_fn feed_place_rows;
/* Objects one after the other. */
feed_place_fn feed_place_lines;
feed_place_fn feed_place_safebrowsing, feed_place_misp, feed_place_stix;

/* ---- JSON and fields ---- */

struct feed_lines;
/* Reads all as JSON, record by record. */
enum err feed_read_json(struct feed *f, struct feed_lines *l);
enum err feed_read_failed(const struct feed *f, const struct feed_lines *l);
/* Whether the container i is the value of this key. */
bool feed_path_is(const struct feed_json_path *path, unsigned i, const char *key);
/* The text of a field, trimmed; a number and a truth value as text; empty: it has none. */
struct slice feed_field(struct feed_fields *r, const char *name);
/* The time that a text begins with: RFC 3339 (also with a space), a date, seconds since 1970, "02
 * Jan 2026 03:04:05". 0: none, or none of 1971 to 2105. */
uint32_t feed_time(struct slice text);
/* The time of a comment that tells when the list was made. */
void feed_note_made(struct feed *f, struct slice comment);

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
/* Digits of a hexadecimal number only. */
bool feed_is_hex(struct slice s);
/* In any case of letters. */
bool feed_is_word_of(struct slice word, const char *const *words, size_t n);
/* The first byte of a JSON array or object, and a byte that may follow it. */
bool feed_looks_like_json(struct slice beginning);
/* The native form of a provider that a table with these column names is of; FEED_CSV: none. */
enum feed_format feed_sniff_columns(struct slice header, char separator);
enum feed_format feed_sniff_json(struct slice beginning);
/* Why a file with this beginning is no list at all, or NULL. */
const char *feed_refusal(struct slice beginning);

#endif
