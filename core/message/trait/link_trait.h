/*
 * link_trait - traits of the form of a link: its host, port, path, and what it carries.
 *
 * Threads: any.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_LINK_TRAIT_H
#define CORE_MESSAGE_TRAIT_LINK_TRAIT_H

#include "core/message/trait/trait.h"
#include "core/message/url/url.h"

enum {
    LINK_LABELS_MIN = 4,  /* labels before the registrable domain */
    LINK_LABEL_LONG = 30, /* bytes of a label; programs name machines shorter */
    LINK_HYPHENS_MIN = 3, /* in one label */
    LINK_ESCAPES_MIN = 3  /* letters and digits written as %XX, which no program does */
};

/* Of a host that is a name; registrable: its registrable domain. */
void link_host_traits(struct slice host, struct slice registrable, struct traits *ret);
/* Of the rest. text: the link as it stands. */
void link_path_traits(struct slice text, const struct url *url, struct traits *ret);

#endif
