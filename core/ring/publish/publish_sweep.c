/* publish_sweep - withdrawn lists, and files of streams that the heads no longer name. */
#include "core/base/dir_walk.h"
#include "core/ring/publish/publish_internal.h"

enum { MS_A_SECOND = 1000 };

enum err publish_withdraw(struct publish *p, const char *name, struct errinfo *reterr)
{
    struct publish_row *row = publish_find_row(p, name);
    if (!row) {
        return errinfo_set(reterr, ERR_NOT_FOUND, name, 0,
                           "this list is not published there");
    }
    p->nrows--;
    memmove(row, row + 1, (size_t)(p->row + p->nrows - row) * sizeof(*row));
    return ERR_OK;
}

void publish_note_streams(struct publish *p)
{
    for (size_t i = 0; i < p->nrows; i++) {
        stream_key_id(&p->row[i].head.stream, &p->before[i]);
    }
    p->nbefore = p->nrows;
}

static bool is_of_now(const struct publish *p, const struct object_id *stream)
{
    for (size_t i = 0; i < p->nrows; i++) {
        struct object_id id;
        stream_key_id(&p->row[i].head.stream, &id);
        if (object_id_equal(&id, stream)) {
            return true;
        }
    }
    return false;
}

static bool was_shown(const struct publish *p, const struct object_id *stream)
{
    for (size_t i = 0; i < p->nbefore; i++) {
        if (object_id_equal(&p->before[i], stream)) {
            return true;
        }
    }
    return false;
}

/* One folder of a stream that the heads do not name. Its time starts with the first such heads. */
static void sweep_stream(const struct publish *p, const char *dir,
                         const struct object_id *stream)
{
    const uint64_t now_s = p->o.now_ms / MS_A_SECOND;
    const struct timespec now[2] = {{.tv_sec = (time_t)now_s},
                                    {.tv_sec = (time_t)now_s}};
    struct stat st;
    if (was_shown(p, stream)) {
        (void)utimensat(AT_FDCWD, dir, now, AT_SYMLINK_NOFOLLOW);
        return;
    }
    if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) ||
        (uint64_t)st.st_mtime + PUBLISH_GRACE_S > now_s) {
        return;
    }
    publish_remove_files(dir, UINT64_MAX);
    (void)rmdir(dir); /* other files in it belong to the administrator */
}

static void sweep_kind(const struct publish *p, char kind)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    if (path_make(dir, NULL, "%s/v1/%c", p->place, kind) != ERR_OK) {
        return;
    }
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        struct object_id id;
        if (hex_parse(slice_str(w.name), id.b, OBJECT_ID_BYTES) && !is_of_now(p, &id) &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK) {
            sweep_stream(p, path, &id);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

void publish_sweep(const struct publish *p)
{
    sweep_kind(p, 's');
    sweep_kind(p, 'o');
}
