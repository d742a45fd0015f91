/* fuzz_changes - any bytes as a file of the log of changes: rows come newest first, each is found by its
 * id, and pages put together are the whole. */
#include "core/base/base.h"
#include "core/telemetry/changes_read.h"

#include "tests/fuzz/state.h"

enum { PAGE = 3 };

static json_t *read_page(const char *words, uint64_t before, size_t limit,
                         uint64_t *retnext)
{
    const struct changes_query q = {.state_dir = state_folder(),
                                    .words = slice_str(words),
                                    .before = before,
                                    .limit = limit};
    json_t *rows = NULL;
    struct errinfo why = {.text = ""};

    if (changes_read(&q, &rows, retnext, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return NULL;
    }
    FUZZ_CHECK(rows != NULL && json_array_size(rows) <= limit);
    return rows;
}

static uint64_t check_row(json_t *row, uint64_t before)
{
    const char *id = json_string_value(json_object_get(row, "id"));
    const char *why = NULL;
    json_t *found = NULL;
    struct errinfo info = {.text = ""};
    char printed[CHANGE_ID_SIZE];
    uint64_t number = 0;

    FUZZ_CHECK(id != NULL && change_id_read(slice_str(id), &number));
    FUZZ_CHECK(before == 0 || number < before);
    FUZZ_CHECK(slice_eq(slice_str(change_id_print(number, printed)), slice_str(id)));
    FUZZ_CHECK(changes_find(state_folder(), slice_str(id), &found, &info) == ERR_OK);
    FUZZ_CHECK(json_equal(found, row) == 1);
    FUZZ_CHECK(changes_undo_of(row, &why) != CHANGE_STAYS || why != NULL);
    json_decref(found);
    return number;
}

static void check_all(void)
{
    uint64_t next = 0;
    uint64_t before = 0;
    json_t *all = read_page("", 0, CHANGES_ROWS_MAX, &next);
    size_t i = 0;
    json_t *row = NULL;

    json_array_foreach(all, i, row)
    {
        before = check_row(row, before);
    }
    size_t at = 0;
    size_t n = json_array_size(all);
    bool is_whole = next == 0;
    next = 0;
    do {
        json_t *page = read_page("", next, PAGE, &next);
        json_array_foreach(page, i, row)
        {
            FUZZ_CHECK(at >= n || json_equal(row, json_array_get(all, at)) == 1);
            at++;
        }
        json_decref(page);
    } while (next != 0 && at <= n);
    FUZZ_CHECK(!is_whole || at == n);
    json_decref(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t next = 0;
    uint64_t places = 0;
    struct errinfo why;

    FUZZ_CHECK(base_init() == ERR_OK);
    (void)state_file("changes/log.1", slice_of((const char *)data, size));
    check_all();
    json_decref(read_page("who:a x", 0, PAGE, &next));
    (void)changes_forget(state_folder(), SLICE_LIT("a@b.example"), &places, &why);
    check_all();
    json_t *left = read_page("a@b.example", 0, PAGE, &next);
    FUZZ_CHECK(places == 0 || json_array_size(left) == 0 || places < size);
    json_decref(left);
    return 0;
}
