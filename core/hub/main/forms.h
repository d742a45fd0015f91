/*
 * forms - automatic rewrite of lists that are not in their configured form.
 *
 * A list is in another form if it is older than the normal form of URLs, or if its url_match was
 * changed. A thread checks all lists every FORMS_LOOK_S seconds and rewrites one after the other,
 * while mail continues. After a failure it writes one log line and waits for FORMS_AGAIN_S seconds.
 * Depends: base, config, list.   Threads: start, renew and stop from one.   Owns: its thread.
 */
#ifndef CORE_HUB_MAIN_FORMS_H
#define CORE_HUB_MAIN_FORMS_H

#include "core/base/err.h"
#include "core/config/config.h"

enum { FORMS_LOOK_S = 5, FORMS_AGAIN_S = 600 };

struct forms;
enum err forms_new(const struct config *config, struct forms **ret,
                   struct errinfo *reterr);
/* Sets another configuration. */
void forms_renew(struct forms *f, const struct config *config);
/* Stops the thread. A rewrite that is not finished changes nothing. Accepts NULL. */
void forms_free(struct forms **f);

#endif
