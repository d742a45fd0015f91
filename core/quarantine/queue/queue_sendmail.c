/* queue_sendmail - Sendmail's quarantine: the queue files hf... and df... */
#include <sys/file.h>

#include "core/base/dir_walk.h"
#include "core/quarantine/queue/held_list.h"
#include "core/quarantine/queue/queue.h"
#include "core/quarantine/queue/run_program.h"
#include "core/quarantine/queue/sendmail_folders.h"
#include "core/quarantine/queue/sendmail_held.h"

enum {
    CF_MAX = 4 << 20,
    ENVELOPE_MAX = 4 << 20, /* bytes of an hf file */
    ID_LEAST = 14           /* characters of an id since Sendmail 8.12 */
};

/* The folders of the queues. */
struct spool {
    struct sendmail_folders folders;
};

static enum err open_spool(const struct queue *q, struct spool **ret,
                           struct errinfo *reterr)
{
    struct spool *s = calloc(1, sizeof(*s));
    struct buf cf;
    enum err e = s != NULL ? ERR_OK : errinfo_nomem(reterr, "queue");

    buf_init(&cf, CF_MAX);
    THEN(e, file_read(q->mta_config[0] != '\0' ? q->mta_config : QUEUE_SENDMAIL_CF, &cf,
                      reterr));
    THEN(e, sendmail_folders_find(buf_slice(&cf), &s->folders, reterr));
    buf_fini(&cf);
    if (e != ERR_OK) {
        free(s);
        s = NULL;
    }
    *ret = s;
    return e;
}

static enum err envelopes_of(const struct sendmail_folder *f, char ret[FILE_PATH_MAX],
                             struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s%s", f->path, f->has_qf ? "/qf" : "");
}

/* An open envelope. */
struct envelope {
    const struct sendmail_folder *folder;
    char path[FILE_PATH_MAX];
    char data[FILE_PATH_MAX]; /* the df file */
    struct buf text;
    uint64_t data_bytes;
};

static bool is_known_folder(const struct spool *s, struct slice path)
{
    for (size_t i = 0; i < s->folders.n; i++) {
        const char *known = s->folders.v[i].path;
        struct slice rest = slice_from(path, strlen(known));

        if (slice_has_prefix(path, slice_str(known)) &&
            (rest.n == 0 || slice_eq(rest, SLICE_LIT("/df")))) {
            return true;
        }
    }
    return false;
}

/* The path of the df file; the one that the envelope names must be a folder of sendmail.cf. */
static enum err find_data(const struct spool *s, struct envelope *ev, const char *id,
                          struct errinfo *reterr)
{
    struct slice named = sendmail_held_data_folder(buf_slice(&ev->text));
    struct stat st;
    enum err e = is_known_folder(s, named)
                     ? path_make(ev->data, reterr, "%.*s/df%s",
                                 SLICE_ARGS(slice_head(named, FILE_PATH_MAX)), id)
                     : path_make(ev->data, reterr, "%s%s/df%s", ev->folder->path,
                                 ev->folder->has_df ? "/df" : "", id);

    ev->data_bytes = e == ERR_OK && lstat(ev->data, &st) == 0 && st.st_size > 0
                         ? (uint64_t)st.st_size
                         : 0;
    return e;
}

/* Reads the envelope of id in a folder. ERR_NOT_FOUND: there is none. */
static enum err read_envelope(const struct spool *s, const struct sendmail_folder *f,
                              const char *id, struct envelope *ret,
                              struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    enum err e = envelopes_of(f, folder, reterr);

    ret->folder = f;
    buf_init(&ret->text, ENVELOPE_MAX);
    THEN(e, path_make(ret->path, reterr, "%s/hf%s", folder, id));
    THEN(e, file_read(ret->path, &ret->text, reterr));
    THEN(e, find_data(s, ret, id, reterr));
    return e;
}

/* ---- list ---- */

/* The id in the name of an envelope; NULL for other names. */
static const char *id_in_name(const char *name)
{
    const char *id = name + 2;

    return strncmp(name, "hf", 2) == 0 && quarantine_is_id(slice_str(id)) ? id : NULL;
}

/* An envelope that cannot be read, or that Sendmail changes meanwhile, is left out. */
static void list_envelope(const struct spool *s, const struct sendmail_folder *f,
                          const char *id, struct held_list *l)
{
    struct held *next = held_list_next(l);
    struct envelope ev;

    if (next == NULL) {
        return;
    }
    if (read_envelope(s, f, id, &ev, NULL) == ERR_OK &&
        sendmail_held_read(buf_slice(&ev.text), next, l->arena)) {
        next->id = arena_copy(l->arena, slice_str(id));
        next->bytes = ev.data_bytes;
        l->n++;
    }
    buf_fini(&ev.text);
}

static enum err list_folder(const struct spool *s, const struct sendmail_folder *f,
                            struct held_list *l, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    enum err e = envelopes_of(f, folder, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(folder, DIR_NEEDED);
    while (dir_walk_next(&w)) {
        const char *id = id_in_name(w.name);

        if (id != NULL) {
            list_envelope(s, f, id, l);
        }
    }
    return dir_walk_end(&w, ERR_OK, reterr);
}

enum err queue_sendmail_list(const struct queue *q, struct buf *ret,
                             struct errinfo *reterr)
{
    struct spool *s = NULL;
    struct held_list l;
    enum err e = held_list_init(&l, reterr);

    THEN(e, open_spool(q, &s, reterr));
    for (size_t i = 0; e == ERR_OK && i < s->folders.n; i++) {
        e = list_folder(s, &s->folders.v[i], &l, reterr);
    }
    if (e == ERR_OK) {
        held_list_sort(&l);
        e = held_list_print(&l, ret, reterr);
    }
    free(s);
    held_list_fini(&l);
    return e;
}

/* ---- one message ---- */

/* Finds the envelope of a held message. The caller frees ret->text, also after a failure. */
static enum err find_held(const struct spool *s, const char *id, struct envelope *ret,
                          struct errinfo *reterr)
{
    buf_init(&ret->text, ENVELOPE_MAX);
    for (size_t i = 0; strlen(id) >= ID_LEAST && i < s->folders.n; i++) {
        enum err e = read_envelope(s, &s->folders.v[i], id, ret, reterr);

        if (e != ERR_NOT_FOUND) {
            return e;
        }
        buf_fini(&ret->text);
    }
    return queue_not_held(slice_str(id), reterr);
}

enum err queue_sendmail_show(const struct queue *q, const char *id, struct buf *ret,
                             struct errinfo *reterr)
{
    struct spool *s = NULL;
    struct envelope ev;
    enum err e = open_spool(q, &s, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = find_held(s, id, &ev, reterr);
    if (e == ERR_OK) {
        sendmail_held_header(buf_slice(&ev.text), ret);
        buf_add_char(ret, '\n');
        e = file_read(ev.data, ret, reterr);
    }
    buf_fini(&ev.text);
    free(s);
    return e;
}

/* Runs sendmail [-C FILE] ARGS... */
static enum err run_sendmail(const struct queue *q, const char *first,
                             const char *second, const char *third,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const char *argv[RUN_ARGS_MAX] = {path};
    size_t n = 1;
    enum err e = queue_program(q, "sendmail", path, reterr);

    if (q->mta_config[0] != '\0') {
        argv[n++] = "-C";
        argv[n++] = q->mta_config;
    }
    argv[n++] = first;
    argv[n++] = second;
    argv[n] = third;
    THEN(e, run_change(argv, reterr));
    return e;
}

/* Sendmail takes every quarantined message whose id contains the text of -qI: there must be one. */
static enum err must_be_alone(const struct spool *s, const char *id,
                              struct errinfo *reterr)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->folders.n; i++) {
        char folder[FILE_PATH_MAX];

        if (envelopes_of(&s->folders.v[i], folder, reterr) != ERR_OK) {
            continue;
        }
        struct dir_walk w = dir_walk_begin(folder, DIR_OPTIONAL);
        while (dir_walk_next(&w)) {
            n += strncmp(w.name, "hf", 2) == 0 && strstr(w.name + 2, id) != NULL;
        }
        (void)dir_walk_end(&w, ERR_OK, NULL);
    }
    return n == 1 ? ERR_OK
                  : errinfo_set(reterr, ERR_EXISTS, id, 0,
                                "%u held messages have this in their id", n);
}

enum err queue_sendmail_release(const struct queue *q, const char *id,
                                struct errinfo *reterr)
{
    char match[QUARANTINE_ID_MAX + sizeof("-qI")];
    struct spool *s = NULL;
    struct envelope ev;
    enum err e = open_spool(q, &s, reterr);

    if (e != ERR_OK) {
        return e;
    }
    (void)snprintf(match, sizeof(match), "-qI%s", id);
    e = find_held(s, id, &ev, reterr);
    THEN(e, must_be_alone(s, id, reterr));
    THEN(e, run_sendmail(q, "-qQ", "-Q", match, reterr));
    if (e == ERR_OK && access(ev.path, F_OK) == 0) {
        e = errinfo_set(reterr, ERR_LOCKED, id, 0,
                        "Sendmail did not release it; try again in a moment");
    }
    if (e == ERR_OK && q->delivers) {
        (void)run_sendmail(q, match, NULL, NULL, NULL);
    }
    buf_fini(&ev.text);
    free(s);
    return e;
}

/* Takes both locks of which Sendmail takes one. Sendmail locks the envelope while it works on a
 * message. */
static bool lock_envelope(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fcntl(fd, F_SETLK, &whole) == 0;
}

/* The envelope goes first: without it the body is no message. */
static enum err remove_message(const struct envelope *ev, const char *id,
                               struct errinfo *reterr)
{
    int fd = open(ev->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat opened;
    struct stat named;
    enum err e = ERR_OK;

    if (fd < 0 && errno == ENOENT) {
        return queue_not_held(slice_str(id), reterr);
    }
    if (fd < 0) {
        return errinfo_errno(reterr, ev->path, "cannot be opened");
    }
    if (!lock_envelope(fd) || fstat(fd, &opened) != 0 || lstat(ev->path, &named) != 0 ||
        opened.st_ino != named.st_ino || !S_ISREG(opened.st_mode)) {
        e = errinfo_set(reterr, ERR_LOCKED, id, 0,
                        "Sendmail works on this message; try again in a moment");
    } else if (unlink(ev->path) != 0 || (unlink(ev->data) != 0 && errno != ENOENT)) {
        e = errinfo_errno(reterr, ev->path, "cannot be removed");
    }
    fd_close(&fd);
    return e;
}

enum err queue_sendmail_delete(const struct queue *q, const char *id,
                               struct errinfo *reterr)
{
    struct spool *s = NULL;
    struct envelope ev;
    enum err e = open_spool(q, &s, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = find_held(s, id, &ev, reterr);
    THEN(e, remove_message(&ev, id, reterr));
    buf_fini(&ev.text);
    free(s);
    return e;
}
