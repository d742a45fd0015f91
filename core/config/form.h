/*
 * form - a value that was written in a wrong way, as libconfig text that the key takes.
 *
 * "yes" for a key that is true or false becomes true, 5% for a share 0.05, 10.0.0.0/8 for networks
 * [ "10.0.0.0/8" ].
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_CONFIG_FORM_H
#define CORE_CONFIG_FORM_H

#include "core/base/slice.h"
#include "core/config/schema.h"

enum { FORM_MAX = 200 };

/* text: the value without quotes. row: NULL for a key that is not known, which gets a text in
 * quotes. False: no right form can be told. */
bool form_value(const struct schema_row *row, struct slice text, char dst[FORM_MAX]);

#endif
