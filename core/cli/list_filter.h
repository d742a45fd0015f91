/*
 * list_filter - a list's entries as a filter file that other sites of the ring can merge.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_LIST_FILTER_H
#define CORE_CLI_LIST_FILTER_H

#include "core/cli/cli.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/list.h"

/* As given; NULL: not. */
struct list_filter_options {
    const char *layout;
    const char *error;
    const char *items;
};
struct list_filter_plan {
    enum bloom_layout layout;
    double error;
    uint64_t items; /* 0: as many as there are */
    bool is_revoked;
};
/* Without an option what is configured for the list. Returns 0 or an exit status. */
int list_filter_plan(const struct cli *cli, const char *list,
                     const struct list_filter_options *o, struct list_filter_plan *ret);
int list_filter_export(const struct cli *cli, const struct list_reader *r,
                       const struct list_filter_plan *plan, const char *file);

/* One line about a filter at `where`. */
int list_filter_say(const struct cli *cli, const char *where,
                    const struct bloomfile_shape *s);

#endif
