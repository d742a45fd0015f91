/*
 * import - many changes become the next generation at once: from a sorted import, or from steps.
 *
 * Depends: merge, writer.   Threads: the writer's.
 */
#ifndef CORE_LIST_IMPORT_H
#define CORE_LIST_IMPORT_H

#include "core/list/merge.h"
#include "core/list/writer.h"

/* With nothing under way. Published, and *m freed, when it returns. */
enum err import_merge(struct list_writer *w, const struct merge_input *in,
                      struct merge *m, struct errinfo *reterr);

#endif
