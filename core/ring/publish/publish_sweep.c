/* publish_sweep - lists that are published no more, and files of streams that no heads name. */
#include <dirent.h>

#include "core/ring/publish/publish_internal.h"

enum { HEX = 2 * OBJECT_ID_BYTES, MS_A_SECOND = 1000 };

enum err publish_withdraw(struct publish *p, const char *name, struct errinfo *reterr)
{
    for (size_t i = 0; i < p->nrows; i++) {
        if (strcmp(p->row[i].head.stream.list, name) == 0) {
            memmove(&p->row[i], &p->row[i + 1], (p->nrows - i - 1) * sizeof(p->row[0]));
            p->nrows--;
            return ERR_OK;
        }
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, name, 0,
                       "this list is not published there");
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
        if (memcmp(id.b, stream->b, OBJECT_ID_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static bool was_shown(const struct publish *p, const struct object_id *stream)
{
    for (size_t i = 0; i < p->nbefore; i++) {
        if (memcmp(p->before[i].b, stream->b, OBJECT_ID_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* One folder of a stream that no heads name: its time begins when they cease to, and ends with it. */
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
    (void)rmdir(dir); /* what else lies in it is not ours */
}

static void sweep_kind(const struct publish *p, char kind)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    DIR *d = file_path(dir, "%s/v1/%c", p->place, kind) == ERR_OK ? opendir(dir) : NULL;
    while (d) {
        struct object_id id;
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        const struct dirent *entry = readdir(d); /* NOLINT(concurrency-mt-unsafe) */
        if (!entry) {
            (void)closedir(d);
            return;
        }
        if (strlen(entry->d_name) == HEX &&
            hex_parse(slice_str(entry->d_name), id.b, OBJECT_ID_BYTES) &&
            !is_of_now(p, &id) &&
            file_path(path, "%s/%s", dir, entry->d_name) == ERR_OK) {
            sweep_stream(p, path, &id);
        }
    }
}

void publish_sweep(const struct publish *p)
{
    sweep_kind(p, 's');
    sweep_kind(p, 'o');
}
