/* origins - a few lines of text that only the hub writes. */
#include "core/store/origins.h"

#include "core/base/file.h"
#include "core/base/hash256.h"

enum { FILE_MODE = 0640, BYTES_MAX = 64 << 10, VERSION = 1 };

static const char *const states[] = {
    [ORIGIN_ACTIVE] = "active",
    [ORIGIN_LEFT] = "left",
    [ORIGIN_DROPPED] = "dropped",
    [ORIGIN_DISTRUSTED] = "distrusted",
};
enum { STATES = LENGTH(states) };

#define RING_FILE          "origins"
#define SUBSCRIPTIONS_FILE "origins.subscriptions"

/* ---- reading ---- */

static bool is_name(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool ok =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!ok) {
            return false;
        }
    }
    return s.n > 0 && s.n <= ORIGIN_NAME_MAX;
}

/* ORIGIN NAME CAP STATE [OWNER] */
static bool parse_row(struct slice line, struct origin_row *ret)
{
    *ret = (struct origin_row){.cap = 0};
    struct slice origin = slice_cut(&line, ' ');
    struct slice name = slice_cut(&line, ' ');
    struct slice cap = slice_cut(&line, ' ');
    struct slice state = slice_cut(&line, ' ');
    bool has_owner = line.p != NULL;
    int known = name_index(state, states, STATES);
    if (!hex_parse(origin, ret->origin, ORIGIN_BYTES) || !is_name(name) ||
        !slice_to_u64(cap, 10, UINT64_MAX, &ret->cap) || known < 0 ||
        (has_owner && !hex_parse(line, ret->owner, ORIGIN_BYTES))) {
        return false;
    }
    ret->state = (enum origin_state)known;
    memcpy(ret->name, name.p, name.n);
    return true;
}

bool origin_is_own(const struct origin_row *row)
{
    static const uint8_t nobody[ORIGIN_BYTES];

    return memcmp(row->owner, nobody, ORIGIN_BYTES) == 0 ||
           memcmp(row->owner, row->origin, ORIGIN_BYTES) == 0;
}

static bool is_double(const struct origins *o, const struct origin_row *row)
{
    for (unsigned i = 0; i < o->n; i++) {
        if (memcmp(o->v[i].origin, row->origin, ORIGIN_BYTES) == 0 ||
            strcmp(o->v[i].name, row->name) == 0) {
            return true;
        }
    }
    return false;
}

static enum err bad_line(const char *path, unsigned line, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_SYNTAX, path, line,
                       "not what the hub writes here; until it writes the file again "
                       "(restart gillnet-hub) nothing of peers counts");
}

static enum err check_version(struct slice line, const char *path,
                              struct errinfo *reterr)
{
    uint64_t version = 0;

    if (!slice_eq(slice_cut(&line, ' '), SLICE_LIT("gillnet-origins")) ||
        !slice_to_u64(line, 10, UINT64_MAX, &version)) {
        return bad_line(path, 1, reterr);
    }
    return version == VERSION
               ? ERR_OK
               : errinfo_set(reterr, ERR_VERSION, path, 1,
                             "a file of another version of gillnet (%" PRIu64
                             "); update gillnetd and gillnet-hub together",
                             version);
}

/* Cuts the next line, which must end in a newline. */
static bool cut_line(struct slice *text, struct slice *ret)
{
    bool has_end = slice_find(*text, '\n') < text->n;

    *ret = slice_cut(text, '\n');
    return has_end;
}

static enum err parse_rows(struct slice text, const char *path, struct origins *o,
                           struct errinfo *reterr)
{
    struct slice line;

    for (unsigned number = 4; text.n > 0; number++) {
        if (!cut_line(&text, &line) || o->n == ORIGINS_MAX ||
            !parse_row(line, &o->v[o->n]) || is_double(o, &o->v[o->n])) {
            return bad_line(path, number, reterr);
        }
        o->v[o->n].is_same_owner = o->quorum == 0;
        o->n++;
    }
    return ERR_OK;
}

static enum err parse_origins(struct slice text, const char *path, struct origins *o,
                              struct errinfo *reterr)
{
    uint64_t quorum = 0;
    struct slice line;
    if (!cut_line(&text, &line)) {
        return bad_line(path, 1, reterr);
    }
    enum err e = check_version(line, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (!cut_line(&text, &line) ||
        !slice_eq(slice_cut(&line, ' '), SLICE_LIT("self")) ||
        !hex_parse(line, o->self, ORIGIN_BYTES)) {
        return bad_line(path, 2, reterr);
    }
    if (!cut_line(&text, &line) ||
        !slice_eq(slice_cut(&line, ' '), SLICE_LIT("quorum")) ||
        !slice_to_u64(line, 10, ORIGINS_MAX, &quorum)) {
        return bad_line(path, 3, reterr);
    }
    o->quorum = (unsigned)quorum;
    return parse_rows(text, path, o, reterr);
}

static enum err read_one(const char *state_dir, const char *file, struct origins *ret,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;

    *ret = (struct origins){.n = 0};
    enum err e = path_make(path, reterr, "%s/peers/%s", state_dir, file);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&text, BYTES_MAX);
    e = file_read(path, &text, reterr);
    if (e == ERR_OK) {
        ret->v = calloc(ORIGINS_MAX, sizeof(ret->v[0]));
        e = ret->v == NULL ? errinfo_nomem(reterr, path)
                           : parse_origins(buf_slice(&text), path, ret, reterr);
    }
    buf_fini(&text);
    if (e != ERR_OK) {
        origins_fini(ret);
    }
    return e;
}

/* A publisher who is a member of the ring too, or has a member's name, is that member. */
static void add_subscriptions(struct origins *o, const struct origins *more)
{
    for (unsigned i = 0; i < more->n && o->n < ORIGINS_MAX; i++) {
        if (!is_double(o, &more->v[i])) {
            o->v[o->n] = more->v[i];
            o->v[o->n].is_same_owner = false;
            o->v[o->n++].cap = 0;
        }
    }
}

enum err origins_read(const char *state_dir, struct origins *ret,
                      struct errinfo *reterr)
{
    struct origins more;
    enum err ring = read_one(state_dir, RING_FILE, ret, reterr);
    if (ring != ERR_OK && ring != ERR_NOT_FOUND) {
        return ring;
    }
    enum err e = read_one(state_dir, SUBSCRIPTIONS_FILE, &more, reterr);
    if (e == ERR_NOT_FOUND) {
        return ring;
    }
    if (e != ERR_OK) {
        origins_fini(ret);
        return e;
    }
    if (ring == ERR_NOT_FOUND) {
        for (unsigned i = 0; i < more.n; i++) {
            more.v[i].cap = 0;
            more.v[i].is_same_owner = false;
        }
        *ret = more;
        return ERR_OK;
    }
    add_subscriptions(ret, &more);
    origins_fini(&more);
    return ERR_OK;
}

/* ---- writing ---- */

static void print(const struct origins *o, struct buf *ret)
{
    char hex[2 * ORIGIN_BYTES + 1];

    hex_print(o->self, ORIGIN_BYTES, hex);
    buf_printf(ret, "gillnet-origins %d\nself %s\nquorum %u\n", VERSION, hex,
               o->quorum);
    for (unsigned i = 0; i < o->n; i++) {
        const struct origin_row *row = &o->v[i];
        hex_print(row->origin, ORIGIN_BYTES, hex);
        buf_printf(ret, "%s %s %" PRIu64 " %s", hex, row->name, row->cap,
                   states[row->state]);
        if (!origin_is_own(row)) {
            hex_print(row->owner, ORIGIN_BYTES, hex);
            buf_printf(ret, " %s", hex);
        }
        buf_add_char(ret, '\n');
    }
}

static enum err write_one(const char *state_dir, const char *file,
                          const struct origins *o, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;

    if (o->n > ORIGINS_MAX || o->quorum > ORIGINS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, state_dir, 0, "more than %d origins",
                           ORIGINS_MAX);
    }
    for (unsigned i = 0; i < o->n; i++) {
        if (!is_name(slice_str(o->v[i].name)) || (unsigned)o->v[i].state >= STATES) {
            return errinfo_set(reterr, ERR_RANGE, state_dir, 0,
                               "origin %u has no name or state that can be written", i);
        }
    }
    enum err e = path_make(path, reterr, "%s/peers/%s", state_dir, file);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&text, BYTES_MAX);
    print(o, &text);
    e = buf_failed(&text)
            ? errinfo_nomem(reterr, path)
            : file_write_atomic(path, buf_slice(&text), FILE_MODE, reterr);
    buf_fini(&text);
    return e;
}

enum err origins_write(const char *state_dir, const struct origins *o,
                       struct errinfo *reterr)
{
    return write_one(state_dir, RING_FILE, o, reterr);
}

enum err origins_write_subscriptions(const char *state_dir, const struct origins *o,
                                     struct errinfo *reterr)
{
    return write_one(state_dir, SUBSCRIPTIONS_FILE, o, reterr);
}

/* ---- life ---- */

void origins_fini(struct origins *o)
{
    free(o->v);
    *o = (struct origins){.n = 0};
    o->v = NULL; /* after it: the analyser takes an assigned struct for unknown */
}

const struct origin_row *origins_find(const struct origins *o,
                                      const uint8_t origin[ORIGIN_BYTES])
{
    for (unsigned i = 0; i < o->n; i++) {
        if (memcmp(o->v[i].origin, origin, ORIGIN_BYTES) == 0) {
            return &o->v[i];
        }
    }
    return NULL;
}
