/*
 * err - the one list of failures, and the text that explains one to a person.
 *
 * Functions on the mail path return the enum alone. Functions whose failure a person must act
 * on (configuration, feeds, state files) also fill a struct errinfo: where, and what to do.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_ERR_H
#define CORE_BASE_ERR_H

#include <stdarg.h>

#include "core/base/std.h"

enum err {
    ERR_OK = 0,
    ERR_NOMEM = -1,        /* memory, or an arena's cap, is used up */
    ERR_LIMIT = -2,        /* a limit of gillnet was met */
    ERR_SYNTAX = -3,       /* bytes that do not have the form they claim */
    ERR_RANGE = -4,        /* a well-formed value outside its bounds */
    ERR_NOT_FOUND = -5,    /* no such thing */
    ERR_EXISTS = -6,       /* it is already there */
    ERR_IO = -7,           /* the system refused; errno says why */
    ERR_NOSPACE = -8,      /* disk full, or a fixed-size structure is */
    ERR_CORRUPT = -9,      /* a checksum or an invariant of a file does not hold */
    ERR_VERSION = -10,     /* a file of another version of gillnet */
    ERR_KEY = -11,         /* made with a key that this installation does not have */
    ERR_LOCKED = -12,      /* another process holds the lock */
    ERR_DENIED = -13,      /* rights are missing */
    ERR_UNSUPPORTED = -14, /* understood, but not offered here */
    ERR_TIMEOUT = -15      /* a deadline passed */
};

enum { ERRINFO_SOURCE_MAX = 256, ERRINFO_TEXT_MAX = 512 };

/* One failure as a person reads it. */
struct errinfo {
    enum err code;
    unsigned line;                   /* 1-based; 0: not about a line */
    char source[ERRINFO_SOURCE_MAX]; /* file, socket or value; may be empty */
    char text[ERRINFO_TEXT_MAX]; /* what happened and what to do, no final full stop */
};

/* A short English name of code, never NULL. */
const char *err_text(enum err code);

/*
 * The one way to chain steps: e is the first failure, and no step after it runs.
 * e is evaluated more than once.
 */
#define THEN(e, step) ((e) = (e) == ERR_OK ? (step) : (e))

/* The code that stands for an errno value (ENOSPC is ERR_NOSPACE, EACCES is ERR_DENIED, ...). */
enum err err_of_errno(int errnum);

/* Fills reterr (which may be NULL; texts are cut, never overrun; control bytes become ?) and
 * returns code. */
enum err errinfo_set(struct errinfo *reterr, enum err code, const char *source,
                     unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fills reterr with "what: the text of errno" and returns err_of_errno(errno). */
enum err errinfo_errno(struct errinfo *reterr, const char *source, const char *what);

/* Fills reterr with "out of memory" and returns ERR_NOMEM. */
enum err errinfo_nomem(struct errinfo *reterr, const char *source);

/* "source:line: text", or what of it there is; returns dst. */
char *errinfo_format(const struct errinfo *info, char *dst, size_t size);

#endif
