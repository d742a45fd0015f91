/*
 * test_vectors - tables of other projects' tests, where the data folder has them.
 *
 * The folder is GILLNET_DATA, else shared/data beside the source folder; without it every test
 * is skipped. Inputs that we read otherwise on purpose are listed with the reason.
 */
#include <jansson.h>

#include "core/text/address.h"
#include "core/text/encoded_word.h"
#include "core/text/transfer.h"

#include "tests/unit/text/text_test.h"

enum { VECTOR_PATH_MAX = 4096 };

static const char *const differences[] = {
    /* a bare word is no address */
    "Undisclosed recipients",
    /* a quoted local part that needs its quotes keeps them */
    "\"<>\"@example.com",
    "\"\\\"\"@example.com",
};

static bool is_known_difference(const char *input)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(differences); i++) {
        if (strcmp(differences[i], input) == 0) {
            return true;
        }
    }
    return false;
}

/* The rows of urls/NAME.json; skips the test when there are none. */
static json_t *load(const char *name, json_t **retroot)
{
    const char *data = getenv("GILLNET_DATA"); /* NOLINT(concurrency-mt-unsafe) */
    char path[VECTOR_PATH_MAX];
    json_error_t error;

    (void)snprintf(path, sizeof(path), "%s/urls/%s.json",
                   data != NULL ? data : GILLNET_DATA_DEFAULT, name);
    *retroot = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (*retroot == NULL) {
        print_message("skipped: %s: %s\n", path, error.text);
        skip();
    }
    return json_object_get(*retroot, "vectors");
}

static struct slice json_slice(const json_t *value)
{
    /* of anything but a string: nothing */
    return slice_of(json_string_value(value), json_string_length(value));
}

static size_t mismatches;

static void compare(const char *input, struct slice got, struct slice want)
{
    if (!slice_eq(got, want) && !is_known_difference(input)) {
        print_error("%s: got \"%.*s\", want \"%.*s\"\n", input, SLICE_ARGS(got),
                    SLICE_ARGS(want));
        mismatches++;
    }
}

static void test_encoded_word__rspamd__same(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-rfc2047", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);

        compare(json_string_value(in), encoded_word_decode(*state, json_slice(in)),
                json_slice(json_array_get(row, 1)));
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static struct slice decode_qp(struct arena *arena, struct slice in)
{
    char *out = arena_bytes(arena, transfer_bound(in.n) + 128);
    struct transfer t;
    size_t n = 0;

    transfer_init(&t, TRANSFER_QUOTED_PRINTABLE);
    n = transfer_feed(&t, in, out);
    n += transfer_end(&t, out + n);
    return slice_of(out, n);
}

static void test_transfer__rspamd__same(void **state)
{
    /* rows for encoders have what is decoded first, rows for decoders last */
    json_t *root = NULL;
    json_t *rows = load("rspamd-quoted-printable", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        struct slice first = json_slice(json_array_get(row, 0));
        struct slice last = json_slice(json_array_get(row, 1));

        if (!slice_eq(decode_qp(*state, last), first)) {
            compare(first.p, decode_qp(*state, first), last);
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_address__rspamd_lists__same_addresses(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-mime-addr", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);
        const json_t *want = json_array_get(row, 1);
        const json_t *one = NULL;
        struct address got[16];
        size_t n = address_list_parse(*state, json_slice(in), got, COUNT_OF(got), NULL);
        size_t k = 0;

        json_array_foreach(want, k, one)
        {
            const json_t *name = json_object_get(one, "name");

            compare(json_string_value(in), k < n ? got[k].text : SLICE_NONE,
                    json_slice(json_object_get(one, "addr")));
            if (name != NULL && k < n) {
                compare(json_string_value(in), got[k].display, json_slice(name));
            }
        }
        if (n != json_array_size(want)) {
            compare(json_string_value(in), SLICE_LIT("another number"), SLICE_NONE);
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_address__rspamd_smtp__same_address(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-smtp-addr", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);
        const json_t *want = json_object_get(json_array_get(row, 1), "addr");
        struct address got = {0};

        (void)address_parse(*state, json_slice(in), &got);
        if (want != NULL) {
            compare(json_string_value(in), got.text, json_slice(want));
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_encoded_word__rspamd__same),
        ARENA_TEST(test_transfer__rspamd__same),
        ARENA_TEST(test_address__rspamd_lists__same_addresses),
        ARENA_TEST(test_address__rspamd_smtp__same_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
