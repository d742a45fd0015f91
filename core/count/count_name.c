/* count_name - the windows by name. */
#include "core/count/count.h"

static const char *const window_names[COUNT_WINDOWS] = {"10m", "1h", "1d", "14d"};

const char *count_window_name(unsigned w)
{
    return w < COUNT_WINDOWS ? window_names[w] : "unknown";
}

bool count_window_by_name(struct slice name, enum count_window *ret)
{
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        if (slice_eq(name, slice_str(window_names[w]))) {
            *ret = (enum count_window)w;
            return true;
        }
    }
    return false;
}
