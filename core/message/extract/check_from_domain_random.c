/* check_from_domain_random - senders of domains that a program made up. */
#include "core/message/extract/check.h"
#include "core/message/trait/look.h"

bool check_from_domain_random(const struct facts *facts)
{
    const struct feature *from = facts_first(facts, FEATURE_from_domain);
    return from != NULL && look_is_random(look_owner_label(from->text));
}
