/*
 * limits - limits that no message of the tests reaches unless the test wants it to.
 */
#ifndef TESTS_UNIT_EXTRACT_LIMITS_H
#define TESTS_UNIT_EXTRACT_LIMITS_H

#include "core/message/extract/extract.h"

static const struct extract_limits limits_default = {
    .mail = {.message_bytes = 16 << 20,
             .decoded_bytes = 32 << 20,
             .headers = 1000,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 500,
             .depth = 32},
    .urls = 500,
    .recipients = 100,
};

#endif
