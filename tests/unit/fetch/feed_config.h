/*
 * feed_config - a configuration with one feed, urlhaus, that may be silent for two days.
 */
#ifndef TESTS_UNIT_FETCH_FEED_CONFIG_H
#define TESTS_UNIT_FETCH_FEED_CONFIG_H

#include "core/base/file.h"
#include "core/config/config.h"

#include "tests/unit/tempdir.h"

static inline struct config *feed_config(void)
{
    static const char text[] =
        "feeds = ( { name = \"urlhaus\"; url = \"https://feeds.example/x\"; "
        "silent_after = \"2d\"; } );\n";
    struct config_errors errors = {.n = 0};
    struct config *config = NULL;
    struct tempdir *dir = NULL;

    assert_int_equal(tempdir_setup((void **)&dir), 0);
    (void)tempdir_file(dir, "gillnet.conf");
    assert_int_equal(file_write_atomic(dir->file, slice_str(text), 0644, NULL), ERR_OK);
    assert_int_equal(config_load(dir->file, NULL, &config, &errors), ERR_OK);
    (void)tempdir_teardown((void **)&dir);
    return config;
}

#endif
