#include "core/base/prefix.h"

#include <unistd.h>

/* The folder of a path, without the slash behind it. */
static struct slice folder_of(struct slice path)
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/') {
        n--;
    }
    return slice_head(path, n > 0 ? n - 1 : 0);
}

enum err prefix_path_of(char dst[FILE_PATH_MAX], struct slice program, const char *name)
{
    struct slice folder = folder_of(program);
    struct slice above = folder_of(folder);
    bool is_installed = slice_has_suffix_nocase(folder, SLICE_LIT("/bin")) ||
                        slice_has_suffix_nocase(folder, SLICE_LIT("/sbin"));
    struct slice prefix = is_installed ? above : SLICE_LIT(GILLNET_PREFIX);

    return path_make(dst, NULL, "%.*s/%s", (int)prefix.n, prefix.p, name);
}

enum err prefix_path(char dst[FILE_PATH_MAX], const char *name)
{
    char self[FILE_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self));

    return prefix_path_of(dst, slice_of(self, n > 0 ? (size_t)n : 0), name);
}
