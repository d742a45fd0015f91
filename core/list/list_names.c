/*
 * list_names - the folders of STATE/lists with valid list names.
 */
#include "core/base/dir_walk.h"
#include "core/list/files.h"
#include "core/list/list.h"

enum { NAMES_MAX = 1024 };

/* Links are followed, as the writer does: a list may live on another disk. */
static bool is_list(int dirfd, const char *name)
{
    struct stat st;
    return list_name_is_valid(slice_str(name)) &&
           !list_name_is_taken(slice_str(name)) && fstatat(dirfd, name, &st, 0) == 0 &&
           S_ISDIR(st.st_mode);
}

static int compare_names(const void *a, const void *b)
{
    const struct slice *x = a;
    const struct slice *y = b;
    return slice_cmp(*x, *y);
}

enum err list_names(const char *state_dir, struct arena *arena, struct slice **ret,
                    size_t *retcount, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    struct slice *names = arena_array(arena, NAMES_MAX, sizeof(*names));
    size_t n = 0;
    if (!names) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = path_make(path, reterr, "%s/lists", state_dir);
    if (e == ERR_OK && stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "a file lies where the folder of lists is needed; move it "
                        "away and put the folder back");
    }
    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);
    while (e == ERR_OK && dir_walk_next(&w)) {
        if (!is_list(dirfd(w.dir), w.name)) {
            continue;
        }
        if (n == NAMES_MAX) {
            e = errinfo_set(reterr, ERR_LIMIT, path, 0, "more lists than can be shown");
        } else {
            names[n] = arena_copy(arena, slice_str(w.name));
            e = names[n++].p ? ERR_OK : errinfo_nomem(reterr, path);
        }
    }
    e = dir_walk_end(&w, e, reterr);
    if (e == ERR_OK) {
        qsort(names, n, sizeof(*names), compare_names);
        *ret = names;
        *retcount = n;
    }
    return e;
}
