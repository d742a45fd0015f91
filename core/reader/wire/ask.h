/*
 * ask - how extraction asks for a file to be read, without knowing by whom.
 */
#ifndef CORE_READER_WIRE_ASK_H
#define CORE_READER_WIRE_ASK_H

#include "core/reader/wire/found.h"

enum reader_outcome {
    READER_READ,   /* all records came, the end too */
    READER_ABSENT, /* there is no reader here */
    READER_AWAY,   /* nobody answers, or did not answer a moment ago */
    READER_SLOW,   /* the time was over before the end */
    READER_DIED,   /* the process ended before the end */
    READER_WRONG,  /* what came is no record */
    READER_OUTCOMES
};

/* False: no more records, please. Slices live during the call. */
typedef bool record_fn(void *context, const struct record *record);

/* Hands over the file and gives its records to on_record as they come, for at most within_us. */
struct reader_ask {
    enum reader_outcome (*ask)(void *context, const struct reader_job *job,
                               uint64_t within_us, record_fn *on_record,
                               void *record_context);
    void *context;
};

#endif
