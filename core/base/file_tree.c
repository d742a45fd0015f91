/* file_tree - folders with all that is in them, removed. */
#include "core/base/dir_walk.h"
#include "core/base/file.h"

enum { TREE_DEPTH_MAX = 8 };

/* Removes the files of one folder. True: it has a subfolder, whose path is in retsub. */
static bool empty_dir(const char *path, char retsub[FILE_PATH_MAX])
{
    struct dir_walk w = dir_walk_begin(path, DIR_NEEDED);
    bool has_sub = false;
    while (!has_sub && dir_walk_next(&w)) {
        char file[FILE_PATH_MAX];
        has_sub = path_make(file, NULL, "%s/%s", path, w.name) == ERR_OK &&
                  unlink(file) != 0 && (errno == EISDIR || errno == EPERM) &&
                  path_make(retsub, NULL, "%s", file) == ERR_OK;
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return has_sub;
}

/* Goes down to a folder without subfolders, removes it and begins again: no recursion. */
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
