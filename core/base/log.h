/*
 * log - one line per event, to syslog, the journal or standard error.
 *
 * Lines go through a bounded ring to one writer thread, so that a slow log never holds up mail; a
 * full ring drops lines, counts them (log_dropped) and says so when it has room again. Before
 * log_start and after log_stop lines are written directly to standard error. Untrusted text must
 * pass log_str; invisible characters in other text become codes (visible.h). Pure rooms (text,
 * mail, extract, filter) never log.
 * Threads: any, after log_start.
 */
#ifndef CORE_BASE_LOG_H
#define CORE_BASE_LOG_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum log_level {
    LOG_LEVEL_ERROR, /* a person must act */
    LOG_LEVEL_WARN,  /* degraded, will heal */
    LOG_LEVEL_INFO,  /* state change; one line per mail */
    LOG_LEVEL_DEBUG
};
enum log_target { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG, LOG_TARGET_JOURNAL };

/* Longest line; longer ones are cut and end in "...". */
enum { LOG_LINE_MAX = 4096, LOG_STR_MAX = 256 };

/* The target of log.target "auto": the journal under systemd, standard error in a terminal or
 * without syslog, else syslog. Before the first thread. */
enum log_target log_target_auto(void);
/* Opens the target under the name ident (syslog facility mail) and starts the writer. */
enum err log_start(const char *ident, enum log_target target, enum log_level level);
/* Writes what is left and joins the writer. */
void log_stop(void);
/* Lines that were dropped since the process began. Any thread. */
uint64_t log_dropped(void);
void log_set_level(enum log_level level);
/* From now on each line is a JSON object, without a name or level before it: {"event":"log",
 * "level":"warn","text":"event=..."}. A line that begins with "{" is one already. */
void log_set_json(bool is_json);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "event=... source:line: text" of a failure, at error level. */
void log_errinfo(const char *event, const struct errinfo *info);

/* Makes untrusted bytes fit for a log line or a header: printable ASCII stays, a space, a
 * double quote, a backslash and everything else becomes \xNN, at most LOG_STR_MAX - 1 bytes of
 * result, "..." at the end when cut. dst gets a NUL; returns dst. An empty slice gives "-". */
char *log_str(char dst[LOG_STR_MAX], struct slice untrusted);

#endif
