/* check_from_several - addresses of several domains in From: mail programs show only one of
 * them. */
#include "core/message/extract/check.h"

bool check_from_several(const struct facts *facts)
{
    return facts_count(facts, FEATURE_from_domain) > 1;
}
