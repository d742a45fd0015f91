/*
 * scan_request - the request lines over gillnetd's control socket that a message may follow.
 *
 * scan BYTES [client=ADDRESS] [helo=NAME] [from=ADDRESS] [rcpt=ADDRESS]... [auth=1] [count=1]
 * report BYTES say=spam|ham [reporter=NAME] [way=WAY] [id=ID]... [values=1] [seal=HEX]
 * report 0 say=spam|ham campaign=ID [reporter=NAME] [way=WAY] [seal=HEX]
 * report 0 say=undo id=ID [reporter=NAME] [seal=HEX]
 * report BYTES say=changed id=ID [reporter=NAME] [seal=HEX]
 *
 * BYTES of a message follow the line. In values every byte is percent-encoded, except printable
 * ASCII without space and percent sign. auth: the client was logged in. count: the message is
 * counted like mail. values: not a message follows, but values, one a line. changed: JSON follows,
 * the entries of lists that the client took back for this report. seal: core/report/report_seal.h.
 * Depends: -   Threads: pure.   Allocates: nothing but in the buf.
 */
#ifndef CORE_TELEMETRY_SCAN_REQUEST_H
#define CORE_TELEMETRY_SCAN_REQUEST_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    SCAN_REQUEST_MAX = 32000,                  /* bytes of the line, without its end */
    SCAN_REQUEST_BYTES_MAX = 64 * 1024 * 1024, /* of the message */
    SCAN_REQUEST_VALUE_MAX = 1024,             /* bytes of a value, decoded */
    SCAN_REQUEST_RCPTS = 256,
    SCAN_REQUEST_IDS = 16
};

/* Empty values were not given. */
struct scan_request {
    uint64_t bytes;
    struct slice client; /* IP address as text */
    struct slice helo;
    struct slice from;
    struct slice rcpt[SCAN_REQUEST_RCPTS];
    size_t nrcpt;
    bool is_authenticated;
    bool is_counting;
    /* of a report */
    struct slice say; /* "spam", "ham", "undo", "changed"; empty: a scan */
    struct slice reporter;
    struct slice way;
    struct slice id[SCAN_REQUEST_IDS];
    size_t nids;
    struct slice campaign; /* the report is about all of it */
    bool is_values;
    struct slice seal;
};

/* Appends the line with its end. */
void scan_request_print(const struct scan_request *s, struct buf *ret);
/* Reads the rest of the line after "scan " or "report ". Values point into room. */
enum err scan_request_parse(struct slice rest, char room[SCAN_REQUEST_MAX],
                            struct scan_request *ret, struct errinfo *reterr);

#endif
