/*
 * changes - a log of the changes that people make, each with its author, time and undo.
 *
 * STATE/changes/log.N, a change a line, as JSON. Hub and commands, which run as different users,
 * append under a lock on the folder; a change is on the disk when changes_note returns. A line that
 * a crash tore gets an end before the next one, and readers skip it. Old files go as a whole, so
 * the folder has at most CHANGES_FILES * CHANGES_FILE_BYTES and one line.
 * A note that fails does not fail the change: the caller reports it. Lines are read as hostile.
 * Reports of users are not here: they have a log of their own (core/report), and would push out
 * all else.
 * Files: changes (writing), changes_read, changes_forget; changes.def has the kinds, and how to add
 * one.
 * Depends: base, jansson.   Threads: any.   Owns: nothing.   ADR 0090.
 */
#ifndef CORE_TELEMETRY_CHANGES_H
#define CORE_TELEMETRY_CHANGES_H

#include "core/base/err.h"
#include "core/base/slice.h"

#define STATE_CHANGES_DIR "changes"
/* The result of a revocation that took nothing off the list. It beats later feeds and imports, and
 * an undo would list what nobody listed. */
#define CHANGE_NOT_LISTED \
    "not listed before; the revocation stays: gillnet list add LIST VALUE lists it"

enum {
    CHANGES_FILE_BYTES = 1 << 20, /* then the next one begins */
    CHANGES_FILES = 16,
    CHANGES_LINE_MAX = 49152,    /* bytes of a line in JSON */
    CHANGES_TEXT_MAX = 1000,     /* bytes of who, way, object, reason, result */
    CHANGES_STATE_MAX = 4000,    /* of before and after */
    CHANGES_VALUES_MAX = 100,    /* kept of one change */
    CHANGES_VALUES_BYTES = 8000, /* of all of them */
    CHANGES_WAIT_MS = 2000,      /* for the lock */
    CHANGE_ID_SIZE = 24
};

/* How a change is undone. */
enum change_undo {
    CHANGE_STAYS, /* it cannot be */
    CHANGE_LIST_REVOKE,
    CHANGE_LIST_ADD,
    CHANGE_FEED_UPDATE,
    CHANGE_REPORT_UNDO,
    CHANGE_USER_SET,   /* to the settings before, while those after it stand */
    CHANGE_TUNING_UNDO /* as long as it is the last change of settings */
};

enum change_kind {
#define CHANGE_KIND(kind, name, undo) CHANGE_##kind,
#include "core/telemetry/changes.def"
#undef CHANGE_KIND
    CHANGE_KINDS
};
const char *change_kind_name(enum change_kind kind);
/* CHANGE_KINDS: there is none. */
enum change_kind change_kind_by_name(struct slice name);
enum change_undo change_undo_of(enum change_kind kind);

/* Empty texts were not given; too long ones are cut. Control characters and bytes
 * that are no UTF-8 become U+FFFD. */
struct change {
    enum change_kind kind;
    struct slice
        who; /* name of a token; LOGIN/NAME or LOGIN of a command; address of a user */
    struct slice way;    /* "api", "page", "command", "link" */
    struct slice object; /* list, feed, user, queue id, report ... */
    /* The state of the object. One that is too long is left out whole: without the state before,
     * nothing can be put back. */
    struct slice before;
    struct slice after;
    struct slice reason;
    struct slice result; /* why it cannot be undone; empty: it can */
    /* "TYPE:VALUE" of the changed entries of a list, or the id of a report. */
    const struct slice *values;
    size_t nvalues;
    uint64_t count;      /* of changed entries; 0: nvalues */
    struct slice undoes; /* id of the change that this one undoes */
};

/* Adds the change, with the time of now. ERR_DENIED: this user may not. ERR_LOCKED, ERR_IO,
 * ERR_NOSPACE, ERR_NOMEM. */
enum err changes_note(const char *state_dir, const struct change *c,
                      struct errinfo *reterr);

/* The text as a state of an object, which is not missing if it is empty. */
struct slice change_state(struct slice text);

/* Overwrites an address, in any case of its letters, in all changes. *retn: places. */
enum err changes_forget(const char *state_dir, struct slice address, uint64_t *retn,
                        struct errinfo *reterr);

/* ---- ids: where the line stands; they rise with time ---- */

/* "3-1024"; returns dst. */
const char *change_id_print(uint64_t id, char dst[CHANGE_ID_SIZE]);
bool change_id_read(struct slice text, uint64_t *ret);

#endif
