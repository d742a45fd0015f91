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

void check_all(const struct facts *facts, void (*give)(void *context, enum trait trait),
               void *context)
{
    for (size_t i = 0; i < LENGTH(checks); i++) {
        if (checks[i].has(facts)) {
            give(context, checks[i].trait);
        }
    }
}
