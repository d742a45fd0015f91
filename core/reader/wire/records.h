/*
 * records - finds in a file, on their way from gillnet-reader to gillnetd.
 *
 * Layout of a record, little-endian: u8 kind, u8 detail, u16 bytes of the place, u32 bytes of the
 * value, the place, the value. RECORD_END is the last one. The records are read like hostile
 * input: a kind, a detail or a length out of bounds ends the reading.
 * Threads: pure.   Allocates: nothing.   Depends: base.
 */
#ifndef CORE_READER_WIRE_RECORDS_H
#define CORE_READER_WIRE_RECORDS_H

#include "core/base/buf.h"
#include "core/base/slice.h"

enum {
    RECORD_HEAD_BYTES = 8,
    RECORD_PLACE_MAX = 200,
    RECORD_VALUE_MAX = 64 * 1024, /* a longer text or file comes in several records */
    RECORD_LOOK_MAX = 64,
    RECORD_RATIO_FREE = 1 << 20 /* bytes of a stream to which no ratio applies */
};

enum record_kind {
    RECORD_END = 1,    /* no value */
    RECORD_TEXT,       /* detail: 1 when it is hidden */
    RECORD_LINK,       /* */
    RECORD_SCRIPT,     /* detail: enum record_language */
    RECORD_CODE,       /* detail: enum record_symbology */
    RECORD_LOOK,       /* a key of a picture */
    RECORD_FACT,       /* detail: enum record_fact; no value */
    RECORD_NAME,       /* of a contained file that has no bytes here */
    RECORD_FILE_BEGIN, /* value: name, NUL, media type */
    RECORD_FILE_DATA,  /* */
    RECORD_FILE_END,   /* detail: 1 when it is whole */
    RECORD_READY,      /* the first: a process has begun */
    RECORD_KINDS       /* no kind */
};

enum record_language {
    RECORD_JAVASCRIPT = 1,
    RECORD_VBA,
    RECORD_COMMAND, /* of a shell */
    RECORD_LANGUAGES
};

enum record_symbology {
    RECORD_QR = 1,
    RECORD_DATA_MATRIX,
    RECORD_AZTEC,
    RECORD_OTHER_CODE, /* bar codes, PDF417 */
    RECORD_SYMBOLOGIES
};
/* "QR code", "Data Matrix" ... */
const char *record_symbology_name(enum record_symbology symbology);

enum record_fact {
    RECORD_ENCRYPTED = 1, /* no password opened it, or a part of it */
    RECORD_OPENED,        /* a password of the message opened it */
    RECORD_DAMAGED,       /* it could not be read to its end */
    RECORD_UNKNOWN,       /* no reader knows this format */
    RECORD_MACRO,
    RECORD_RUNS,    /* it starts a program, or asks to */
    RECORD_FORM,    /* fields that are sent away */
    RECORD_ENTRIES, /* the limits of reader_limits */
    RECORD_BYTES,
    RECORD_RATIO,
    RECORD_PAGES,
    RECORD_PIXELS,
    RECORD_FACTS
};

struct record {
    enum record_kind kind;
    unsigned detail;
    struct slice place;
    struct slice value;
};

/* Appends a record. */
void record_add(struct buf *b, const struct record *r);

enum record_step { RECORD_OK, RECORD_MORE, RECORD_WRONG };
/* Takes the next record off *bytes, whose slices it has. RECORD_MORE: it is not whole yet. */
enum record_step record_next(struct slice *bytes, struct record *ret);

#endif
