/*
 * stage_fixture - a state folder with one feed, and hands to give it bodies and to ask its list.
 */
#ifndef TESTS_UNIT_FEED_STAGE_FIXTURE_H
#define TESTS_UNIT_FEED_STAGE_FIXTURE_H

#include "core/base/clock.h"
#include "core/feed/update.h"

#include "tests/unit/list/list_fixture.h"

enum { STAGE_T0 = 1700000000, LINES_MAX = 64 };

struct feed_fixture {
    struct fixture *f;
    struct config *config;
    struct feed_update *s;
    uint64_t now_s;
    char said[4096]; /* lines of on_line: "+domain\n" */
};

static inline void now_is(struct feed_fixture *x, uint64_t now_s)
{
    x->now_s = now_s;
    clock_set_for_test(now_s * 1000000, now_s * 1000000);
}

/* The configuration with these settings of the feed and these beside it. */
static inline void configure(struct feed_fixture *x, const char *settings,
                             const char *more)
{
    char path[128];
    struct buf text;
    struct config_errors errors = {0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", x->f->state);
    buf_init(&text, 8192);
    buf_printf(&text,
               "state_dir = \"%s\";\nfeeds = ( { name = \"test\"; url = "
               "\"http://127.0.0.1/\"; %s } );\n%s\n",
               x->f->state, settings, more);
    MUST(x->f, file_write_atomic(path, buf_slice(&text), 0600, &x->f->info));
    buf_fini(&text);
    config_release(&x->config);
    if (config_load(path, NULL, &x->config, &errors) != ERR_OK) {
        fail_msg("%s", errors.v[0].text);
    }
}

static inline void open_stage(struct feed_fixture *x)
{
    struct update_options o = {
        .config = x->config, .feed = &x->config->feeds[0], .keys = &x->f->keys};
    MUST(x->f, update_open(&o, &x->s, &x->f->info));
}

static inline void reopen(struct feed_fixture *x, const char *settings,
                          const char *more)
{
    update_close(&x->s);
    configure(x, settings, more);
    open_stage(x);
}

static inline int stage_setup(void **state)
{
    struct feed_fixture *x = calloc(1, sizeof(*x));
    void *f = NULL;
    assert_non_null(x);
    fixture_setup(&f);
    x->f = f;
    now_is(x, STAGE_T0);
    configure(x, "", "");
    open_stage(x);
    *state = x;
    return 0;
}

static inline int stage_teardown(void **state)
{
    struct feed_fixture *x = *state;
    void *f = x->f;
    update_close(&x->s);
    config_release(&x->config);
    clock_unset_for_test();
    fixture_teardown(&f);
    free(x);
    return 0;
}

static inline void put_body(struct feed_fixture *x, struct slice body)
{
    MUST(x->f, file_write_atomic(update_incoming(x->s), body, 0640, &x->f->info));
}

static inline void hear(void *context, const struct update_line *line)
{
    struct feed_fixture *x = context;
    size_t n = strlen(x->said);
    char reason[40] = "";
    if (line->reason) {
        snprintf(reason, sizeof(reason), " %s", line->reason);
    }
    snprintf(x->said + n, sizeof(x->said) - n, "%c%.*s%s\n", "+-!"[line->change],
             SLICE_ARGS(slice_head(line->text, 60)), reason);
}

static inline struct update_report update_as(struct feed_fixture *x, struct slice body,
                                             struct update_body how)
{
    struct update_report r;
    put_body(x, body);
    x->said[0] = '\0';
    MUST(x->f, update_update(x->s, &how, hear, x, &r, &x->f->info));
    assert_int_not_equal(access(update_incoming(x->s), F_OK), 0);
    return r;
}

static inline struct update_report update(struct feed_fixture *x, const char *body)
{
    return update_as(x, slice_str(body), (struct update_body){.etag = "\"e\""});
}

/* A body of entries numbered from..to-1, as plain names. */
static inline void numbers(struct buf *b, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++) {
        buf_printf(b, "host-%llu.example\n", (unsigned long long)n);
    }
}

static inline struct update_report update_numbers(struct feed_fixture *x, uint64_t from,
                                                  uint64_t to)
{
    struct buf b;
    buf_init(&b, 64 << 20);
    numbers(&b, from, to);
    struct update_report r = update_as(x, buf_slice(&b), (struct update_body){0});
    buf_fini(&b);
    return r;
}

/* State of a value, as people write it, in the feed's list now. */
static inline bool is_listed_in(struct feed_fixture *x, const char *list,
                                const char *value)
{
    struct list_reader *r = NULL;
    struct feature_entry e;
    struct digest d;
    uint8_t hit = 0;
    if (list_reader_open(x->f->state, slice_str(list), &x->f->keys, &r, &x->f->info) !=
        ERR_OK) {
        return false;
    }
    assert_null(list_reader_fault(r));
    arena_reset(x->f->arena);
    MUST(x->f, feature_entry_parse(slice_str(value), FEATURE_NONE, x->f->arena, &e,
                                   &x->f->info));
    digest_make(list_reader_key(r), e.class_type, e.text, &d);
    list_reader_test(r, &d, 1, &hit);
    bool is_in = hit && list_reader_confirm(r, &d, x->now_s) == LIST_CONFIRMED;
    list_reader_close(&r);
    return is_in;
}

static inline bool is_listed(struct feed_fixture *x, const char *value)
{
    return is_listed_in(x, "test", value);
}

static inline bool has_number(struct feed_fixture *x, uint64_t n)
{
    char name[64];
    (void)entry_number(n, name);
    return is_listed(x, name);
}

static inline struct update_state state_of(struct feed_fixture *x)
{
    struct update_state w;
    update_get_state(x->s, &w);
    return w;
}

#endif
