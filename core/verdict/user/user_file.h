/*
 * user_file - the file of settings of users: checked, compiled into the table, changed by commands.
 *
 * Lines of "USER@DOMAIN KEY=VALUE..." or "@DOMAIN KEY=VALUE..."; empty lines and lines that begin
 * with # are skipped. The text is the truth, the table is made from it. A change writes the new
 * table beside the old one, then the text, then puts the table in place: a process that is killed
 * leaves a text that is whole and a table that is whole. The table may then be of the former text,
 * until the next change or `gillnet user compile`.
 * Threads: one process at a time, by users_file_lock.   Allocates: what is said.   ADR 0066.
 */
#ifndef CORE_VERDICT_USER_USER_FILE_H
#define CORE_VERDICT_USER_USER_FILE_H

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/config/user_setting.h"

enum {
    USERS_FILE_BYTES = 256 << 20,
    USERS_LINE_MAX = 8192,
    USERS_ERRORS_MAX = 50 /* that are told; a broken file has them all */
};

/* The path of the text: users_file, or STATE/users/users. */
enum err users_file_path(const struct config *c, char ret[FILE_PATH_MAX],
                         struct errinfo *reterr);
/* Makes STATE/users; waits up to ten seconds for another command. ERR_LOCKED: it takes longer. */
enum err users_file_lock(const struct config *c, struct filelock *ret,
                         struct errinfo *reterr);

/* Appends the text; none when there is no file. */
enum err users_file_read(const char *path, struct buf *ret, struct errinfo *reterr);

/* One line: the name, tidied, and the settings, with one blank between, in ret. */
struct users_line {
    char name[USER_NAME_MAX + 1];
    char words[USERS_LINE_MAX];
};
/* Takes the next line with settings from *text. False: there is none. *retline: its number, which
 * begins with 0. e: ERR_OK, or reterr's text says what is wrong with this line. */
bool users_file_next(const struct config *c, struct slice *text, unsigned *retline,
                     struct users_line *ret, enum err *e, struct errinfo *reterr);

/* Makes the table of text beside the one in use. on_error gets each wrong line; then ERR_SYNTAX.
 * *retn: entries. With the lock. */
typedef void users_error_fn(void *context, unsigned line, const char *why);
enum err users_file_compile(const struct config *c, struct slice text,
                            users_error_fn *on_error, void *context, size_t *retn,
                            struct errinfo *reterr);
/* Puts the compiled table in place. */
enum err users_file_publish(const struct config *c, struct errinfo *reterr);

/* Appends text with the settings of one name changed: words are KEY=VALUE, or KEY= to take one out;
 * does_clear: all its former ones go. name is tidied. The words are not checked here. */
void users_file_change(struct slice text, const char *name, bool does_clear,
                       const struct slice *words, size_t n, struct buf *ret);

/* Whether the table in place was made from this text. ERR_NOT_FOUND: there is no table. */
enum err users_file_is_compiled(const struct config *c, struct slice text, bool *ret,
                                struct errinfo *reterr);

#endif
