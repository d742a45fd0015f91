/*
 * feed - lists in the formats of the world -> entries, line by line or record by record.
 *
 * The formats are one table, format.def; the format is given, or found from the first lines. A
 * provider's text and JSON form have one name. Bad lines and records are counted and reported with
 * their number, never fatal; so are lines longer than FEED_LINE_MAX and JSON records longer than
 * FEED_RECORD_MAX. JSON that is not closed at the end is an error, because the rest is missing.
 * Linear, streaming, constant memory.
 * Classes: hosts -> host (exact); dnsmasq address/server/local, unbound local-zone,
 * adblock ||host^, RPZ *.name, rbldnsd .name -> domain; unbound local-data, RPZ and rbldnsd
 * name -> host; rpz-ip, CIDR and ranges -> network; URLs and adblock ||host/path -> url;
 * SHA-256 -> attachment; hashes of Safe Browsing -> url_hash; nothing widens a URL to its host.
 *
 * Files in reading order:
 *   format.def, feed, lines, unpack    the formats; a body decompressed and cut into lines
 *   sniff, simple, csv, rpz, stix ...  one format each; parser_internal.h is what they share
 *   exclude*                           names that are never listed, whatever a feed says
 *   feed_set, feed_diff                one version of a feed, and its difference from the list
 *   update*                            a body checked, compared, applied, kept and rolled back
 *   local, show                        feeds in local files; the state of a feed as JSON
 *
 * To add a format: write NAME.c with a reader of lines or records that calls feed_emit (see
 * phishtank.c), declare it in parser_internal.h, add its row to format.def, and describe it in
 * gillnet-feeds(7). sniff.c recognises general formats by their first lines, sniff_native.c those
 * of providers by the names of their fields; test_native.c has an example of each.
 * Depends: base, url, feature.   Threads: one at a time.   ADR 0041.
 */
#ifndef CORE_FEED_FEED_H
#define CORE_FEED_FEED_H

#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/message/feature/list_keys.h"

enum { FEED_LINE_MAX = 16384, FEED_RECORD_MAX = 1024 * 1024, FEED_SNIFF_BYTES = 65536 };

enum feed_format {
    FEED_AUTO,
#define FORMAT(id, name, line, column, fields, place) FEED_##id,
#include "core/feed/format.def"
#undef FORMAT
    FEED_FORMAT_COUNT
};
const char *feed_format_name(enum feed_format f);
/* "plain, hosts, ..., or auto": for messages. */
const char *feed_format_names(void);
/* FEED_FORMAT_COUNT when the name is unknown. */
enum feed_format feed_format_by_name(struct slice name);
bool feed_format_is_known(struct slice name);
/* The most likely format of a file from its beginning; FEED_AUTO when none fits (binary, HTML). */
enum feed_format feed_sniff(struct slice beginning);

/* Why something that was read well makes no entry. */
enum feed_unused {
#define UNUSED(name, text) FEED_UNUSED_##name,
#include "core/feed/ignored.def"
#undef UNUSED
    FEED_UNUSED_COUNT
};
const char *feed_unused_name(enum feed_unused u); /* "expired" */
const char *feed_unused_text(
    enum feed_unused u); /* behind a number: "had ended before" */

struct feed_options {
    enum feed_format format; /* FEED_AUTO: sniffed */
    uint16_t entry_type;     /* forces a feature type for plain and csv; 0: by look */
    uint32_t now_s;          /* what ended before it is no entry; 0: all are */
    struct slice
        csv_column; /* header name, or a number from 1; empty: the only column that
                                  looks like entries (url, domain, ...) */
};

struct feed_counts {
    enum feed_format format; /* the one used */
    uint64_t lines;          /* of JSON: records */
    uint64_t entries;
    uint64_t
        ignored; /* comments, blank lines, rules that list nothing (adblock @@, ...) */
    uint64_t bad;
    uint64_t unused[FEED_UNUSED_COUNT]; /* of the ignored, those with a reason */
    uint32_t made_s; /* when the feed says it was made; 0: it does not */
};

/* An entry, and its times in the feed; 0: not given. */
struct feed_item {
    struct feature_entry entry;
    uint64_t line; /* or the number of its record */
    uint32_t first_seen_s;
    uint32_t expiry_s;
};

/* An entry; text is valid during the call. An error stops the feed. */
typedef enum err feed_entry_fn(void *context, const struct feed_item *item);
/* A bad line or JSON record: number, reason, and the line itself (untrusted, cut). */
typedef void feed_bad_fn(void *context, uint64_t line, const char *reason,
                         struct slice text);

struct feed_sink {
    feed_entry_fn *on_entry;
    feed_bad_fn *on_bad; /* may be NULL */
    /* bytes read until now, called now and then; may be NULL */
    void (*on_progress)(void *context, uint64_t bytes);
    void *context;
};

/* Reads all of fd (a file or a pipe). name is for messages. */
enum err feed_read(int fd, const char *name, const struct feed_options *options,
                   const struct feed_sink *sink, struct feed_counts *ret,
                   struct errinfo *reterr);

#endif
