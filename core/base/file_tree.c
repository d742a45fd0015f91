/* file_tree - folders with all that is in them, removed. */
#include <dirent.h>

#include "core/base/file.h"

enum { TREE_DEPTH_MAX = 8 };

/* Removes the files of one folder, then it; subfolders are told. */
static bool empty_dir(const char *path, char retsub[FILE_PATH_MAX])
{
    DIR *d = opendir(path);
    const struct dirent *entry = NULL;
    bool has_sub = false;
    if (!d) {
        return false;
    }
    /* cppcheck-suppress readdirCalled ; the stream is ours alone */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this thread's own */
    while (!has_sub && (entry = readdir(d)) != NULL) {
        char file[FILE_PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            file_path(file, "%s/%s", path, entry->d_name) != ERR_OK) {
            continue;
        }
        if (unlink(file) != 0 && (errno == EISDIR || errno == EPERM)) {
            has_sub = file_path(retsub, "%s", file) == ERR_OK;
        }
    }
    (void)closedir(d);
    return has_sub;
}

/* Goes down to a folder that has none, removes it, begins again: no recursion. */
enum err file_remove_tree(const char *path, struct errinfo *reterr)
{
    for (;;) {
        char at[FILE_PATH_MAX];
        char sub[FILE_PATH_MAX];
        unsigned depth = 0;
        struct stat there;
        if (lstat(path, &there) != 0) {
            return ERR_OK;
        }
        if (!S_ISDIR(there.st_mode)) {
            return unlink(path) == 0 || errno == ENOENT
                       ? ERR_OK
                       : errinfo_errno(reterr, path, "cannot remove");
        }
        (void)file_path(at, "%s", path);
        while (depth < TREE_DEPTH_MAX && empty_dir(at, sub)) {
            (void)file_path(at, "%s", sub);
            depth++;
        }
        if (depth == TREE_DEPTH_MAX) {
            return errinfo_set(reterr, ERR_LIMIT, at, 0,
                               "folders within folders that gillnet did not make; "
                               "remove them");
        }
        if (rmdir(at) != 0 && errno != ENOENT) {
            return errinfo_errno(reterr, at, "cannot remove");
        }
    }
}
