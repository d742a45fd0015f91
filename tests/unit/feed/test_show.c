/* Addresses of feeds as people may see them. */
#include <string.h>

#include "core/feed/show.h"

#include "tests/unit/unit.h"

static void test_feed_shown__secrets__are_not_there(void **state)
{
    static const struct {
        const char *url;
        const char *shown;
    } rows[] = {
        {"https://feeds.example/urls.txt", "https://feeds.example/urls.txt"},
        {"https://feeds.example", "https://feeds.example"},
        {"https://me:word@feeds.example/x", "https://***@feeds.example/x"},
        {"https://me:w@rd@feeds.example:8443/x", "https://***@feeds.example:8443/x"},
        {"https://f.example/?key=1&b&c=", "https://f.example/?key=***&***&c=***"},
        {"https://f.example/a?", "https://f.example/a"},
        {"https://f.example/a#b", "https://f.example/a"},
        {"https://f.example/a?x=1#b", "https://f.example/a?x=***"},
        {"https://f.example/data/0123456789abcdef0123/x.csv.gz",
         "https://f.example/data/***/x.csv.gz"},
        {"https://f.example/online-valid-of-today/x",
         "https://f.example/online-valid-of-today/x"},
        {"file:///srv/0123456789abcdef0123/x", "file:///srv/0123456789abcdef0123/x"},
        {"nonsense", "nonsense"},
    };
    char shown[FEED_SHOWN_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(feed_shown(shown, rows[i].url), rows[i].shown);
    }
}

static void test_feed_shown__longer_than_fits__cut(void **state)
{
    char url[2000] = "https://f.example/";
    char shown[FEED_SHOWN_MAX];

    (void)state;
    memset(url + strlen(url), 'a', 1500);
    assert_in_range(strlen(feed_shown(shown, url)), 1, FEED_SHOWN_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed_shown__secrets__are_not_there),
        cmocka_unit_test(test_feed_shown__longer_than_fits__cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
