/* footprint - from /proc/self and the control groups (version 2). */
#include "core/base/footprint.h"

#include <sys/resource.h>

#include "core/base/file.h"

enum { FOOTPRINT_LINE_MAX = 4096 };

/* The first line of a file without its end; false: there is none. */
static bool first_line(const char *path, char line[FOOTPRINT_LINE_MAX])
{
    FILE *f = fopen(path, "re");
    bool ok = f != NULL && fgets(line, FOOTPRINT_LINE_MAX, f) != NULL;

    if (f != NULL) {
        (void)fclose(f);
    }
    if (ok) {
        line[strcspn(line, "\n")] = '\0';
    }
    return ok;
}

/* False: text does not begin with a number. */
static bool number(const char *text, uint64_t *ret)
{
    char *end = NULL;

    *ret = strtoull(text, &end, 10);
    return end != text;
}

uint64_t footprint_bytes(void)
{
    char line[FOOTPRINT_LINE_MAX];
    const char *second = NULL; /* of the numbers: pages that lie in memory */
    uint64_t pages = 0;

    if (!first_line("/proc/self/statm", line) || (second = strchr(line, ' ')) == NULL ||
        !number(second, &pages)) {
        return 0;
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void lower_limit(uint64_t *least, uint64_t v)
{
    *least = v < *least ? v : *least;
}

/* A file of a control group holds a number, or "max". */
static void lower_to_file(uint64_t *least, const char *root, const char *group,
                          const char *name)
{
    char path[FILE_PATH_MAX];
    char line[FOOTPRINT_LINE_MAX];
    uint64_t v = 0;

    if (file_path(path, "%s/sys/fs/cgroup%s/%s", root, group, name) == ERR_OK &&
        first_line(path, line) && number(line, &v)) {
        lower_limit(least, v);
    }
}

/* Its own group and each one above it. */
static void lower_to_groups(uint64_t *least, const char *root)
{
    static const char unified[] = "0::";
    char path[FILE_PATH_MAX];
    char line[FOOTPRINT_LINE_MAX];
    char *group = line + sizeof(unified) - 1;
    char *end = NULL;

    if (file_path(path, "%s/proc/self/cgroup", root) != ERR_OK ||
        !first_line(path, line) || strncmp(line, unified, sizeof(unified) - 1) != 0) {
        return;
    }
    do {
        lower_to_file(least, root, group, "memory.high");
        lower_to_file(least, root, group, "memory.max");
        end = strrchr(group, '/');
        if (end != NULL) {
            *end = '\0';
        }
    } while (end != NULL);
}

uint64_t footprint_limit(const char *root)
{
    static const __rlimit_resource_t limits[] = {RLIMIT_AS, RLIMIT_DATA};
    uint64_t least =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    for (size_t i = 0; i < LENGTH(limits); i++) {
        struct rlimit l = {.rlim_cur = RLIM_INFINITY};

        if (getrlimit(limits[i], &l) == 0 && l.rlim_cur != RLIM_INFINITY) {
            lower_limit(&least, l.rlim_cur);
        }
    }
    lower_to_groups(&least, root);
    return least;
}
