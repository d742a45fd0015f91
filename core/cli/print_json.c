#include "core/cli/print_json.h"

bool json_line(json_t *object)
{
    return json_line_to(stdout, object);
}

bool json_line_to(FILE *to, json_t *object)
{
    bool ok = object != NULL && json_dumpf(object, to, JSON_COMPACT) == 0;

    json_decref(object);
    if (!ok) {
        if (!ferror(to)) {
            (void)fputs("gillnet: out of memory\n", stderr);
        }
        return false;
    }
    (void)putc('\n', to);
    return true;
}
