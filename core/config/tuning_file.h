/*
 * tuning_file - the file of settings in the state folder: read with a look at its rights, and
 * replaced with its former versions kept.
 *
 * STATE/tuning belongs to the hub's user. Each version also lies in STATE/tuning/version-NUMBER,
 * the newest TUNING_VERSIONS of them. A change is written there first, the whole configuration is
 * loaded with it, then it becomes STATE/tuning/current, atomically. Undo is a change, too: to the
 * settings of the version before, with a new number.
 * Threads: any; changes of all processes wait for one lock.   Owns: nothing.   ADR 0088.
 */
#ifndef CORE_CONFIG_TUNING_FILE_H
#define CORE_CONFIG_TUNING_FILE_H

#include "core/config/config.h"
#include "core/config/tuning.h"

enum { TUNING_VERSIONS = 32, TUNING_LOCK_WAIT_S = 3 };

/* Appends the text of a file. ERR_NOT_FOUND: there is none. ERR_DENIED: a user who may not change
 * settings owns it or may write to it, or this one may not read it. */
enum err tuning_file_read(const char *path, struct buf *ret, struct errinfo *reterr);
/* Reads and parses. Errors name file and line; it gives the first one. */
enum err tuning_file_load(const char *path, struct tuning **ret,
                          struct errinfo *reterr);

enum tuning_reload {
    TUNING_RELOADED,
    TUNING_NOT_RUNNING, /* the next start takes it */
    TUNING_UNKNOWN,     /* no answer in time; it is taken later */
    TUNING_REFUSED      /* the former settings are to come back */
};
/* Asks gillnetd, and the hub, to load the configuration. ret gets their words. */
typedef enum tuning_reload tuning_reload_fn(void *context, struct buf *ret);

struct tuning_request {
    const char *config_file;
    const struct config_types *types;
    const char *state_dir;
    bool has_version;
    uint64_t version; /* that the change was made for */
    const char *who;
    const char *why;
    bool is_undo;
    const struct slice *settings; /* nsettings of "KEY=VALUE" or "KEY=" */
    size_t nsettings;
    tuning_reload_fn *reload;
    void *context;
};
struct tuning_result {
    uint64_t version;    /* in force after it */
    uint64_t of_version; /* after an undo: whose settings are in force; 0: none */
    enum tuning_reload reload;
};
/* Makes one change. words: of gillnetd and the hub. ERR_EXISTS: another version is in force than
 * the request names. ERR_LOCKED: another change takes long. ERR_UNSUPPORTED: a setting of
 * the request is of a rule that the configuration has not; one that was set before, and whose rule
 * went, is kept. Other errors: the settings, or the configuration with them, all of whose errors
 * stand in reterrors. ERR_KEY: gillnetd refused the
 * configuration, and the former file is back. After any error the former settings are in force. */
enum err tuning_apply(const struct tuning_request *r, struct tuning_result *ret,
                      struct buf *words, struct config_errors *reterrors);

#endif
