/*
 * own_text - the texts of a user's own page, in five languages.
 *
 * To add a text: a row of own_text.def. To add a language: a column there, its name in own_text.c.
 * Threads: pure.
 */
#ifndef CORE_HUB_API_OWN_TEXT_H
#define CORE_HUB_API_OWN_TEXT_H

#include "core/base/slice.h"

enum own_text {
#define OWN_TEXT(name, en, de, fr, es, ja) OWN_##name,
#include "core/hub/api/own_text.def"
#undef OWN_TEXT
    OWN_TEXTS
};

/* The first language of an Accept-Language field that has a column; else English. */
size_t own_language(struct slice field);
const char *own_language_name(size_t language); /* "de" */
const char *own_text(enum own_text text, size_t language);

#endif
