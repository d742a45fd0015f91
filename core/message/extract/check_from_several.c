/* check_from_several - addresses of several domains in From: mail programs show only one of
 * them. */
#include "core/message/extract/check.h"

bool check_from_several(const struct featureset *set)
{
    return featureset_count_type(set, FEATURE_from_domain) > 1;
}
