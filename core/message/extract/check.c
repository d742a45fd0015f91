/* check - the table of checks. */
#include "core/message/extract/check.h"

static const struct {
    check_fn *has;
    enum trait trait;
} checks[] = {
#define TRAIT(name, help)
#define CHECK(name, help) {check_##name, TRAIT_##name},
#include "core/message/feature/trait.def"
#undef TRAIT
};

void check_all(const struct featureset *set,
               void (*give)(void *context, enum trait trait), void *context)
{
    for (size_t i = 0; i < LENGTH(checks); i++) {
        if (checks[i].has(set)) {
            give(context, checks[i].trait);
        }
    }
}
