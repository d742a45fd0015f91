/*
 * liststate - a state folder with keys and lists, for the tests of stat and doctor.
 */
#ifndef TESTS_UNIT_CLI_LISTSTATE_H
#define TESTS_UNIT_CLI_LISTSTATE_H

#include "core/base/keyring.h"
#include "core/list/list.h"

#include "tests/unit/cli/clirun.h"
#include "tests/unit/list/list_change.h"

/* Makes the folder of the state and one list with one domain in it. */
static inline void liststate_make(const char *state_dir, const char *list)
{
    struct keyring keys;
    struct errinfo why = {0};
    struct list_writer *w = NULL;
    struct feature_entry e = {.class_type = FEATURE_domain,
                              .text = SLICE_LIT("evil.example")};

    assert_int_equal(mkdir(state_dir, 0700), 0);
    if (keyring_load_or_create(state_dir, &keys, &why) != ERR_OK ||
        list_writer_open(state_dir, slice_str(list), &keys, true, &w, &why) != ERR_OK ||
        list_add(w, &e, SLICE_LIT("test"), 0, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    list_writer_close(&w);
}

#endif
