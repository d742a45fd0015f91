/* queue_postfix - Postfix's queue "hold". */
#include "core/quarantine/queue/held_list.h"
#include "core/quarantine/queue/postfix_held.h"
#include "core/quarantine/queue/queue.h"
#include "core/quarantine/queue/run_program.h"

enum {
    LISTING_MAX = 64 << 20,
    HEADERS_MAX = 16 << 20,
    BATCH = 16 /* messages of one postcat */
};

/* Runs program -c DIR ARGS...; the outputs go to ret. */
static enum err run_postfix(const struct queue *q, const char *program,
                            const char *const args[], bool changes, struct buf *ret,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const char *argv[RUN_ARGS_MAX] = {path};
    size_t n = 1;
    enum err e = queue_program(q, program, path, reterr);

    if (q->mta_config[0] != '\0') {
        argv[n++] = "-c";
        argv[n++] = q->mta_config;
    }
    for (; *args != NULL && n + 1 < RUN_ARGS_MAX; args++) {
        argv[n++] = *args;
    }
    THEN(e,
         changes ? run_change_said(argv, ret, reterr) : run_output(argv, ret, reterr));
    return e;
}

/* ---- list ---- */

static void read_listing(struct held_list *l, struct slice output)
{
    struct held *next = held_list_next(l);

    while (output.n > 0 && next != NULL) {
        if (postfix_held_read(slice_cut(&output, '\n'), next, l->arena)) {
            l->n++;
            next = held_list_next(l);
        }
    }
}

/* Reads the headers of n messages. A message that left the queue stays without its header's
 * values. */
static void read_headers(const struct queue *q, struct held_list *l, size_t from,
                         size_t n)
{
    char ids[BATCH][QUARANTINE_ID_MAX + 1];
    const char *args[BATCH + 2] = {"-qeh"};
    struct buf output;
    struct slice id;
    struct slice header;

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%.*s", SLICE_ARGS(l->v[from + i].id));
        args[1 + i] = ids[i];
    }
    buf_init(&output, HEADERS_MAX);
    (void)run_postfix(q, "postcat", args, false, &output, NULL);
    struct slice rest = buf_slice(&output);
    while (postfix_next_header(&rest, &id, &header)) {
        for (size_t i = from; i < from + n; i++) {
            if (slice_eq(l->v[i].id, id)) {
                held_read_header(&l->v[i], header, l->arena);
            }
        }
    }
    buf_fini(&output);
}

/* postcat ends at the first message that is gone; those after it are read again, each alone. */
static void read_all_headers(const struct queue *q, struct held_list *l)
{
    for (size_t at = 0; at < l->n; at += BATCH) {
        size_t n = l->n - at < BATCH ? l->n - at : BATCH;

        read_headers(q, l, at, n);
        for (size_t i = at; i < at + n; i++) {
            if (!l->v[i].has_header) {
                read_headers(q, l, i, 1);
            }
        }
    }
}

enum err queue_postfix_list(const struct queue *q, struct buf *ret,
                            struct errinfo *reterr)
{
    static const char *const args[] = {"-j", NULL};
    struct held_list l;
    struct buf output;
    enum err e = held_list_init(&l, reterr);

    buf_init(&output, LISTING_MAX);
    THEN(e, run_postfix(q, "postqueue", args, false, &output, reterr));
    if (e == ERR_OK) {
        read_listing(&l, buf_slice(&output));
        held_list_sort(&l);
        read_all_headers(q, &l);
        e = held_list_print(&l, ret, reterr);
    }
    buf_fini(&output);
    held_list_fini(&l);
    return e;
}

/* ---- one message ---- */

/* postcat -q looks into all queues, and its first line names the one that has the message. */
static enum err must_be_held(const struct queue *q, const char *id,
                             struct errinfo *reterr)
{
    const char *const args[] = {"-qe", id, NULL};
    char first[QUARANTINE_ID_MAX + 64];
    struct buf output;

    buf_init(&output, HEADERS_MAX);
    enum err e = run_postfix(q, "postcat", args, false, &output, NULL);
    (void)snprintf(first, sizeof(first), "*** ENVELOPE RECORDS hold/%s ***\n", id);
    if (e != ERR_TIMEOUT &&
        (e != ERR_OK || !slice_has_prefix(buf_slice(&output), slice_str(first)))) {
        e = queue_not_held(slice_str(id), reterr);
    }
    buf_fini(&output);
    return e;
}

enum err queue_postfix_show(const struct queue *q, const char *id, struct buf *ret,
                            struct errinfo *reterr)
{
    const char *const args[] = {"-qhb", id, NULL};
    enum err e = must_be_held(q, id, reterr);

    THEN(e, run_postfix(q, "postcat", args, false, ret, reterr));
    return e;
}

/* Runs postsuper, which says "postsuper: WORD 1 message" if it changed one. */
static enum err run_postsuper(const struct queue *q, const char *const args[],
                              struct slice word, const char *id, struct errinfo *reterr)
{
    struct buf said;

    buf_init(&said, RUN_SAID_MAX);
    enum err e = run_postfix(q, "postsuper", args, true, &said, reterr);
    if (e == ERR_OK && slice_find_slice(buf_slice(&said), word) == said.n) {
        e = queue_not_held(slice_str(id), reterr);
    }
    buf_fini(&said);
    return e;
}

enum err queue_postfix_release(const struct queue *q, const char *id,
                               struct errinfo *reterr)
{
    const char *const release[] = {"-H", id, NULL};
    const char *const deliver[] = {"-i", id, NULL};
    enum err e = run_postsuper(q, release, SLICE_LIT("Released from hold: 1 message"),
                               id, reterr);

    if (e == ERR_OK && q->delivers) { /* else at the next scan of the queue */
        struct buf said;

        buf_init(&said, RUN_SAID_MAX);
        (void)run_postfix(q, "postqueue", deliver, true, &said, NULL);
        buf_fini(&said);
    }
    return e;
}

enum err queue_postfix_delete(const struct queue *q, const char *id,
                              struct errinfo *reterr)
{
    const char *const args[] = {"-d", id, "hold", NULL};

    return run_postsuper(q, args, SLICE_LIT("Deleted: 1 message"), id, reterr);
}
