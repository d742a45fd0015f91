/* fuzz_file_names - any bytes as the name of a file of the state folder, or an id of people: what is understood
 * prints to the same name. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/case_id.h"
#include "core/campaign/campaign_read.h"
#include "core/count/live_format.h"
#include "core/count/merged_runs.h"
#include "core/count/runset.h"
#include "core/count/stream.h"
#include "core/list/files.h"
#include "core/list/list.h"
#include "core/telemetry/changes.h"
#include "core/verdict/journal/journal_file.h"

#include "tests/fuzz/fuzz.h"

static bool ends_so(const char *path, struct slice name)
{
    return slice_has_suffix_nocase(slice_str(path), name);
}

static void check_counts(struct slice name)
{
    char path[FILE_PATH_MAX];
    struct run_id id = {.inc = 0};
    struct merged_runs_name merged;

    if (runset_name_parse(name, &id)) {
        FUZZ_CHECK(runset_name(&id, path) == ERR_OK && ends_so(path, name));
    }
    id = (struct run_id){.inc = 0};
    if (stream_name_parse(name, &id)) {
        FUZZ_CHECK(stream_path(path, "/d", &id) == ERR_OK && ends_so(path, name));
    }
    if (merged_runs_name_parse(name, &merged)) {
        FUZZ_CHECK(merged_runs_path("/d", &merged, path) == ERR_OK &&
                   ends_so(path, name));
    }
    struct live_name live = live_name_parse(name);
    id = (struct run_id){.start_s = live.start_s, .inc = live.inc};
    if (live.kind == LIVE_JOURNAL) {
        FUZZ_CHECK(live_journal_path(path, "/d", &id) == ERR_OK && ends_so(path, name));
    } else if (live.kind == LIVE_TABLE) {
        FUZZ_CHECK(live_table_path(path, "/d", &id, live.generation) == ERR_OK &&
                   ends_so(path, name));
    }
}

static void check_lists(struct slice name)
{
    char path[FILE_PATH_MAX];
    struct journal_name_of journal;
    char printed[JOURNAL_FILE_NAME];
    uint64_t number = 0;

    enum list_file kind = list_file_parse(name, &number);
    if (kind != LIST_FILE_OTHER) {
        FUZZ_CHECK(list_file_path(path, "/d", kind, number, NULL) == ERR_OK);
        FUZZ_CHECK(ends_so(path, name));
    }
    if (journal_file_read(name, &journal)) {
        journal_file_print(&journal, printed);
        FUZZ_CHECK(slice_eq(slice_str(printed), name));
    }
    (void)list_name_is_taken(name);
    FUZZ_CHECK(!list_name_is_valid(name) || name.n <= LIST_NAME_MAX);
}

static void check_ids(struct slice text)
{
    char campaign[CAMPAIGN_ID_SIZE];
    char changed[CHANGE_ID_SIZE];
    char id[CASE_ID_SIZE];
    uint64_t n = 0;
    uint64_t again = 0;

    if (campaign_id_read(text, &n)) {
        campaign_id_print(n, campaign);
        FUZZ_CHECK(slice_eq_nocase(slice_str(campaign), text));
    }
    if (change_id_read(text, &n)) { /* zeros before a number are no other change */
        FUZZ_CHECK(change_id_read(slice_str(change_id_print(n, changed)), &again));
        FUZZ_CHECK(again == n);
    }
    if (case_id_read(text, &n)) {
        case_id_print(n, id);
        FUZZ_CHECK(case_id_read(slice_str(id), &again) && again == n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);

    FUZZ_CHECK(base_init() == ERR_OK);
    check_counts(text);
    check_lists(text);
    check_ids(text);
    return 0;
}
