/*
 * user_change - the settings of one user or domain, changed and read: what `gillnet user` and the
 * API do.
 *
 * Threads: one process at a time changes them, by users_file_lock; readers are free.   Allocates:
 * what is said.   ADR 0066.
 */
#ifndef CORE_VERDICT_USER_USER_CHANGE_H
#define CORE_VERDICT_USER_USER_CHANGE_H

#include "core/verdict/user/user_file.h"

struct user_change {
    const struct config *config;
    const char *name; /* of user_name_tidy */
    bool does_clear;  /* all former settings go first */
    struct slice was; /* settings that must be in force; p NULL: any */
    /* KEY=VALUE, or KEY= to take one out */
    const struct slice *words;
    size_t nwords;
    users_error_fn *on_error; /* a wrong line of the file; then ERR_SYNTAX */
    void *context;
};

/* Checks the words and puts them in force. *before and *after, of buf_init, get the settings of
 * the file, with one blank between. ERR_SYNTAX, ERR_RANGE, ERR_NOT_FOUND: a word is wrong, and
 * nothing was changed; ERR_EXISTS: neither, for the settings are not u->was, which has one blank
 * between; ERR_CORRUPT: neither, for the file is lost, and its settings are in force. Else errors
 * as users_file_lock, users_file_compile, file_write_atomic. */
enum err user_settings_change(const struct user_change *u, struct buf *before,
                              struct buf *after, struct errinfo *reterr);

/* Appends the settings that the text of the file has for a name, with one blank between. */
void user_settings_find(const struct config *c, struct slice text, const char *name,
                        struct buf *ret);

#endif
