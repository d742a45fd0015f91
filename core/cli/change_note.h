/*
 * change_note - a command notes what it changed (core/telemetry/changes.h).
 *
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_CHANGE_NOTE_H
#define CORE_CLI_CHANGE_NOTE_H

#include "core/base/user.h"
#include "core/cli/cli.h"
#include "core/telemetry/changes.h"

/* The login that is proven, then the name that sudo tells: "root/anna". Points into ret. */
enum { CLI_AUTHOR_BYTES = 2 * USER_NAME_BYTES };
struct slice cli_author(char ret[CLI_AUTHOR_BYTES]);

/* Notes the change of this command, made by its login; below sudo also who called sudo. A failure
 * is reported, and changes no exit status. */
void cli_note(struct cli *cli, const struct change *c);

/* Whether this user is one whose reports are changes: root, or the owner of the state folder. The
 * reports of others are in the log of reports alone. */
bool cli_is_administrator(const struct cli *cli);

#endif
