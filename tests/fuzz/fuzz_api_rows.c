/* fuzz_api_rows - any query string for a table: refused with a text, or pages put together are the whole table
 * in one order, whatever the words and the cursor are. */
#include <string.h>

#include "core/hub/api/api_rows.h"

#include "tests/fuzz/fuzz.h"

enum { ROWS = 12, PAGES_MAX = 64 };

static const char *const sorts[] = {"name", "size", NULL};
static const char *const words[] = {"name", "tags", NULL};
static const char *const key[] = {"name", NULL};
static const char *const own[] = {"kind", NULL};
static const struct api_table table = {
    .sorts = sorts, .words = words, .key = key, .own = own};

static json_t *make_rows(void)
{
    static json_t *rows;

    for (int i = 0; rows == NULL || json_array_size(rows) < ROWS; i++) {
        char name[32];
        rows = rows == NULL ? json_array() : rows;
        (void)snprintf(name, sizeof(name), "row %c", 'a' + i);
        (void)json_array_append_new(rows, json_pack("{s:s, s:i, s:[s, s]}", "name",
                                                    name, "size", i % 5, "tags", "x",
                                                    i % 2 != 0 ? "Odd" : "even"));
    }
    return rows;
}

/* Rows of this page and all behind it. */
static size_t walk(const struct api_rows_query *first)
{
    struct api_rows_query q = *first;
    struct api_rows page = {.rows = NULL};
    size_t total = 0;

    json_incref(q.after);
    for (unsigned i = 0; i < PAGES_MAX; i++) {
        FUZZ_CHECK(api_rows_page(make_rows(), &table, &q, &page) == ERR_OK);
        FUZZ_CHECK(q.limit == 0 || json_array_size(page.rows) <= q.limit);
        FUZZ_CHECK(page.found <= ROWS);
        total += json_array_size(page.rows);
        bool is_last = !json_is_array(page.next) && !json_is_string(page.next);
        json_decref(q.after);
        q.after = is_last ? NULL : json_incref(page.next);
        json_decref(page.rows);
        json_decref(page.next);
        if (is_last || !json_is_array(q.after)) {
            break;
        }
    }
    json_decref(q.after);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct api_rows_query q;
    struct errinfo why = {.text = ""};

    if (api_rows_read(slice_of((const char *)data, size), &table, &q, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return 0;
    }
    FUZZ_CHECK(q.limit <= API_ROWS_MAX && strlen(q.words) < API_ROWS_WORDS_MAX);
    FUZZ_CHECK(walk(&q) <= ROWS);
    api_rows_fini(&q);
    return 0;
}
