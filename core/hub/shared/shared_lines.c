/* shared_lines - connections of gillnetd: a question, its deadline, one answer. */
#include "core/hub/shared/shared_lines.h"

#include <event2/buffer.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/hub/shared/shared_lines_internal.h"

enum {
    BACKLOG = 128,
    US_PER_S = 1000000,
    /* of the time that gillnetd waits, so that it gets the lines that came */
    DEADLINE_PART = 10
};

/* ---- questions ---- */

static void question_free(struct lines_question *q)
{
    TAILQ_REMOVE(&q->lines->questions, q, in_all);
    if (q->deadline != NULL) {
        event_free(q->deadline);
    }
    free(q->fetch);
    free(q);
}

/* Nobody waits for its answer any more. */
static void question_leave(struct lines_question *q)
{
    if (q->client != NULL) {
        q->client->question = NULL;
        q->client = NULL;
    }
    if (q->deadline != NULL) {
        event_free(q->deadline);
        q->deadline = NULL;
    }
    if (q->nunder == 0) {
        question_free(q);
    }
}

static enum line_state state_of(const struct lines_question *q, unsigned filter,
                                bool is_late)
{
    const struct lines_filter *f = lines_filter_of_serial(q->lines, q->serial[filter]);

    if (f == NULL) {
        return LINE_STATE_UNKNOWN;
    }
    if (!q->lines->is_up) {
        return LINE_STATE_NO_STORE;
    }
    if (!f->is_complete) {
        return LINE_STATE_BEING_PUT;
    }
    return is_late ? LINE_STATE_LATE : LINE_STATE_IN_STORE;
}

/* After some questions in a row that the store did not answer in full it counts as down; the first
 * one after that is a trial. Questions for cached lines alone say nothing of the store. */
static void late_note(struct shared_lines *l, const struct lines_question *q)
{
    bool is_late = q->nunder > 0 || q->has_failed;

    if (!l->is_up || (!q->has_asked && !is_late)) {
        return;
    }
    l->nlate = is_late ? l->nlate + 1 : 0;
    if (l->nlate >= LINES_LATE_MAX) {
        lines_up_set(l, false, "late");
        l->nlate = LINES_LATE_MAX - 1;
    }
}

static void question_print(struct lines_question *q, struct buf *ret)
{
    uint8_t states[LINE_WIRE_FILTERS];
    const uint8_t **lines = calloc(q->nlines + 1, sizeof(*lines));
    bool is_late = q->nunder > 0 || q->has_failed;

    for (unsigned i = 0; i < q->nfilters; i++) {
        states[i] = (uint8_t)state_of(q, i, is_late);
    }
    for (size_t i = 0; lines != NULL && i < q->nlines; i++) {
        lines[i] = q->fetch[i].is_there ? q->fetch[i].sealed : NULL;
    }
    if (lines != NULL) {
        line_answer_print(states, q->nfilters, lines, q->nlines, ret);
    }
    free(lines);
}

static void question_answer(struct lines_question *q)
{
    struct buf bytes;

    buf_init(&bytes, LINE_WIRE_HEAD_BYTES + LINE_WIRE_ANSWER_MAX);
    question_print(q, &bytes);
    late_note(q->lines, q);
    q->lines->status.late += q->nunder;
    if (q->client != NULL && !buf_failed(&bytes)) {
        (void)evbuffer_add(bufferevent_get_output(q->client->bev), bytes.p, bytes.n);
    }
    buf_fini(&bytes);
    question_leave(q);
}

void lines_question_step(struct lines_question *q)
{
    if (q->client == NULL) {
        question_leave(q);
    } else if (q->nunder == 0) {
        question_answer(q);
    }
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    question_answer(context);
}

/* ---- a client ---- */

static void client_leave(struct lines_client *c)
{
    if (c->question != NULL) {
        question_leave(c->question);
    }
    bufferevent_free(c->bev);
    c->bev = NULL;
}

/* NULL: no memory. */
static struct lines_question *question_new(struct lines_client *c,
                                           const struct line_question *asked)
{
    struct lines_question *q = calloc(1, sizeof(*q));

    if (q == NULL) {
        return NULL;
    }
    q->lines = c->lines;
    q->nfilters = asked->nfilters;
    q->nlines = asked->nrefs;
    q->fetch = calloc(q->nlines + 1, sizeof(*q->fetch));
    q->deadline = evtimer_new(c->lines->base, on_deadline, q);
    TAILQ_INSERT_TAIL(&q->lines->questions, q, in_all);
    if (q->fetch == NULL || q->deadline == NULL) {
        question_free(q);
        return NULL;
    }
    return q;
}

/* A filter that is not known may be of a generation that was just made. */
static void filters_find(struct lines_question *q, const struct line_question *asked)
{
    for (unsigned i = 0; i < asked->nfilters; i++) {
        const uint8_t *id = asked->ids + (size_t)i * BLOOMFILE_ID_BYTES;
        const struct lines_filter *f = lines_filter_of_id(q->lines, id);

        if (f == NULL) {
            lines_look(q->lines);
            f = lines_filter_of_id(q->lines, id);
        }
        q->serial[i] = f != NULL ? f->serial : 0;
    }
}

static void question_take(struct lines_client *c, const struct line_question *asked)
{
    struct lines_question *q = question_new(c, asked);
    const struct config *config = shared_config(c->lines->shared);
    uint64_t most_us = config->store.deadline_us;

    if (q == NULL) {
        client_leave(c);
        return;
    }
    most_us = asked->budget_us < most_us ? asked->budget_us : most_us;
    most_us -= most_us / DEADLINE_PART;
    filters_find(q, asked);
    for (size_t i = 0; i < q->nlines; i++) {
        struct line_ref ref = line_question_ref(asked, i);

        q->fetch[i] = (struct lines_fetch){
            .question = q, .serial = q->serial[ref.filter], .number = ref.number};
    }
    c->lines->status.questions++;
    c->lines->status.lines += q->nlines;
    lines_fetch_all(q);
    q->client = c;
    c->question = q;
    struct timeval most = {.tv_sec = (time_t)(most_us / US_PER_S),
                           .tv_usec = (suseconds_t)(most_us % US_PER_S)};
    if (q->nunder == 0 || evtimer_add(q->deadline, &most) != 0) {
        question_answer(q);
    }
}

/* Whoever sends what is no question, or another one before it has read the answer, is no
 * gillnetd. */
static void on_read(struct bufferevent *bev, void *context)
{
    struct lines_client *c = context;
    struct evbuffer *in = bufferevent_get_input(bev);
    uint8_t head[LINE_WIRE_HEAD_BYTES];
    struct line_question asked;
    size_t n = 0;

    if (evbuffer_copyout(in, head, sizeof(head)) != (ev_ssize_t)sizeof(head)) {
        return;
    }
    if (c->question != NULL || evbuffer_get_length(bufferevent_get_output(bev)) > 0 ||
        !line_wire_head(head, LINE_WIRE_QUESTION, &n)) {
        client_leave(c);
        return;
    }
    if (evbuffer_get_length(in) < sizeof(head) + n) {
        return;
    }
    const char *p = (const char *)evbuffer_pullup(in, -1);
    if (p == NULL || evbuffer_get_length(in) > sizeof(head) + n ||
        !line_question_parse(slice_of(p + sizeof(head), n), &asked)) {
        client_leave(c);
        return;
    }
    question_take(c, &asked);
    if (c->bev != NULL) {
        (void)evbuffer_drain(in, sizeof(head) + n);
    }
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    (void)bev;
    (void)what;
    client_leave(context);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_len, void *context)
{
    struct shared_lines *l = context;
    struct lines_client *c = l->client;

    (void)listener;
    (void)from;
    (void)from_len;
    while (c < l->client + LINES_CLIENTS_MAX && c->bev != NULL) {
        c++;
    }
    if (c == l->client + LINES_CLIENTS_MAX) {
        evutil_closesocket(fd);
        return;
    }
    *c = (struct lines_client){.lines = l};
    c->bev = bufferevent_socket_new(l->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (c->bev == NULL) {
        evutil_closesocket(fd);
        return;
    }
    bufferevent_setwatermark(c->bev, EV_READ, 0,
                             LINE_WIRE_HEAD_BYTES + LINE_WIRE_QUESTION_MAX);
    bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

/* ---- start and end ---- */

static void on_second(evutil_socket_t fd, short what, void *context)
{
    struct shared_lines *l = context;

    (void)fd;
    (void)what;
    lines_look(l);
    lines_probe(l);
    lines_put_tick(l);
}

static enum err listen_begin(struct shared_lines *l, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    int fd = -1;
    enum err e =
        path_make(path, reterr, "%s/" LINE_SOCKET, shared_config(l->shared)->state_dir);

    THEN(e, unix_place_listen(&l->place, path, "state_dir", BACKLOG, &fd, reterr));
    if (e != ERR_OK) {
        return e;
    }
    l->listener = evconnlistener_new(
        l->base, on_accept, l, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    if (l->listener == NULL) {
        fd_close(&fd);
        return errinfo_nomem(reterr, path);
    }
    return ERR_OK;
}

enum err shared_lines_new(struct event_base *base, struct shared *s,
                          struct shared_lines **ret, struct errinfo *reterr)
{
    struct shared_lines *l = calloc(1, sizeof(*l));
    struct timeval second = {.tv_sec = 1};

    if (l == NULL) {
        return errinfo_nomem(reterr, "store");
    }
    l->base = base;
    l->shared = s;
    TAILQ_INIT(&l->questions);
    l->cache = calloc(LINES_CACHE, sizeof(*l->cache));
    l->tick = event_new(base, -1, EV_PERSIST, on_second, l);
    enum err e = l->cache != NULL && l->tick != NULL && event_add(l->tick, &second) == 0
                     ? listen_begin(l, reterr)
                     : errinfo_nomem(reterr, "store");
    if (e != ERR_OK) {
        shared_lines_stop(l);
        shared_lines_free(&l);
        return e;
    }
    *ret = l;
    return ERR_OK;
}

void shared_lines_stop(struct shared_lines *l)
{
    if (l == NULL) {
        return;
    }
    l->is_closing = true;
    for (size_t i = 0; i < LINES_CLIENTS_MAX; i++) {
        if (l->client[i].bev != NULL) {
            client_leave(&l->client[i]);
        }
    }
    if (l->listener != NULL) {
        evconnlistener_free(l->listener);
        l->listener = NULL;
    }
    unix_place_remove(&l->place);
    if (l->tick != NULL) {
        event_free(l->tick);
        l->tick = NULL;
    }
}

void shared_lines_free(struct shared_lines **lines)
{
    struct shared_lines *l = *lines;

    if (l != NULL) {
        struct lines_question *q = TAILQ_FIRST(&l->questions);

        while (q != NULL) {
            struct lines_question *next = TAILQ_NEXT(q, in_all);

            question_free(q);
            q = next;
        }
        lines_filters_free(l);
        free(l->cache);
        free(l);
    }
    *lines = NULL;
}

void shared_lines_status(const struct shared_lines *l, struct shared_lines_status *ret)
{
    *ret = (struct shared_lines_status){.is_up = false};
    if (l != NULL) {
        *ret = l->status;
        ret->is_up = l->is_up;
        ret->filters = l->nfilters;
        for (size_t i = 0; i < l->nfilters; i++) {
            ret->complete += l->filter[i]->is_complete;
            ret->parts += l->filter[i]->nparts;
        }
    }
}
