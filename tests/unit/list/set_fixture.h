/*
 * set_fixture - a folder of lists, a configuration, and the snapshot that is made of them.
 */
#ifndef TESTS_UNIT_LIST_SET_FIXTURE_H
#define TESTS_UNIT_LIST_SET_FIXTURE_H

#include "core/list/listset.h"

#include "tests/unit/list/list_fixture.h"

struct set_fixture {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
    char conf[128];
};

/* Loads a configuration of this text. */
static inline struct config *load(struct set_fixture *x, const char *lists)
{
    struct buf text;
    struct config *c = NULL;
    struct config_errors errors = {0};
    buf_init(&text, 10000);
    buf_printf(&text, "state_dir = \"%s\";\n%s\n", x->f->state, lists);
    MUST(x->f, file_write_atomic(x->conf, buf_slice(&text), 0600, &x->f->info));
    buf_fini(&text);
    if (config_load(x->conf, NULL, &c, &errors) != ERR_OK) {
        fail_msg("%s", errors.n > 0 ? errors.v[0].text : "config");
    }
    return c;
}

static inline int setup(void **state)
{
    struct set_fixture *x = calloc(1, sizeof(*x));
    void *f = NULL;
    fixture_setup(&f);
    x->f = f;
    snprintf(x->conf, sizeof(x->conf), "%s/gillnet.conf", x->f->state);
    x->config = load(x, "");
    x->h = list_manager_new(x->f->state, &x->f->keys);
    assert_non_null(x->h);
    *state = x;
    return 0;
}

static inline int teardown(void **state)
{
    struct set_fixture *x = *state;
    void *f = x->f;
    list_manager_free(&x->h);
    config_release(&x->config);
    fixture_teardown(&f);
    free(x);
    return 0;
}

static inline void refresh(struct set_fixture *x)
{
    MUST(x->f, list_manager_refresh(x->h, x->config, &x->f->info));
    list_manager_free_retired(x->h);
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
