#include "core/message/trait/trait.h"

static uint64_t bit_of(enum trait trait)
{
    return UINT64_C(1) << ((unsigned)trait % 64);
}

bool traits_has(const struct traits *t, enum trait trait)
{
    return (t->bits[(unsigned)trait / 64] & bit_of(trait)) != 0;
}

void traits_add(struct traits *t, enum trait trait)
{
    t->bits[(unsigned)trait / 64] |= bit_of(trait);
}

void traits_note(struct traits *t, enum trait trait, bool is_so)
{
    if (is_so) {
        traits_add(t, trait);
    }
}
