/*
 * config_value - one configuration value: from a setting into a struct, from a struct into text.
 *
 * Threads: one configuration, one thread while it is built.   Owns: nothing; the struct does.
 */
#ifndef CORE_CONFIG_CONFIG_VALUE_H
#define CORE_CONFIG_CONFIG_VALUE_H

#include <libconfig.h>

#include "core/base/buf.h"
#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/config/unit.h"

enum {
    VALUE_TEXT_MAX = 1024,       /* bytes of a text that is not a path */
    VALUE_PATH_MAX = 3584,       /* leaves room for names below state_dir */
    VALUE_SOCKET_PATH_MAX = 107, /* sun_path without its NUL */
    VALUE_REPLY_MAX = 400,
    VALUE_ELEMENTS_MAX = 10000 /* of one array */
};

/* The target of a value and of its errors. */
struct value_place {
    const struct schema_row *row;
    void *base;        /* struct config or struct config_list */
    const char *label; /* "limits.parts", for texts */
    const char *file;
    struct config_errors *errors;
    unsigned file_index; /* of the file, in origin->files */
};

/* Checks the setting and stores it, the old value freed. On failure errors has it and the old
 * value stays. */
bool value_set(const struct value_place *place, const config_setting_t *setting);
/* Adds the error in the setting, with its right form if that is known. Returns false. */
bool value_refuse(const struct value_place *place, const config_setting_t *setting,
                  enum err code, const char *what);
/* A text setting, or NULL after an error that says what to write. */
const char *value_string(const struct value_place *place,
                         const config_setting_t *setting, const char *example);
/* Frees what the value owns and leaves it empty. */
void value_free(const struct schema_row *row, void *base);
/* Copies into an empty value; false without memory. */
bool value_copy(const struct schema_row *row, void *to, const void *from);

/* Appends the value as text that reads back the same; except for CONDITIONS it is JSON, too. */
void value_text(const struct schema_row *row, const void *base, struct buf *ret);
/* A least or most of the row as it would be written. */
void value_bound_text(const struct schema_row *row, double bound,
                      char dst[UNIT_TEXT_MAX]);
/* Appends s as a quoted JSON string; bytes that are not UTF-8 become U+FFFD. */
void value_add_quoted(struct buf *b, struct slice s);

/* ---- kinds whose values are one of a few words: keywords.c ---- */

bool keywords_has(enum schema_kind kind);
/* value_set for those kinds. */
bool keywords_set(const struct value_place *place, const config_setting_t *setting);
/* The word of the value. */
const char *keywords_text(const struct schema_row *row, const void *base);

/* ---- arrays of texts: arrays.c ---- */

/* value_set for the kinds NETWORKS, TOKENS, ADDRESSES, RECIPIENTS, DOMAINS, WEIGHTS, URLS, TEXTS
 * and LISTENS: replaces the whole array. */
bool elements_set(const struct value_place *place, const config_setting_t *setting);

/* The two members of a NETWORKS row, which always lies in struct config. */
struct elements_networks {
    size_t *n;
    struct ipnet **v;
};
struct elements_networks elements_networks_of(const struct schema_row *row,
                                              struct config *c);
const struct ipnet *elements_networks_at(const struct schema_row *row,
                                         const struct config *c, size_t *retcount);

/* Checks and tidies one text of an array of that kind in place. NULL, or what is wrong. */
const char *value_tidy(enum schema_kind kind, char *s);

void elements_strings_free(struct config_strings *s);
bool elements_strings_copy(struct config_strings *to,
                           const struct config_strings *from);

/* ---- the right form of a wrong value: form.c ---- */

enum { FORM_MAX = 200 };
/* "yes" for a key that is true or false becomes true, 5% for a share 0.05, 10.0.0.0/8 for networks
 * [ "10.0.0.0/8" ]. text is the value without quotes; row is NULL for an unknown key, which gets a
 * text in quotes. False: the right form is not known. */
bool form_value(const struct schema_row *row, struct slice text, char dst[FORM_MAX]);

#endif
