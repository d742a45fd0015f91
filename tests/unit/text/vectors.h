/*
 * vectors - rows of other projects' tests, from the data folder, counted and reported per file.
 *
 * The folder is GILLNET_DATA, else shared/data beside the source folder; without it a test that
 * asks for a file is skipped.
 */
#ifndef TESTS_UNIT_TEXT_VECTORS_H
#define TESTS_UNIT_TEXT_VECTORS_H

#include <jansson.h>

#include "tests/unit/text/text_test.h"

enum { VECTOR_PATH_MAX = 4096, VECTOR_SMALL = 20 };

#define VECTOR_ARGS(s) (int)(s).n, (s).n > 0 ? (s).p : ""

struct vectors {
    const char *name; /* of the file, below urls/ */
    json_t *root;
    json_t *rows;
    size_t count;
    size_t passed;
};

/* Skips the test when there is no such file. */
static inline void vectors_open(struct vectors *v, const char *name)
{
    const char *data = getenv("GILLNET_DATA"); /* NOLINT(concurrency-mt-unsafe) */
    char path[VECTOR_PATH_MAX];
    json_error_t error;

    (void)snprintf(path, sizeof(path), "%s/urls/%s.json",
                   data != NULL ? data : GILLNET_DATA_DEFAULT, name);
    *v = (struct vectors){.name = name,
                          .root = json_load_file(path, JSON_ALLOW_NUL, &error)};
    if (v->root == NULL) {
        print_message("skipped: %s: %s\n", path, error.text);
        skip();
    }
    v->rows = json_object_get(v->root, "vectors");
}

/* Counts one row, and prints it when it failed. */
static inline void vectors_row(struct vectors *v, bool passed, struct slice input,
                               struct slice got, struct slice want)
{
    v->count++;
    v->passed += passed ? 1 : 0;
    if (!passed) {
        print_message("  miss: \"%.*s\": got \"%.*s\", want \"%.*s\"\n",
                      VECTOR_ARGS(input), VECTOR_ARGS(got), VECTOR_ARGS(want));
    }
}

/* Reports, and fails below `percent` of the rows; under 20 rows one may miss unless it is 100. */
static inline void vectors_close(struct vectors *v, unsigned percent)
{
    size_t missed = v->count - v->passed;
    bool is_enough = v->passed * 100 >= v->count * percent ||
                     (percent < 100 && v->count < VECTOR_SMALL && missed <= 1);

    print_message("%s: %zu rows, %zu passed\n", v->name, v->count, v->passed);
    json_decref(v->root);
    assert_true(v->count > 0);
    assert_true(is_enough);
}

static inline struct slice json_slice(const json_t *value)
{
    /* of anything but a string: nothing */
    return slice_of(json_string_value(value), json_string_length(value));
}

#endif
