/*
 * test_api_rows - pages of a table: every row once whatever comes and goes, and no query that is not meant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hub/api/api_rows.h"

#include "tests/unit/unit.h"

static const char *const sorts[] = {"name", "entries", "fault", NULL};
static const char *const words[] = {"name", "fault", NULL};
static const char *const key[] = {"name", "origin", NULL};
static const struct api_table table = {.sorts = sorts, .words = words, .key = key};

enum { MANY = 10000 };

static json_t *row_of(unsigned i)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "list%05u", i);
    return json_pack("{s:s, s:s?, s:i, s:s?}", "name", name, "origin",
                     i % 2 != 0 ? "two" : NULL, "entries", (int)(i % 7), "fault",
                     i % 5 == 0 ? "damaged" : NULL);
}

static json_t *rows_of(unsigned from, unsigned to)
{
    json_t *all = json_array();

    for (unsigned i = from; i < to; i++) {
        (void)json_array_append_new(all, row_of(i * 7919 % MANY));
    }
    return all;
}

static struct api_rows page(const json_t *all, const char *query)
{
    struct api_rows_query q;
    struct api_rows ret;
    struct errinfo why = {.text = ""};

    if (api_rows_read(slice_str(query), &table, &q, &why) != ERR_OK) {
        fail_msg("%s: %s", query, why.text);
    }
    assert_int_equal(api_rows_page(all, &table, &q, &ret), ERR_OK);
    api_rows_fini(&q);
    return ret;
}

static void drop(struct api_rows *r)
{
    json_decref(r->rows);
    json_decref(r->next);
}

static const char *name_at(const json_t *rows, size_t i)
{
    return json_string_value(json_object_get(json_array_get(rows, i), "name"));
}

/* Goes through all pages; *seen: how often each row came. Before each page but the first, change() may. */
static size_t walk(json_t *all, const char *query, unsigned char seen[MANY],
                   void (*change)(json_t *all, size_t n))
{
    char whole[API_ROWS_CURSOR_MAX + 100];
    size_t pages = 0;
    struct api_rows p = page(all, query);

    memset(seen, 0, MANY);
    for (;;) {
        pages++;
        assert_true(json_array_size(p.rows) <= 100);
        for (size_t i = 0; i < json_array_size(p.rows); i++) {
            seen[strtoul(name_at(p.rows, i) + strlen("list"), NULL, 10)]++;
        }
        if (!json_is_string(p.next)) {
            drop(&p);
            return pages;
        }
        (void)snprintf(whole, sizeof(whole), "%s&cursor=%s", query,
                       json_string_value(p.next));
        drop(&p);
        if (change != NULL) {
            change(all, pages);
        }
        p = page(all, whole);
    }
}

static void test_pages__of_many_rows__then_each_comes_once(void **state)
{
    static const char *const orders[] = {"limit=100",
                                         "limit=100&sort=name",
                                         "limit=100&sort=-name",
                                         "limit=100&sort=entries",
                                         "limit=100&sort=-entries",
                                         "limit=100&sort=fault",
                                         "limit=100&sort=-fault"};
    static unsigned char seen[MANY];
    json_t *all = rows_of(0, MANY);

    (void)state;
    for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]); k++) {
        assert_int_equal(walk(all, orders[k], seen, NULL), MANY / 100);
        for (size_t i = 0; i < MANY; i++) {
            assert_int_equal(seen[i], 1);
        }
    }
    json_decref(all);
}

/* Removes rows from the front and adds others: places by number would shift. */
static void come_and_go(json_t *all, size_t n)
{
    for (int i = 0; i < 10; i++) {
        (void)json_array_remove(all, 0);
    }
    if (n == 1) {
        for (unsigned i = MANY - 1000; i < MANY; i++) {
            (void)json_array_append_new(all, row_of(i * 7919 % MANY));
        }
    }
}

static void test_pages__while_rows_come_and_go__then_those_that_stay_come_once(
    void **state)
{
    static unsigned char seen[MANY];
    json_t *all = rows_of(0, MANY - 1000);

    (void)state;
    (void)walk(all, "limit=100&sort=-entries", seen, come_and_go);
    for (unsigned i = 1000; i < MANY - 1000; i++) { /* there from first to last */
        assert_int_equal(seen[i * 7919 % MANY], 1);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(seen[i] <= 1);
    }
    json_decref(all);
}

static void test_page__then_the_answer_is_small_and_in_order(void **state)
{
    json_t *all = rows_of(0, MANY);
    struct api_rows p = page(all, "limit=3&sort=-entries");
    char *text = json_dumps(p.rows, JSON_COMPACT);

    (void)state;
    assert_int_equal(p.found, MANY);
    assert_true(strlen(text) < 300);
    assert_string_equal(name_at(p.rows, 0), "list00006");
    assert_string_equal(name_at(p.rows, 1), "list00013");
    free(text);
    drop(&p);
    p = page(all, "q=LIST0999");
    assert_int_equal(p.found, 10);
    assert_true(json_is_null(p.next));
    drop(&p);
    p = page(all, "q=damaged&limit=10");
    assert_int_equal(p.found, MANY / 5);
    assert_string_equal(name_at(p.rows, 9), "list00045");
    drop(&p);
    p = page(all, "");
    assert_int_equal(json_array_size(p.rows), MANY);
    assert_string_equal(name_at(p.rows, 1), "list07919"); /* as they are */
    drop(&p);
    p = page(all, "q=nowhere&limit=10");
    assert_int_equal(json_array_size(p.rows), 0);
    drop(&p);
    json_decref(all);
}

static void test_query__that_is_not_meant__then_refused(void **state)
{
    static const char *const rows[] = {
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=1x",
        "limit=",
        "limit=99999999999999999999",
        "sort=weight",
        "sort=",
        "sort=--name",
        "page=2",
        "cursor=",
        "cursor=abc",
        "cursor=zz",
        "cursor=5b5d",                                          /* [] */
        "cursor=5b226e616d65222c312c22222c225d",                /* cut */
        "cursor=5b226e616d65222c7b7d2c22222c22225d",            /* ["name",{},"",""] */
        "cursor=5b312c312c22222c22225d",                        /* [1,1,"",""] */
        "sort=entries&cursor=5b226e616d65222c312c22222c22225d", /* of name */
        "sort=-name&cursor=5b226e616d65222c312c22222c22225d",
        "q=%zz",
        "q=%00",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct api_rows_query q;
        struct errinfo why = {.text = ""};

        if (api_rows_read(slice_str(rows[i]), &table, &q, &why) != ERR_SYNTAX) {
            fail_msg("taken: %s", rows[i]);
        }
        assert_true(strlen(why.text) > 10);
        assert_null(q.after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages__of_many_rows__then_each_comes_once),
        cmocka_unit_test(
            test_pages__while_rows_come_and_go__then_those_that_stay_come_once),
        cmocka_unit_test(test_page__then_the_answer_is_small_and_in_order),
        cmocka_unit_test(test_query__that_is_not_meant__then_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
