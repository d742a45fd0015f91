/*
 * test_fixed - limits that bound arrays of other rooms: the configuration shows what they are.
 */
#include "core/config/config.h"
#include "core/message/extract/extract.h"
#include "core/message/extract/html_base.h"
#include "core/message/html/shown.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"

#include "tests/unit/unit.h"

static void test_limits__fixed_ones__are_those_of_their_rooms(void **state)
{
    struct config_errors errors = {.n = 0};
    struct config *c = NULL;

    (void)state;
    assert_int_equal(config_load(NULL, NULL, &c, &errors), ERR_OK);
    assert_int_equal(c->limits.url_bytes, URL_BYTES_MAX);
    assert_int_equal(c->limits.boundary, MAIL_BOUNDARY_MAX);
    assert_int_equal(c->limits.readings, MAIL_READINGS_MAX);
    assert_int_equal(c->limits.html_attributes, HTML_ATTRIBUTES_MAX);
    assert_int_equal(c->limits.html_depth, SHOWN_DEPTH_MAX);
    assert_int_equal(c->limits.html_base, EXTRACT_EARLY_MAX);
    assert_int_equal(c->limits.html_base, EXTRACT_BASES_MAX);
    assert_int_equal(c->limits.unwrap, UNWRAP_DEPTH_MAX);
    config_release(&c);
}

static void test_limits__defaults__are_those_of_extraction(void **state)
{
    struct config_errors errors = {.n = 0};
    struct config *c = NULL;

    (void)state;
    assert_int_equal(config_load(NULL, NULL, &c, &errors), ERR_OK);
    assert_int_equal(c->limits.features, EXTRACT_FEATURES);
    assert_int_equal(c->limits.addresses, EXTRACT_ADDRESSES);
    assert_int_equal(c->limits.attachment_bytes, EXTRACT_ATTACHMENT_BYTES);
    assert_int_equal(c->limits.archive_depth, EXTRACT_ARCHIVE_DEPTH);
    config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits__fixed_ones__are_those_of_their_rooms),
        cmocka_unit_test(test_limits__defaults__are_those_of_extraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
