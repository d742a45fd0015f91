/*
 * vectors - rows of other projects' tests, from the data folder, counted and reported per file.
 *
 * The folder is GILLNET_DATA, else shared/data beside the source folder where that is, else
 * tests/data/vectors, which has some rows of our own in the same form. A file that is missing or
 * odd fails the test that asks for it.
 */
#ifndef TESTS_UNIT_TEXT_VECTORS_H
#define TESTS_UNIT_TEXT_VECTORS_H

#include <jansson.h>
#include <unistd.h>

#include "tests/unit/text/text_test.h"

enum { VECTOR_PATH_MAX = 4096, VECTOR_SMALL = 20, VECTOR_FILE_MAX = 16 << 20 };

#define VECTOR_ARGS(s) (int)(s).n, (s).n > 0 ? (s).p : ""

/* Why another reading than a row's is better. */
struct vector_reason {
    const char *input;
    const char *why;
};

struct vectors {
    const char *name; /* of the file, below urls/ */
    json_t *root;
    json_t *rows;
    size_t count;
    size_t passed;
    const struct vector_reason *reasons; /* ends with a row of NULL; may be NULL */
};

/* The escape of a surrogate ("\uD8..") with one of these second digits; p has six bytes. */
static inline bool vectors_is_surrogate(const char *p, const char *second_digits)
{
    return p[0] == '\\' && p[1] == 'u' && (p[2] == 'D' || p[2] == 'd') &&
           p[3] != '\0' && strchr(second_digits, p[3]) != NULL;
}

/* A surrogate without its other half is U+FFFD to us; jansson would refuse the file. */
static inline void vectors_mend(char *text, size_t n)
{
    size_t i = 0;

    while (i + 12 < n) {
        bool is_high = vectors_is_surrogate(text + i, "89ABab");

        if (is_high && vectors_is_surrogate(text + i + 6, "CDEFcdef")) {
            i += 12;
        } else if (is_high || vectors_is_surrogate(text + i, "CDEFcdef")) {
            put_at(text, i, slice_str("\\uFFFD"));
            i += 6;
        } else {
            i += text[i] == '\\' ? 2 : 1;
        }
    }
}

static inline json_t *vectors_load(const char *path, json_error_t *reterror)
{
    FILE *f = fopen(path, "re");
    char *text = malloc(VECTOR_FILE_MAX);
    json_t *root = NULL;
    size_t n = 0;

    (void)snprintf(reterror->text, sizeof(reterror->text), "not there");
    assert_non_null(text);
    if (f != NULL) {
        n = fread(text, 1, VECTOR_FILE_MAX, f);
        (void)fclose(f);
        assert_true(n < VECTOR_FILE_MAX);
        vectors_mend(text, n);
        root = json_loadb(text, n, JSON_ALLOW_NUL, reterror);
    }
    free(text);
    return root;
}

#define VECTORS_OWN GILLNET_SOURCE_DIR "/tests/data/vectors"

static inline const char *vectors_folder(void)
{
    const char *data = getenv("GILLNET_DATA"); /* NOLINT(concurrency-mt-unsafe) */

    if (data != NULL && data[0] != '\0') {
        return data;
    }
    return access(GILLNET_DATA_DEFAULT, F_OK) == 0 ? GILLNET_DATA_DEFAULT : VECTORS_OWN;
}

/* There is no data folder: the rows are our own. */
static inline bool vectors_are_own(void)
{
    return strcmp(vectors_folder(), VECTORS_OWN) == 0;
}

/* Fails the test when there is no such file, or one without rows. */
static inline void vectors_open(struct vectors *v, const char *name)
{
    char path[VECTOR_PATH_MAX];
    json_error_t error;

    (void)snprintf(path, sizeof(path), "%s/urls/%s.json", vectors_folder(), name);
    *v = (struct vectors){.name = name, .root = vectors_load(path, &error)};
    if (v->root == NULL) {
        fail_msg("%s: %s", path, error.text);
    }
    v->rows = json_object_get(v->root, "vectors");
    if (json_array_size(v->rows) == 0) {
        fail_msg("%s: \"vectors\" is no array with rows", path);
    }
}

static inline const char *vectors_why(const struct vectors *v, struct slice input)
{
    const struct vector_reason *r = v->reasons;

    while (r != NULL && r->input != NULL) {
        if (slice_eq(slice_str(r->input), input)) {
            return r->why;
        }
        r++;
    }
    return "no reason known";
}

/* Counts one row, and prints it when it failed. */
static inline void vectors_row(struct vectors *v, bool passed, struct slice input,
                               struct slice got, struct slice want)
{
    v->count++;
    v->passed += passed ? 1 : 0;
    if (!passed) {
        print_message("  miss: \"%.*s\": got \"%.*s\", want \"%.*s\": %s\n",
                      VECTOR_ARGS(input), VECTOR_ARGS(got), VECTOR_ARGS(want),
                      vectors_why(v, input));
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
