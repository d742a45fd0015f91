/*
 * check - traits that the features of a whole message decide.
 *
 * To add one: the file check_NAME.c with the function, the row CHECK(NAME, help) in
 * core/message/feature/trait.def, and a test. A value that is no feature yet needs a row in
 * feature.def first. Score it by a rule with trait = "NAME". Each address and name is a feature of
 * its own; a check does not see which stood beside which. There is room for 64 traits (struct
 * extract).
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_EXTRACT_CHECK_H
#define CORE_MESSAGE_EXTRACT_CHECK_H

#include "core/message/feature/feature.h"

/* True: the message has the trait. set: all its features. */
typedef bool check_fn(const struct featureset *set);

#define TRAIT(name, help)
#define CHECK(name, help) check_fn check_##name;
#include "core/message/feature/trait.def"
#undef TRAIT

/* Calls give with each trait that a check finds. */
void check_all(const struct featureset *set,
               void (*give)(void *context, enum trait trait), void *context);

#endif
