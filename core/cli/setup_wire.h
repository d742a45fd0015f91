/*
 * setup_wire - one run of `gillnet setup postfix`: what Postfix says, and the settings that change.
 * Private to setup_postfix.c and setup_lists.c. Threads: one.   Owns: what postconf said.
 */
#ifndef CORE_CLI_SETUP_WIRE_H
#define CORE_CLI_SETUP_WIRE_H

#include "core/cli/postfix.h"
#include "core/cli/setup.h"

enum { WIRE_VALUE = 4096, WIRE_NAME = 256, WIRE_EDITS_MAX = 32 };

/* One setting that changes. */
struct edit {
    bool is_service; /* SERVICE/TYPE/name of master.cf */
    char name[WIRE_NAME];
    char value[WIRE_VALUE];
    bool is_removed; /* from main.cf */
};

struct wire {
    struct setup *s;
    struct postfix p;
    char queue[SOCKET_NAME_PATH];
    struct milter_chain chain; /* of smtpd_milters, as it will be */
    bool uses_parameter;       /* some list has WIRING_USE */
    size_t nedits;
    struct edit edits[WIRE_EDITS_MAX];
};

/* Cuts s to size - 1 bytes. */
void wire_copy(char *dst, size_t size, struct slice s);
/* One setting of main.cf, as written (expanded: $names replaced). */
enum err wire_setting(const struct wire *w, const char *name, bool is_expanded,
                      char dst[WIRE_VALUE], struct errinfo *reterr);
/* Takes a list of milters apart. */
enum err wire_read_chain(const struct wire *w, struct slice list,
                         struct milter_chain *ret, struct errinfo *reterr);
/* The edits that put gillnetd into every list, or take it out. */
enum err wire_plan(struct wire *w, struct errinfo *reterr);
enum err wire_plan_undo(struct wire *w, struct errinfo *reterr);

#endif
