/*
 * user_table - the settings of users and domains as a table on disk, followed while it is replaced.
 *
 * STATE/users/table is a core/store/table.h from "user@domain" or "@domain" to "KEY=VALUE
 * KEY=VALUE". It never changes: a new one takes its place as a whole, and readers that have the
 * former one open finish with it. Not for other rooms but by user_verdict.h and user_file.h.
 * Threads: any; users_refresh from one.   Owns: the open table.
 */
#ifndef CORE_VERDICT_USER_USER_TABLE_H
#define CORE_VERDICT_USER_USER_TABLE_H

#include "core/base/err.h"
#include "core/base/slice.h"

/* In the state folder. */
#define STATE_USERS_DIR   "users"
#define STATE_USERS_TABLE "users/table"
#define STATE_USERS_FILE  "users/users" /* when users_file is empty */
#define USERS_TABLE_BYTES (UINT64_C(1) << 30)

struct users;
/* NULL: no memory. Without a table there, no user has settings. */
struct users *users_new(const char *state_dir);
void users_free(struct users **u); /* accepts NULL */
/* Takes the table that is there now, if it is another one. On failure the former one stays. */
enum err users_refresh(struct users *u, struct errinfo *reterr);

/* One table, pinned. NULL: there is none. */
struct users_view;
struct users_view *users_acquire(struct users *u);
void users_release(struct users *u, struct users_view **view); /* accepts NULL views */
/* The settings of a name; *ret is good until the release. ERR_NOT_FOUND. ERR_CORRUPT: damaged. */
enum err users_find(struct users_view *view, struct slice name, struct slice *ret);
size_t users_count(struct users_view *view); /* entries */
/* The entries of the table that is there now; 0 without one. */
enum err users_count_in_force(const char *state_dir, size_t *ret,
                              struct errinfo *reterr);

#endif
