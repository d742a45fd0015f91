/* setup_keep - copies of the files that `gillnet setup` changes, and their restoration. */

#include "core/cli/setup.h"

enum { FILE_MAX = 16 << 20 };

static struct setup_file *kept(struct setup *s, const char *path)
{
    for (size_t i = 0; i < s->nfiles; i++) {
        if (strcmp(s->files[i].path, path) == 0) {
            return &s->files[i];
        }
    }
    return NULL;
}

/* Follows links: setup replaces the file, never a link. */
static void resolve(const char *path, char dst[FILE_PATH_MAX])
{
    char *real = realpath(path, NULL);

    (void)snprintf(dst, FILE_PATH_MAX, "%s", real != NULL ? real : path);
    free(real);
}

static enum err write_as(const struct setup_file *f, const char *path,
                         struct slice text, struct errinfo *reterr)
{
    enum err e = file_write_atomic(path, text, f->mode, reterr);

    if (e == ERR_OK && chown(path, f->uid, f->gid) != 0 && geteuid() == 0) {
        e = errinfo_set(reterr, err_of_errno(errno), path, 0,
                        "cannot get its owner back");
    }
    return e;
}

enum err setup_keep(struct setup *s, const char *path, bool is_own,
                    struct errinfo *reterr)
{
    char real[FILE_PATH_MAX];
    char when[32];
    struct stat st;
    struct tm tm;
    time_t now = time(NULL);
    struct setup_file *f = NULL;
    enum err e = ERR_OK;

    resolve(path, real);
    if (kept(s, real) != NULL) {
        return ERR_OK;
    }
    if (s->nfiles == SETUP_FILES_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0, "too many files to change");
    }
    f = &s->files[s->nfiles];
    *f = (struct setup_file){.mode = 0644};
    (void)snprintf(f->path, sizeof(f->path), "%s", real);
    buf_init(&f->text, FILE_MAX);
    if (stat(real, &st) == 0) {
        f->was_there = true;
        f->mode = st.st_mode & 07777;
        f->uid = st.st_uid;
        f->gid = st.st_gid;
        e = file_read(real, &f->text, reterr);
        (void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
        if (e == ERR_OK && !is_own) {
            e = path_make(f->copy, NULL, "%s.gillnet-%s", real, when);
        }
        if (e == ERR_OK && !is_own) {
            e = write_as(f, f->copy, buf_slice(&f->text), reterr);
        }
    }
    if (e != ERR_OK) {
        buf_fini(&f->text);
        return e;
    }
    s->nfiles++;
    if (*f->copy != '\0') {
        setup_say(s, "done", "keep %s as %s", real, f->copy);
    }
    return ERR_OK;
}

enum err setup_write(struct setup *s, const char *path, bool is_own, struct slice text,
                     struct errinfo *reterr)
{
    char real[FILE_PATH_MAX];
    enum err e = setup_keep(s, path, is_own, reterr);

    if (e != ERR_OK) {
        return e;
    }
    resolve(path, real);
    return write_as(kept(s, real), real, text, reterr);
}

static void file_back(struct setup *s, const struct setup_file *f)
{
    struct errinfo why = {0};
    struct buf now;
    bool is_same = false;

    buf_init(&now, FILE_MAX);
    if (!f->was_there) {
        if (unlink(f->path) == 0) {
            setup_say(s, "back", "removed %s", f->path);
        }
    } else {
        is_same = file_read(f->path, &now, &why) == ERR_OK &&
                  slice_eq(buf_slice(&now), buf_slice(&f->text));
        if (!is_same && write_as(f, f->path, buf_slice(&f->text), &why) != ERR_OK) {
            (void)cli_fail(&why);
            setup_say(s, "back", "could not put %s back%s%s", f->path,
                      *f->copy != '\0' ? ": copy this over it: " : "", f->copy);
            buf_fini(&now);
            return;
        }
        setup_say(s, "back", "%s is as it was", f->path);
        if (*f->copy != '\0') {
            (void)unlink(f->copy);
        }
    }
    buf_fini(&now);
}

void setup_put_back(struct setup *s)
{
    for (size_t i = s->nfiles; i > 0; i--) {
        file_back(s, &s->files[i - 1]);
    }
    for (size_t i = s->nfolders; i > 0; i--) {
        const struct setup_folder *f = &s->folders[i - 1];

        if (!f->was_there) {
            (void)rmdir(f->path); /* a folder with new files stays */
        } else if (chown(f->path, (uid_t)-1, f->gid) == 0) {
            (void)chmod(f->path, f->mode);
        }
    }
}

void setup_forget(struct setup *s)
{
    for (size_t i = 0; i < s->nfiles; i++) {
        buf_fini(&s->files[i].text);
    }
    s->nfiles = 0;
}
