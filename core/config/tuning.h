/*
 * tuning - settings in the state folder that stand above those of the configuration files.
 *
 * An administrator changes them from the page, over the API or by `gillnet tune`: thresholds,
 * weight and shadow of lists, score and shadow of rules, and nothing else. STATE/tuning/current is
 * text of lines:
 *
 *   gillnet-tuning 1
 *   version 7
 *   former 6
 *   at 1764349200
 *   who anna
 *   why too much promotion mail passed
 *   thresholds.reject=8
 *   lists.phish.weight=6
 *   rules.replica.shadow=true
 *   end
 *
 * Empty lines and lines that begin with # are skipped. `former` is the version that undo leads to;
 * 0: no settings at all. The last line tells a whole file from a cut one.
 * Threads: pure; a struct is of one thread.   Owns: its settings.   ADR 0088.
 */
#ifndef CORE_CONFIG_TUNING_H
#define CORE_CONFIG_TUNING_H

#include "core/base/buf.h"
#include "core/config/precheck.h"
#include "core/config/user_setting.h"

#define STATE_TUNING_DIR  "tuning"
#define STATE_TUNING_FILE STATE_TUNING_DIR "/current"

enum {
    TUNING_SETTINGS_MAX = 1000,
    TUNING_FILE_BYTES = 256 << 10,
    TUNING_TEXT_MAX = 112, /* of a setting, with the NUL */
    TUNING_WHO_MAX = 127,
    TUNING_WHY_MAX = 400
};

/* One setting: of a threshold, or the number or shadow of a list or rule. */
struct tuning_setting {
    char text[TUNING_TEXT_MAX]; /* "lists.phish.weight=6" */
    struct user_setting set;    /* its name points into text */
    unsigned line;              /* of the file; 0: of none */
    /* after it was put into a configuration: */
    bool is_gone; /* the configuration has no such rule, so it has no effect */
    double configured_number; /* the value of the configuration files */
    bool configured_flag;
};

struct tuning {
    uint64_t version; /* rises with each change */
    uint64_t former;
    uint64_t at_s; /* unix time of the change */
    char who[TUNING_WHO_MAX + 1];
    char why[TUNING_WHY_MAX + 1];
    size_t n;
    size_t room;
    struct tuning_setting *v;
};

/* Version 0, without settings; NULL: no memory. */
struct tuning *tuning_new(void);
/* Accepts NULL. */
void tuning_free(struct tuning **t);

/* Reads a file's text into a new one. Calls on_finding for each error. False: there was one, and t
 * is of no use. */
bool tuning_parse(struct slice text, scan_finding_fn *on_finding, void *context,
                  struct tuning *t);
/* Appends the text of a file. */
void tuning_print(const struct tuning *t, struct buf *ret);

/* "KEY=VALUE" replaces the setting of that key, or adds it; "KEY=" takes it out. ERR_NOT_FOUND,
 * ERR_UNSUPPORTED: the key; ERR_SYNTAX, ERR_RANGE: the value; ERR_LIMIT: there are too many. */
enum err tuning_change(struct tuning *t, struct slice setting, struct errinfo *reterr);
/* Checks a text of who or why: one line of UTF-8, at most `most` bytes. NULL: it is good; else the
 * reason. */
const char *tuning_check_text(struct slice text, size_t most);

/* Key and value of a setting's text. */
struct slice tuning_key(const struct tuning_setting *s, struct slice *retvalue);
/* The value of the configuration files as it would be written; returns ret. */
enum { TUNING_VALUE_MAX = 32 };
const char *tuning_configured(const struct tuning_setting *s,
                              char ret[TUNING_VALUE_MAX]);
/* Appends the settings as lines for gillnet.conf. */
void tuning_conf_lines(const struct tuning *t, struct buf *ret);

#endif
