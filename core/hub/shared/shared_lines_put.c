/*
 * shared_lines_put - the filters of this server's lists, and their parts in the store.
 *
 * A look at a filter goes once round its parts: EXPIRE says whether a part is there and keeps it;
 * one that is not is put. All servers with this filter do so, each from another part on, so that a
 * part is put once as a rule, and twice does no harm.
 */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/hub/shared/shared_lines_internal.h"
#include "core/list/level.h"

enum { US_PER_S = 1000000, NAMES_BYTES = 64 * 1024, LOOK_LEAST_US = 100000 };

/* ---- which filters there are ---- */

struct lines_filter *lines_filter_of_id(struct shared_lines *l,
                                        const uint8_t id[BLOOMFILE_ID_BYTES])
{
    for (size_t i = 0; i < l->nfilters; i++) {
        if (memcmp(l->filter[i]->file.id, id, BLOOMFILE_ID_BYTES) == 0) {
            return l->filter[i];
        }
    }
    return NULL;
}

struct lines_filter *lines_filter_of_serial(struct shared_lines *l, uint32_t serial)
{
    for (size_t i = 0; i < l->nfilters; i++) {
        if (l->filter[i]->serial == serial) {
            return l->filter[i];
        }
    }
    return NULL;
}

static void filter_free(struct lines_filter *f)
{
    bloomfile_close(&f->file);
    free(f);
}

void lines_filters_free(struct shared_lines *l)
{
    while (l->nfilters > 0) {
        filter_free(l->filter[--l->nfilters]);
    }
}

static void say_trouble(struct shared_lines *l, const struct errinfo *why)
{
    if (strcmp(l->trouble, why->text) != 0) {
        (void)snprintf(l->trouble, sizeof(l->trouble), "%s", why->text);
        log_errinfo("store_lines", why);
    }
}

/* Whether the file of this level is open already. */
static bool is_open(struct shared_lines *l, const char *list, uint64_t number,
                    const struct file_mark *mark)
{
    for (size_t i = 0; i < l->nfilters; i++) {
        struct lines_filter *f = l->filter[i];

        if (f->number == number && strcmp(f->list, list) == 0 &&
            file_mark_eq(&f->mark, mark)) {
            f->is_seen = true;
            return true;
        }
    }
    return false;
}

static void filter_enter(struct shared_lines *l, struct lines_filter *f)
{
    if (l->nfilters == LINES_FILTERS_MAX) {
        filter_free(f);
        return;
    }
    f->is_seen = true;
    f->serial = ++l->serial;
    f->nparts = (f->file.bloom.nlines + LINES_PART - 1) / LINES_PART;
    l->filter[l->nfilters++] = f;
    log_info("event=store_filter list=%s level=%" PRIu64 " lines=%" PRIu64
             " parts=%" PRIu64,
             f->list, f->number, f->file.bloom.nlines, f->nparts);
}

struct reading {
    struct shared_lines *lines;
    const struct keyring *keys;
    const char *list;
    const char *dir;
    const struct hashkey *key; /* of the list */
};

static enum err level_read(const struct reading *r, uint64_t number,
                           struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, r->dir, LIST_FILE_BASE, number, reterr);
    struct file_mark mark = e == ERR_OK ? file_mark_of(path) : (struct file_mark){0};
    struct bloomfile_want want = {.key = &r->keys->node,
                                  .other_key = r->key,
                                  .digest_key = r->key->id,
                                  .role = BLOOMFILE_BASE,
                                  .hold = BLOOMFILE_REMOTE};

    if (e != ERR_OK || is_open(r->lines, r->list, number, &mark) ||
        level_base_hold(path, BLOOMFILE_REMOTE) != BLOOMFILE_REMOTE) {
        return e;
    }
    struct lines_filter *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return errinfo_nomem(reterr, path);
    }
    f->number = number;
    f->mark = mark;
    f->key = *r->key;
    (void)snprintf(f->list, sizeof(f->list), "%s", r->list);
    e = bloomfile_open(&f->file, path, &want, reterr);
    if (e != ERR_OK) {
        free(f);
        return e;
    }
    filter_enter(r->lines, f);
    return ERR_OK;
}

/* Opens the filters of a list whose CURRENT changed. */
static enum err list_read(struct shared_lines *l, const char *list, const char *dir,
                          struct errinfo *reterr)
{
    struct keyring keys;
    struct list_current c;
    struct hashkey key;
    enum err e = keyring_load(shared_config(l->shared)->state_dir, &keys, reterr);

    THEN(e, current_read(dir, LIST_CURRENT, &c, reterr));
    THEN(e, current_key(&c, &keys, dir, &key, reterr));
    const struct reading r = {l, &keys, list, dir, &key};
    for (uint32_t i = 0; e == ERR_OK && i < c.nlevels; i++) {
        e = level_read(&r, c.level[i].number, reterr);
    }
    return e;
}

static struct lines_list *list_find(struct shared_lines *l, struct slice name)
{
    for (size_t i = 0; i < l->nlists; i++) {
        if (slice_eq(slice_str(l->list[i].name), name)) {
            return &l->list[i];
        }
    }
    if (l->nlists == LINES_LISTS_MAX) {
        return NULL;
    }
    struct lines_list *x = &l->list[l->nlists++];
    *x = (struct lines_list){.is_seen = true};
    (void)snprintf(x->name, sizeof(x->name), "%.*s", SLICE_ARGS(name));
    return x;
}

/* The open filters of a list are seen, or have to be. */
static void filters_mark(struct shared_lines *l, const char *list, bool is_seen)
{
    for (size_t i = 0; i < l->nfilters; i++) {
        if (strcmp(l->filter[i]->list, list) == 0) {
            l->filter[i]->is_seen = is_seen;
        }
    }
}

static void list_look(struct shared_lines *l, struct slice name)
{
    char dir[FILE_PATH_MAX];
    struct errinfo why;
    struct lines_list *x = list_find(l, name);

    if (x == NULL ||
        list_dir_path(dir, shared_config(l->shared)->state_dir, name, NULL) != ERR_OK) {
        return;
    }
    struct file_mark mark = file_mark_in(dir, LIST_CURRENT);
    x->is_seen = true;
    if (file_mark_eq(&mark, &x->mark)) {
        filters_mark(l, x->name, true);
        return;
    }
    filters_mark(l, x->name, false);
    if (list_read(l, x->name, dir, &why) == ERR_OK) {
        x->mark = mark;
    } else {
        filters_mark(l, x->name, true); /* until they can be read again */
        say_trouble(l, &why);
    }
}

static void gone_note(struct lines_filter *f)
{
    if (f->is_seen) {
        f->gone_us = 0;
    } else if (f->gone_us == 0) {
        f->gone_us = clock_mono_us();
    }
}

/* Filters of generations and lists that are gone; in the store they end by themselves. */
static void filters_sweep(struct shared_lines *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->nfilters; i++) {
        struct lines_filter *f = l->filter[i];

        gone_note(f);
        if (f->gone_us != 0 &&
            clock_mono_us() >= f->gone_us + (uint64_t)LINES_GONE_S * US_PER_S) {
            filter_free(f);
        } else {
            l->filter[n++] = f;
        }
    }
    l->nfilters = n;
    n = 0;
    for (size_t i = 0; i < l->nlists; i++) {
        if (l->list[i].is_seen) {
            l->list[n++] = l->list[i];
        }
    }
    l->nlists = n;
}

static void names_look(struct shared_lines *l, struct arena *arena)
{
    const struct config *config = shared_config(l->shared);
    struct slice *names = NULL;
    struct errinfo why;
    size_t n = 0;

    if (list_names(config->state_dir, arena, &names, &n, &why) != ERR_OK) {
        say_trouble(l, &why);
        return;
    }
    for (size_t i = 0; i < l->nfilters; i++) {
        l->filter[i]->is_seen = false;
    }
    for (size_t i = 0; i < l->nlists; i++) {
        l->list[i].is_seen = false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct config_list *c = config_list_find(config, names[i]);

        if (c->enabled && c->filter_memory == FILTER_STORE) {
            list_look(l, names[i]);
        }
    }
    filters_sweep(l);
}

void lines_look(struct shared_lines *l)
{
    uint64_t now_us = clock_mono_us();

    if (l->look_us != 0 && now_us < l->look_us + LOOK_LEAST_US) {
        return;
    }
    struct arena *arena = arena_new(NAMES_BYTES);
    l->look_us = now_us;
    if (arena != NULL) {
        names_look(l, arena);
    }
    arena_free(&arena);
}

/* ---- parts ---- */

/* A call for one part. */
struct part_call {
    struct shared_lines *lines;
    uint32_t serial;
    uint64_t part;
    bool is_put;
    bool is_repair; /* not of a look */
};

static void look_go_on(struct shared_lines *l, struct lines_filter *f);
static void part_send(const struct part_call *what, struct slice key,
                      const struct slice *args, size_t nargs);

/* Line `number`, from the file; NULL: it cannot be read. */
static const char *line_read(struct shared_lines *l, const struct lines_filter *f,
                             uint64_t number)
{
    enum { BLOCK_LINES = BLOOMFILE_BLOCK_BYTES / BLOOM_LINE_BYTES };
    uint64_t block = number / BLOCK_LINES;

    if (l->block_serial != f->serial || l->block_at != block) {
        enum err e =
            bloomfile_block_read(&f->file, block, true, l->block, &l->block_bytes);
        l->block_serial = e == ERR_OK ? f->serial : 0;
        l->block_at = block;
        if (e != ERR_OK) {
            return NULL;
        }
    }
    return l->block + number % BLOCK_LINES * BLOOM_LINE_BYTES;
}

static bool part_make(struct shared_lines *l, const struct lines_filter *f,
                      uint64_t part, struct buf *ret)
{
    uint64_t first = part * LINES_PART;
    uint64_t end = first + LINES_PART;

    end = end < f->file.bloom.nlines ? end : f->file.bloom.nlines;
    for (uint64_t i = first; i < end; i++) {
        const struct line_name name = {&f->key, f->file.id, i};
        const char *line = line_read(l, f, i);
        char *to = line != NULL ? buf_extend(ret, LINE_SEALED_BYTES) : NULL;

        if (to == NULL) {
            return false;
        }
        line_seal(&name, line, (uint8_t *)to);
    }
    return true;
}

static void damage_say(struct shared_lines *l, const struct lines_filter *f)
{
    struct errinfo why;

    errinfo_set(&why, ERR_CORRUPT, f->list, 0,
                "the filter of level %" PRIu64
                " is damaged or cannot be read; run `gillnet list rebuild %s`",
                f->number, f->list);
    say_trouble(l, &why);
}

static void look_fail(struct shared_lines *l, struct lines_filter *f)
{
    f->has_failed = true;
    f->next_us = clock_mono_us() + (uint64_t)LINES_AGAIN_S * US_PER_S;
    l->status.refused++;
}

static void part_put(struct shared_lines *l, struct lines_filter *f,
                     const struct part_call *what)
{
    struct shared_name name = lines_part_name(l, f, what->part);
    struct part_call put = *what;
    struct buf value;
    char ttl[16];

    put.is_put = true;
    (void)snprintf(ttl, sizeof(ttl), "%d", LINES_TTL_S);
    buf_init(&value, (size_t)LINES_PART * LINE_SEALED_BYTES);
    if (part_make(l, f, what->part, &value)) {
        const struct slice args[] = {SLICE_LIT("SET"), slice_str(name.text),
                                     buf_slice(&value), SLICE_LIT("EX"),
                                     slice_str(ttl)};
        part_send(&put, args[1], args, LENGTH(args));
    } else {
        damage_say(l, f);
        look_fail(l, f);
    }
    buf_fini(&value);
}

/* ---- a look ---- */

static void look_end(struct shared_lines *l, struct lines_filter *f)
{
    f->is_looking = false;
    if (f->has_failed || f->has_lost) {
        return;
    }
    f->next_us = clock_mono_us() + (uint64_t)LINES_LOOK_S * US_PER_S;
    if (!f->is_complete || f->nput > 0) {
        log_info("event=store_filter list=%s level=%" PRIu64
                 " result=complete put=%" PRIu64,
                 f->list, f->number, f->nput);
    }
    f->is_complete = true;
    l->trouble[0] = '\0';
}

static void refusal_say(struct shared_lines *l, const struct redis_answer *a)
{
    struct errinfo why;
    struct slice text =
        a->fault == REDIS_FAULT_NONE ? resp_text(a->reply, 0) : slice_str(a->why);

    errinfo_set(&why, ERR_IO, "store", 0, "no filter lines are put: %.*s",
                SLICE_ARGS(slice_head(text, 200)));
    say_trouble(l, &why);
}

/* EXPIRE: 1, it is there. SET: OK. */
static void part_answered(struct shared_lines *l, struct lines_filter *f,
                          const struct part_call *what, const struct redis_answer *a)
{
    const struct resp_node *reply =
        a->fault == REDIS_FAULT_NONE ? &a->reply->nodes[0] : NULL;

    if (reply == NULL || reply->kind == RESP_ERROR) {
        refusal_say(l, a);
        look_fail(l, f);
    } else if (what->is_put) {
        f->nput++;
        l->status.put++;
    } else if (reply->number == 0) {
        part_put(l, f, what);
    }
}

static void on_part(void *context, const struct redis_answer *a)
{
    struct part_call what = *(struct part_call *)context;
    struct shared_lines *l = what.lines;
    struct lines_filter *f =
        l->is_closing ? NULL : lines_filter_of_serial(l, what.serial);

    free(context);
    l->nrepairs -= what.is_repair;
    if (f == NULL) {
        return;
    }
    f->nunder -= !what.is_repair;
    part_answered(l, f, &what, a);
    look_go_on(l, f);
}

static void part_send(const struct part_call *what, struct slice key,
                      const struct slice *args, size_t nargs)
{
    struct shared_lines *l = what->lines;
    struct lines_filter *f = lines_filter_of_serial(l, what->serial);
    struct part_call *context = malloc(sizeof(*context));
    const struct redis_call call = {.key = key,
                                    .args = args,
                                    .nargs = nargs,
                                    .may_repeat = true,
                                    .answer = on_part,
                                    .context = context};

    if (context != NULL) {
        *context = *what;
    }
    if (context == NULL || redis_call(shared_redis(l->shared), &call) != ERR_OK) {
        free(context);
        look_fail(l, f);
        return;
    }
    f->nunder += !what->is_repair;
    l->nrepairs += what->is_repair;
}

static void part_look(struct shared_lines *l, const struct lines_filter *f,
                      uint64_t part)
{
    const struct part_call what = {.lines = l, .serial = f->serial, .part = part};
    struct shared_name name = lines_part_name(l, f, part);
    char ttl[16];

    (void)snprintf(ttl, sizeof(ttl), "%d", LINES_TTL_S);
    const struct slice args[] = {SLICE_LIT("EXPIRE"), slice_str(name.text),
                                 slice_str(ttl)};
    part_send(&what, args[1], args, LENGTH(args));
}

static void look_go_on(struct shared_lines *l, struct lines_filter *f)
{
    if (!f->is_looking) {
        return;
    }
    while (!f->has_failed && f->nunder < LINES_WINDOW && f->nbegun < f->nparts) {
        part_look(l, f, (f->at + f->nbegun++) % f->nparts);
    }
    if (f->nunder == 0 && (f->has_failed || f->nbegun == f->nparts)) {
        look_end(l, f);
    }
}

static void look_begin(struct shared_lines *l, struct lines_filter *f)
{
    f->is_looking = true;
    f->has_failed = false;
    f->has_lost = false;
    f->nbegun = 0;
    f->nput = 0;
    random_bytes(&f->at, sizeof(f->at));
    f->at %= f->nparts;
    look_go_on(l, f);
}

void lines_put_tick(struct shared_lines *l)
{
    uint64_t now_us = clock_mono_us();

    for (size_t i = 0; i < l->nfilters; i++) {
        struct lines_filter *f = l->filter[i];

        if (!f->is_looking && f->gone_us == 0 && now_us >= f->next_us) {
            look_begin(l, f);
        }
    }
}

void lines_part_lost(struct shared_lines *l, struct lines_filter *f, uint64_t part)
{
    const struct part_call what = {
        .lines = l, .serial = f->serial, .part = part, .is_repair = true};

    f->is_complete = false;
    f->has_lost = true;
    f->next_us = 0;
    if (l->nrepairs < LINES_REPAIRS_MAX) {
        part_put(l, f, &what);
    }
}
