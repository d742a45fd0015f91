/* test_line_query - a message's keys against a hub of the test: the answers are those of a copy, and
 * whatever a hub sends instead of lines is no "no". */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/list/line_query.h"
#include "core/list/line_wire.h"

#include "tests/unit/list/list_fixture.h"

enum {
    LISTED = 600000, /* more than LEVEL_REMOTE_LINES lines */
    ASKED = 700,
    ROUNDS = 3,
    LONG_US = 60 * 1000 * 1000, /* never reached where an answer comes */
    SHORT_US = 50 * 1000,
    ANSWER_ROOM = 1 << 20
};

/* What the hub of the test does with a question. */
enum manner {
    ANSWERS,
    LEAVES_OUT, /* every third line */
    DAMAGES,    /* a byte of each line */
    SHIFTS,     /* each line is that of the former reference */
    SAYS_PUT,   /* no line: the filter is being put */
    SAYS_DOWN,  /* no line: the store is down */
    HOSTILE_HEAD,
    HOSTILE_REST,
    FEWER, /* lines than were asked for */
    CLOSES,
    CLOSES_NEXT, /* after each answer */
    KEEPS_SILENT
};

struct hub {
    struct fixture *f;
    char path[96];
    int fd;
    pthread_t thread;
    struct list_reader *copy;
    struct list_reader *remote;
    struct line_client *client;
    _Atomic int manner;
    _Atomic unsigned questions;
};

static void seal_of(const struct hub *h, uint64_t number,
                    uint8_t ret[LINE_SEALED_BYTES])
{
    const struct bloomfile *f = &h->copy->level[0]->base;
    const struct line_name name = {&h->copy->key, h->remote->level[0]->base.id, number};
    line_seal(&name, f->bloom.words + number * 8, ret);
}

static void answer_lines(struct hub *h, const struct line_question *q, struct buf *ret)
{
    enum manner m = h->manner;
    uint8_t(*sealed)[LINE_SEALED_BYTES] = calloc(q->nrefs + 1, LINE_SEALED_BYTES);
    const uint8_t **lines = calloc(q->nrefs + 1, sizeof(*lines));
    uint8_t states[LINE_WIRE_FILTERS] = {0};
    assert_non_null(sealed);
    assert_non_null(lines);
    memset(states,
           m == SAYS_PUT    ? LINE_STATE_BEING_PUT
           : m == SAYS_DOWN ? LINE_STATE_NO_STORE
                            : 0,
           sizeof(states));
    for (size_t i = 0; i < q->nrefs && m != SAYS_PUT && m != SAYS_DOWN; i++) {
        size_t at = m == SHIFTS && i > 0 ? i - 1 : i;
        seal_of(h, line_question_ref(q, at).number + (m == SHIFTS && i == 0),
                sealed[i]);
        sealed[i][i % LINE_SEALED_BYTES] ^= m == DAMAGES ? 1 : 0;
        lines[i] = m == LEAVES_OUT && i % 3 == 0 ? NULL : sealed[i];
    }
    line_answer_print(states, q->nfilters, lines, q->nrefs - (m == FEWER), ret);
    free(sealed);
    free(lines);
}

static void answer_question(struct hub *h, const struct line_question *q,
                            struct buf *ret)
{
    enum manner m = h->manner;
    if (m == HOSTILE_HEAD) {
        buf_add_str(ret, "HTTP/1.1 400 Bad Request\r\n\r\n");
        return;
    }
    answer_lines(h, q, ret);
    if (m == HOSTILE_REST) {
        memset(ret->p + LINE_WIRE_HEAD_BYTES, 0xff, 10);
    }
}

static bool read_whole(int fd, void *p, size_t n)
{
    return recv(fd, p, n, MSG_WAITALL) == (ssize_t)n;
}

static void serve(struct hub *h, int fd)
{
    static uint8_t bytes[LINE_WIRE_QUESTION_MAX];
    uint8_t head[LINE_WIRE_HEAD_BYTES];
    struct line_question q;
    size_t n = 0;
    while (read_whole(fd, head, sizeof(head)) &&
           line_wire_head(head, LINE_WIRE_QUESTION, &n) && read_whole(fd, bytes, n)) {
        struct buf answer;
        h->questions++;
        assert_true(line_question_parse(slice_of((char *)bytes, n), &q));
        if (h->manner == CLOSES) {
            return;
        }
        buf_init(&answer, ANSWER_ROOM);
        if (h->manner != KEEPS_SILENT) {
            answer_question(h, &q, &answer);
        }
        (void)send(fd, answer.p, answer.n, MSG_NOSIGNAL);
        buf_fini(&answer);
        if (h->manner == CLOSES_NEXT) {
            return;
        }
    }
}

static void *hub_thread(void *context)
{
    struct hub *h = context;
    for (;;) {
        int fd = accept(h->fd, NULL, NULL);
        if (fd < 0) {
            return NULL;
        }
        serve(h, fd);
        close(fd);
    }
}

static void hub_listen(struct hub *h)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    memcpy(un.sun_path, h->path, strlen(h->path) + 1);
    h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(h->fd, (const struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(h->fd, 8), 0);
    assert_int_equal(pthread_create(&h->thread, NULL, hub_thread, h), 0);
}

static void hub_end(struct hub *h)
{
    line_client_free(&h->client); /* so that the hub's connection ends */
    (void)shutdown(h->fd, SHUT_RDWR);
    assert_int_equal(pthread_join(h->thread, NULL), 0);
    close(h->fd);
    (void)unlink(h->path);
    h->client = line_client_new(h->path);
}

/* The list is made once: it is large. */
static struct hub *hub_new(void)
{
    struct hub *h = calloc(1, sizeof(*h));
    void *f = NULL;
    assert_non_null(h);
    assert_int_equal(fixture_setup(&f), 0);
    h->f = f;
    (void)snprintf(h->path, sizeof(h->path), "%s/lines.ctl", h->f->state);
    struct list_writer *w = open_writer(h->f);
    import_range(h->f, w, 0, LISTED, 0);
    add_number(h->f, w, LISTED + 1); /* in the memtable */
    list_writer_close(&w);
    h->copy = open_reader(h->f);
    MUST(h->f, list_reader_open_held(h->f->state, NAME, &h->f->keys,
                                     &(struct reader_opening){.hold = BLOOMFILE_REMOTE},
                                     &h->remote, &h->f->info));
    assert_true(h->remote->has_remote);
    assert_false(h->copy->has_remote);
    h->client = line_client_new(h->path);
    hub_listen(h);
    return h;
}

static int group_setup(void **state)
{
    *state = hub_new();
    return 0;
}

static int group_teardown(void **state)
{
    struct hub *h = *state;
    void *f = h->f;
    hub_end(h);
    line_client_free(&h->client);
    list_reader_close(&h->copy);
    list_reader_close(&h->remote);
    free(h);
    return fixture_teardown(&f);
}

struct asked {
    struct digest d[ASKED];
    uint8_t copy[ASKED];
    uint8_t remote[ASKED];
    bool is_whole;
    unsigned hits;
    unsigned lost; /* hits of the copy that are none of the remote one */
};

/* Half of them are listed. */
static void ask(struct hub *h, uint64_t from, uint64_t budget_us, struct asked *a)
{
    char text[64];
    struct line_query *q = line_query_new();
    a->hits = a->lost = 0;
    for (uint64_t i = 0; i < ASKED; i++) {
        uint64_t n = from + i / 2 + (i % 2 == 0 ? 0 : 10 * (uint64_t)LISTED);
        struct feature_entry e = entry_number(i == 2 ? LISTED + 1 : n, text);
        digest_make(list_reader_key(h->copy), e.class_type, e.text, &a->d[i]);
    }
    list_reader_test(h->copy, a->d, ASKED, a->copy);
    line_query_add(q, h->remote, a->d, ASKED);
    line_query_ask(q, h->client, budget_us);
    a->is_whole = line_query_test(q, h->remote, a->d, ASKED, a->remote);
    line_query_free(&q);
    for (unsigned i = 0; i < ASKED; i++) {
        a->hits += a->copy[i];
        a->lost += a->copy[i] && !a->remote[i];
        assert_false(a->remote[i] && !a->copy[i]);
    }
    assert_true(a->hits >= ASKED / 2);
    assert_int_equal(a->remote[2], 1); /* of the memtable, whatever the hub does */
}

static void test_line_query__hub_that_answers__as_a_copy_with_one_question(void **state)
{
    struct hub *h = *state;
    static struct asked a;
    h->manner = ANSWERS;
    unsigned before = h->questions;
    for (unsigned i = 0; i < ROUNDS; i++) {
        ask(h, i * (uint64_t)10000, LONG_US, &a);
        assert_true(a.is_whole);
        assert_int_equal(a.lost, 0);
    }
    assert_int_equal(h->questions - before, ROUNDS);
    h->manner =
        CLOSES_NEXT; /* as a hub that was restarted: the idle connection is dead */
    for (unsigned i = 0; i < ROUNDS; i++) {
        ask(h, 0, LONG_US, &a);
        assert_true(a.is_whole);
        assert_int_equal(a.lost, 0);
    }
}

static void test_line_query__lines_that_are_not_right__no_opinion_of_these_alone(
    void **state)
{
    struct hub *h = *state;
    static struct asked a;
    h->manner = LEAVES_OUT;
    ask(h, 0, LONG_US, &a);
    assert_false(a.is_whole);
    assert_true(a.lost > 0 && a.lost < ASKED / 4);
    static const enum manner wrong[] = {DAMAGES, SHIFTS, SAYS_DOWN};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        h->manner = (int)wrong[i];
        ask(h, 0, LONG_US, &a);
        assert_false(a.is_whole);
        assert_int_equal(a.lost, a.hits - 1);
    }
    h->manner = ANSWERS;
    ask(h, 0, LONG_US, &a);
    assert_true(a.is_whole);
}

static void test_line_query__filter_being_put__lines_of_the_file(void **state)
{
    struct hub *h = *state;
    static struct asked a;
    h->manner = SAYS_PUT;
    ask(h, 0, LONG_US, &a);
    /* a file system without RWF_NOWAIT gives none of them; the file was just written */
    assert_true(a.is_whole ? a.lost == 0 : a.lost == a.hits - 1);
}

static void test_line_query__no_answer__no_opinion_and_no_more_questions(void **state)
{
    struct hub *h = *state;
    static struct asked a;
    static const enum manner wrong[] = {HOSTILE_HEAD, HOSTILE_REST, FEWER, CLOSES,
                                        KEEPS_SILENT};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        hub_end(h);
        hub_listen(h);
        h->manner = (int)wrong[i];
        ask(h, 0, wrong[i] == KEEPS_SILENT ? SHORT_US : LONG_US, &a);
        assert_false(a.is_whole);
        assert_int_equal(a.lost, a.hits - 1);
    }
    hub_end(h);
    hub_listen(h);
    uint64_t now_us = clock_mono_us();
    h->manner = CLOSES;
    for (unsigned i = 0; i < LINE_FAILURES_MAX; i++) {
        ask(h, 0, LONG_US, &a);
    }
    clock_set_for_test(now_us, now_us); /* the pause has no end now */
    h->manner = ANSWERS;
    unsigned before = h->questions;
    ask(h, 0, LONG_US, &a);
    assert_false(a.is_whole);
    assert_int_equal(h->questions, before);
    clock_advance_us(LINE_PAUSE_US + 60 * (uint64_t)1000 * 1000);
    ask(h, 0, LONG_US, &a);
    assert_true(a.is_whole);
    ask(h, 0, LONG_US, &a);
    assert_true(a.is_whole);
    assert_int_equal(h->questions, before + 2);
    clock_unset_for_test();
}

static void test_line_query__no_hub__no_opinion(void **state)
{
    struct hub *h = *state;
    static struct asked a;
    hub_end(h);
    ask(h, 0, LONG_US, &a);
    assert_false(a.is_whole);
    assert_int_equal(a.lost, a.hits - 1);
    hub_listen(h);
}

static void test_list_reader__remote__exact_answers_without_any_line(void **state)
{
    struct hub *h = *state;
    char text[64];
    for (uint64_t n = 0; n < 100; n++) {
        struct feature_entry e = entry_number(n, text);
        struct digest d;
        digest_make(list_reader_key(h->remote), e.class_type, e.text, &d);
        assert_int_equal(list_reader_confirm(h->remote, &d, 1000), LIST_CONFIRMED);
    }
    struct list_filters f;
    list_reader_filters(h->remote, &f);
    assert_true(f.error_formula > 0 && f.error_formula < 0.002);
    assert_int_equal(f.bits, 0); /* in memory here */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_line_query__hub_that_answers__as_a_copy_with_one_question),
        cmocka_unit_test(
            test_line_query__lines_that_are_not_right__no_opinion_of_these_alone),
        cmocka_unit_test(test_line_query__filter_being_put__lines_of_the_file),
        cmocka_unit_test(test_line_query__no_answer__no_opinion_and_no_more_questions),
        cmocka_unit_test(test_line_query__no_hub__no_opinion),
        cmocka_unit_test(test_list_reader__remote__exact_answers_without_any_line),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
