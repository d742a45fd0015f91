/*
 * list_names - the folders of STATE/lists with valid list names.
 */
#include <dirent.h>

#include "core/list/files.h"
#include "core/list/list.h"

enum { NAMES_MAX = 1024 };

/* Links are followed, as the writer does: a list may live on another disk. */
static bool is_list(int dirfd, const char *name)
{
    struct stat st;
    return list_name_is_valid(slice_str(name)) && fstatat(dirfd, name, &st, 0) == 0 &&
           S_ISDIR(st.st_mode);
}

static enum err add_name(struct slice *names, size_t *count, const char *name,
                         struct arena *arena)
{
    if (*count >= NAMES_MAX) {
        return ERR_LIMIT;
    }
    names[*count] = arena_copy(arena, slice_str(name));
    return names[(*count)++].p ? ERR_OK : ERR_NOMEM;
}

static enum err read_names(DIR *d, struct arena *arena, struct slice *names,
                           size_t *retcount, const char *path, struct errinfo *reterr)
{
    size_t count = 0;
    for (;;) {
        errno = 0;
        /* cppcheck-suppress readdirCalled ; the stream is local */
        const struct dirent *entry = readdir(d); /* NOLINT(concurrency-mt-unsafe) */
        if (!entry) {
            break;
        }
        if (!is_list(dirfd(d), entry->d_name)) {
            continue;
        }
        enum err e = add_name(names, &count, entry->d_name, arena);
        if (e != ERR_OK) {
            return errinfo_set(reterr, e, path, 0, "more lists than can be shown");
        }
    }
    if (errno != 0) {
        return errinfo_errno(reterr, path, "cannot list the folder");
    }
    *retcount = count;
    return ERR_OK;
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
    if (file_path(path, "%s/lists", state_dir) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, state_dir, 0, "the path is too long");
    }
    struct slice *names = arena_array(arena, NAMES_MAX, sizeof(*names));
    if (!names) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0,
                           "no memory for the lists' names");
    }
    DIR *d = opendir(path);
    if (!d && errno == ENOENT) {
        *ret = names; /* nothing was ever imported */
        *retcount = 0;
        return ERR_OK;
    }
    if (!d && errno == ENOTDIR) { /* not "there are no lists": they are gone */
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "a file lies where the folder of lists is needed; move it "
                           "away and put the folder back");
    }
    if (!d) {
        return errinfo_errno(reterr, path, "cannot list the folder");
    }
    size_t count = 0;
    enum err e = read_names(d, arena, names, &count, path, reterr);
    (void)closedir(d);
    if (e != ERR_OK) {
        return e;
    }
    qsort(names, count, sizeof(*names), compare_names);
    *ret = names;
    *retcount = count;
    return ERR_OK;
}
