/*
 * libmilter - its header, included so that bool stays C's: without stdbool.h before it, mfapi.h
 * defines bool as int.
 */
#ifndef MILTER_LIBMILTER_H
#define MILTER_LIBMILTER_H

/* clang-format off */
#include "core/base/std.h"
#include <libmilter/mfapi.h>
/* clang-format on */

#endif
