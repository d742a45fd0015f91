/*
 * check - traits that a whole message decides.
 *
 * To add one: the function check_NAME in a file check_*.c (a new one, or that of its theme), the
 * row CHECK(NAME, help) in core/message/feature/trait.def, and a test. A value that is no feature
 * yet needs a row in feature.def first. Score it by a rule with trait = "NAME". A check sees the
 * features and the facts (facts.h); each address and name is a feature of its own, and a check does
 * not see which stood beside which. A trait of one value is decided where it is read
 * (core/message/trait/trait.h).
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_EXTRACT_CHECK_H
#define CORE_MESSAGE_EXTRACT_CHECK_H

#include "core/message/extract/facts.h"

/* True: the message has the trait. */
typedef bool check_fn(const struct facts *facts);

#define TRAIT(name, help)
#define CHECK(name, help) check_fn check_##name;
#include "core/message/feature/trait.def"
#undef TRAIT

/* Calls give with each trait that a check finds. */
void check_all(const struct facts *facts, void (*give)(void *context, enum trait trait),
               void *context);

#endif
