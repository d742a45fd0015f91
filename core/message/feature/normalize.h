/*
 * normalize - the normal forms of feature texts that no other room makes: subjects, file names,
 * checksums. Messages and list entries go through the same functions, or they never meet.
 * Threads: pure.   Allocates: from the arena.   Depends: base.
 */
#ifndef CORE_MESSAGE_FEATURE_NORMALIZE_H
#define CORE_MESSAGE_FEATURE_NORMALIZE_H

#include "core/base/arena.h"
#include "core/base/slice.h"

/* Runs of white space (and control bytes) become one space, none at the ends. text is UTF-8.
 * {NULL, 0} when the arena is full. */
struct slice feature_normal_subject(struct arena *arena, struct slice text);

/* The last component of a path with / or \, ASCII letters in lower case, white space as above. */
struct slice feature_normal_file_name(struct arena *arena, struct slice text);

/* The text in the last <> of a List-Id, or all of it, without white space, ASCII letters in
 * lower case. {NULL, 0} when nothing is left, or the arena is full. */
struct slice feature_normal_list_id(struct arena *arena, struct slice text);

/* Lower case, without parameters: "application/pdf"; empty without a slash. */
struct slice feature_normal_media_type(struct arena *arena, struct slice text);

/* 64 hexadecimal digits in lower case; empty when text is anything else. */
struct slice feature_normal_sha256(struct arena *arena, struct slice text);

#endif
