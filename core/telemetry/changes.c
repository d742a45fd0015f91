/* changes - kinds, ids, and the line that is appended. */
#include "core/telemetry/changes.h"

#include <jansson.h>
#include <sys/file.h>

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/base/user.h"
#include "core/base/utf8.h"
#include "core/telemetry/changes_file.h"

enum { FILE_MODE = 0660, PAUSE_NS = 2000000, US_PER_S = 1000000, MS_US = 1000 };

static const struct {
    const char *name;
    enum change_undo undo;
} kinds[CHANGE_KINDS] = {
#define CHANGE_KIND(kind, name, undo) {name, undo},
#include "core/telemetry/changes.def"
#undef CHANGE_KIND
};

const char *change_kind_name(enum change_kind kind)
{
    return kinds[kind].name;
}

enum change_kind change_kind_by_name(struct slice name)
{
    unsigned i = 0;

    while (i < CHANGE_KINDS && !slice_eq(name, slice_str(kinds[i].name))) {
        i++;
    }
    return (enum change_kind)i;
}

enum change_undo change_undo_of(enum change_kind kind)
{
    return kinds[kind].undo;
}

struct slice change_state(struct slice text)
{
    return text.n > 0 ? text : SLICE_LIT("");
}

/* ---- ids ---- */

const char *change_id_print(uint64_t id, char dst[CHANGE_ID_SIZE])
{
    (void)snprintf(dst, CHANGE_ID_SIZE, "%" PRIu32 "-%" PRIu32, (uint32_t)(id >> 32),
                   (uint32_t)id);
    return dst;
}

bool change_id_read(struct slice text, uint64_t *ret)
{
    const struct slice file = slice_cut(&text, '-');
    uint64_t number = 0;
    uint64_t at = 0;

    if (!slice_to_u64(file, 10, UINT32_MAX, &number) || number == 0 ||
        !slice_to_u64(text, 10, UINT32_MAX, &at)) {
        return false;
    }
    *ret = number << 32 | at;
    return true;
}

/* ---- a line ---- */

/* As JSON; control characters and bytes that are no UTF-8 are replaced, so that JSON at most
 * doubles the length. *io_same: false if any was, or if the text is longer than most, and cut. */
static json_t *text_json(struct slice text, size_t most, bool *io_same)
{
    struct buf b;
    json_t *ret = NULL;

    buf_init(&b, most);
    for (size_t i = 0; i < text.n;) {
        const unsigned char *p = (const unsigned char *)text.p + i;
        const size_t n = *p < ' ' || *p == 0x7f ? 0 : utf8_length(p, text.n - i);
        const struct slice one = n > 0 ? slice_of(p, n) : SLICE_LIT("\xef\xbf\xbd");

        *io_same = *io_same && n > 0;
        if (b.n + one.n > most) {
            *io_same = false;
            break;
        }
        buf_add(&b, one);
        i += n > 0 ? n : 1;
    }
    if (!buf_failed(&b)) {
        ret = json_stringn(b.n > 0 ? b.p : "", b.n);
    }
    buf_fini(&b);
    return ret;
}

static void add_change_text(json_t *line, const char *name, struct slice text)
{
    bool is_same = true;

    if (text.n > 0) {
        (void)json_object_set_new(line, name,
                                  text_json(text, CHANGES_TEXT_MAX, &is_same));
    }
}

/* Whole or not at all; the empty state is one, too. */
static void add_state(json_t *line, const char *name, struct slice state)
{
    bool is_same = true;
    json_t *text =
        state.p != NULL ? text_json(state, CHANGES_STATE_MAX, &is_same) : NULL;

    if (is_same && text != NULL) {
        (void)json_object_set_new(line, name, text);
    } else {
        json_decref(text);
    }
}

static void add_values(json_t *line, const struct change *c)
{
    const uint64_t count = c->count > c->nvalues ? c->count : c->nvalues;
    size_t left = CHANGES_VALUES_BYTES;
    json_t *kept = json_array();

    for (size_t i = 0; i < c->nvalues && i < CHANGES_VALUES_MAX; i++) {
        bool is_same = true;
        json_t *text = c->values[i].n <= left
                           ? text_json(c->values[i], c->values[i].n * 3, &is_same)
                           : NULL;

        if (text != NULL && is_same) {
            left -= c->values[i].n;
            (void)json_array_append_new(kept, text);
        } else {
            json_decref(text);
        }
    }
    (void)json_object_set_new(line, "values", kept);
    (void)json_object_set_new(line, "count", json_integer((json_int_t)count));
}

/* Adds the line with its end. False: no memory. */
static bool print_change(const struct change *c, struct buf *ret)
{
    json_t *line =
        json_pack("{s:I, s:s}", "time", (json_int_t)(clock_wall_us() / US_PER_S),
                  "kind", kinds[c->kind].name);

    add_change_text(line, "who", c->who);
    add_change_text(line, "way", c->way);
    add_change_text(line, "object", c->object);
    add_state(line, "before", c->before);
    add_state(line, "after", c->after);
    add_change_text(line, "reason", c->reason);
    add_change_text(line, "result", c->result);
    add_change_text(line, "undoes", c->undoes);
    if (c->nvalues > 0 || c->count > 0) {
        add_values(line, c);
    }
    char *text = json_dumps(line, JSON_COMPACT);

    if (text != NULL) {
        buf_add_str(ret, text);
        buf_add_char(ret, '\n');
    }
    json_decref(line);
    free(text);
    return text != NULL && !buf_failed(ret);
}

/* ---- the folder ---- */

/* For the group of hub and gillnetd alone, because the log names people. */
static enum err make_dir(const char *state_dir, const char *dir, struct errinfo *reterr)
{
    struct statedir_owner owner;
    struct stat st;
    gid_t group = 0;

    if (lstat(dir, &st) == 0) {
        return ERR_OK;
    }
    enum err e = file_make_dir(dir, STATEDIR_KEYS_MODE, reterr);
    statedir_owner(state_dir, STATE_CHANGES_DIR, &owner);
    if (e == ERR_OK && owner.uid != (uid_t)-1) {
        (void)!lchown(dir, owner.uid, owner.gid); /* statedir_settle tries it again */
    } else if (e == ERR_OK && group_find(STATEDIR_KEYS_GROUP, &group)) {
        (void)!lchown(dir, (uid_t)-1, group); /* a member may */
    }
    if (e == ERR_OK) {
        (void)chmod(dir, STATEDIR_KEYS_MODE);
    }
    return e;
}

enum err changes_lock(const char *dir, int *ret, struct errinfo *reterr)
{
    static const struct timespec pause = {0, PAUSE_NS};
    const uint64_t until_us = clock_mono_us() + (uint64_t)CHANGES_WAIT_MS * MS_US;
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    *ret = fd;
    if (fd < 0) {
        return errinfo_errno(reterr, dir, "the log of changes cannot be opened");
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return errinfo_errno(reterr, dir, "the log of changes cannot be locked");
        }
        if (clock_mono_us() > until_us) {
            return errinfo_set(reterr, ERR_LOCKED, dir, 0,
                               "another process holds the log of changes");
        }
        (void)nanosleep(&pause, NULL);
    }
    return ERR_OK;
}

enum err changes_file_names(const char *dir, uint32_t *retleast, uint32_t *retmost,
                            struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);

    *retleast = UINT32_MAX;
    *retmost = 0;
    while (dir_walk_next(&w)) {
        struct slice name = slice_str(w.name);
        uint64_t n = 0;

        if (slice_has_prefix(name, SLICE_LIT(CHANGES_FILE)) &&
            slice_to_u64(slice_from(name, sizeof(CHANGES_FILE) - 1), 10, UINT32_MAX - 1,
                         &n) &&
            n > 0) {
            *retleast = n < *retleast ? (uint32_t)n : *retleast;
            *retmost = n > *retmost ? (uint32_t)n : *retmost;
        }
    }
    return dir_walk_end(&w, ERR_OK, reterr);
}

/* The newest file, open at its end, with a whole last line. */
static enum err open_newest(const char *dir, uint32_t number, int *ret,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    char last = '\n';
    enum err e = path_make(path, reterr, "%s/" CHANGES_FILE "%" PRIu32, dir, number);

    if (e != ERR_OK) {
        return e;
    }
    const int fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
             FILE_MODE);
    *ret = fd;
    if (fd < 0 || fstat(fd, &st) != 0) {
        return errinfo_errno(reterr, path, "the log of changes cannot be opened");
    }
    if (st.st_size == 0) {
        (void)fchmod(fd, FILE_MODE); /* whatever the umask is */
    } else if (file_read_at(fd, (uint64_t)st.st_size - 1, &last, 1) != 1 ||
               (last != '\n' && !file_write_all(fd, SLICE_LIT("\n")))) {
        return errinfo_errno(reterr, path, "the log of changes cannot be read");
    }
    return ERR_OK;
}

/* The number of the file that the next line goes to. */
static uint32_t number_for_next(const char *dir, uint32_t most)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    if (most == 0) {
        return 1;
    }
    const bool is_full =
        path_make(path, NULL, "%s/" CHANGES_FILE "%" PRIu32, dir, most) == ERR_OK &&
        stat(path, &st) == 0 && st.st_size >= CHANGES_FILE_BYTES;
    return is_full ? most + 1 : most;
}

static void remove_old(const char *dir)
{
    char path[FILE_PATH_MAX];
    uint32_t least = 0;
    uint32_t most = 0;

    for (unsigned i = 0; i < CHANGES_FILES; i++) {
        if (changes_file_names(dir, &least, &most, NULL) != ERR_OK || least > most ||
            most - least < CHANGES_FILES ||
            path_make(path, NULL, "%s/" CHANGES_FILE "%" PRIu32, dir, least) !=
                ERR_OK) {
            return;
        }
        (void)unlink(path);
    }
}

static enum err append_line(const char *dir, struct slice line, struct errinfo *reterr)
{
    uint32_t least = 0;
    uint32_t most = 0;
    int fd = -1;
    enum err e = changes_file_names(dir, &least, &most, reterr);
    const uint32_t number = e == ERR_OK ? number_for_next(dir, most) : 0;

    THEN(e, open_newest(dir, number, &fd, reterr));
    if (e == ERR_OK && (!file_write_all(fd, line) || fdatasync(fd) != 0)) {
        e = errinfo_errno(reterr, dir, "the change cannot be noted");
    }
    fd_close(&fd);
    if (e == ERR_OK && number > most) {
        e = file_sync_dir(dir, reterr);
        remove_old(dir);
    }
    return e;
}

enum err changes_note(const char *state_dir, const struct change *c,
                      struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    int lock = -1;
    struct buf line;

    buf_init(&line, CHANGES_LINE_MAX);
    enum err e =
        print_change(c, &line) ? ERR_OK : errinfo_nomem(reterr, STATE_CHANGES_DIR);

    THEN(e, path_make(dir, reterr, "%s/" STATE_CHANGES_DIR, state_dir));
    THEN(e, make_dir(state_dir, dir, reterr));
    THEN(e, changes_lock(dir, &lock, reterr));
    THEN(e, append_line(dir, buf_slice(&line), reterr));
    fd_close(&lock);
    buf_fini(&line);
    return e;
}
