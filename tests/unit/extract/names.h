/*
 * names - the names of features as the rows of these tests have them: "url" is a URL as it was written (url_exact), which tells
 * what was read; "url_normal" is the key that it is listed under (core/message/url/url_normal.h).
 */
#ifndef TESTS_UNIT_EXTRACT_NAMES_H
#define TESTS_UNIT_EXTRACT_NAMES_H

#include "core/message/feature/feature.h"

static inline const char *name_in_rows(uint16_t type)
{
    return type == FEATURE_url         ? "url_normal"
           : type == FEATURE_url_exact ? "url"
                                       : feature_type_name(type);
}

#endif
