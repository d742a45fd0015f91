/*
 * test_presets - the ready-made feeds of conf/feeds.d: off as they are shipped, right when switched
 * on, alone and together, in a format that there is.
 */
#include <dirent.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/feed/feed.h"

#include "tests/unit/config/confdir.h"

enum { INTERVAL_MIN_S = 300, TEXT_MAX = 64 * 1024 };

#define PRESETS GILLNET_SOURCE_DIR "/conf/feeds.d"

static void read_preset(const char *name, struct buf *text)
{
    char path[1024];
    snprintf(path, sizeof(path), PRESETS "/%s", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int c = getc(f); c != EOF; c = getc(f)) {
        buf_add_char(text, (char)c);
    }
    fclose(f);
    assert_false(buf_failed(text));
}

/* Copies the text; every "enabled = false" becomes true, every "##> " an own line. */
static void switch_on(struct slice text, struct buf *to)
{
    while (text.n > 0) {
        struct slice line = slice_cut(&text, '\n');
        size_t at = slice_find_slice(line, SLICE_LIT("enabled = false"));
        if (slice_has_prefix(line, SLICE_LIT("##>"))) {
            buf_add(to, slice_from(line, 3));
        } else if (at < line.n) {
            buf_add_str(to, "enabled = true;");
        } else {
            buf_add(to, line);
        }
        buf_add_char(to, '\n');
    }
}

static void check_feed(const char *file, const struct config_feed *f, bool enabled)
{
    enum feed_format format = feed_format_by_name(slice_str(f->format));
    if (f->enabled != enabled || f->interval_s < INTERVAL_MIN_S ||
        format == FEED_FORMAT_COUNT || *f->url == '\0') {
        fail_msg("%s: %s: %s, %s, interval %lu", file, f->name,
                 f->enabled ? "on" : "off", f->format, (unsigned long)f->interval_s);
    }
}

static void check_text(const char *file, struct slice text, bool enabled)
{
    struct config *c = confdir_load(confdir_put_bytes(file, text.p, text.n));
    assert_true(c->nfeeds >= 1);
    for (size_t i = 0; i < c->nfeeds; i++) {
        check_feed(file, &c->feeds[i], enabled);
    }
    config_release(&c);
}

static void test_presets__as_shipped_and_switched_on__then_right(void **state)
{
    DIR *d = opendir(PRESETS);
    struct buf text;
    struct buf on;
    unsigned n = 0;

    (void)state;
    assert_non_null(d);
    buf_init(&text, TEXT_MAX);
    buf_init(&on, TEXT_MAX);
    /* cppcheck-suppress readdirCalled */
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] == '.') {
            continue;
        }
        n++;
        buf_clear(&text);
        buf_clear(&on);
        read_preset(e->d_name, &text);
        struct slice licence = SLICE_LIT("erms");
        if (slice_find_slice(buf_slice(&text), licence) == text.n) {
            fail_msg("%s has no line about terms", e->d_name);
        }
        check_text(e->d_name, buf_slice(&text), false);
        switch_on(buf_slice(&text), &on);
        check_text(e->d_name, buf_slice(&on), true);
    }
    closedir(d);
    assert_true(n >= 12);
    buf_fini(&text);
    buf_fini(&on);
}

/* All of them in one conf.d: no list and no name twice. */
static void test_presets__all_in_conf_d__then_one_feed_each(void **state)
{
    DIR *d = opendir(PRESETS);
    char folder[100];
    char path[300];
    struct buf text;
    size_t n = 0;

    (void)state;
    assert_non_null(d);
    snprintf(folder, sizeof(folder), "%s/conf.d", confdir);
    assert_int_equal(mkdir(folder, 0700), 0);
    buf_init(&text, TEXT_MAX);
    /* cppcheck-suppress readdirCalled */
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] == '.') {
            continue;
        }
        buf_clear(&text);
        read_preset(e->d_name, &text);
        snprintf(path, sizeof(path), "conf.d/%.200s", e->d_name);
        confdir_put_bytes(path, text.p, text.n);
        for (struct slice rest = buf_slice(&text); rest.n > 0;) {
            struct slice line = slice_cut(&rest, '\n');
            n += slice_find_slice(line, SLICE_LIT("enabled = false")) < line.n;
        }
    }
    closedir(d);
    struct config *c = confdir_load(confdir_put("gillnet.conf", ""));
    assert_int_equal(c->nfeeds, n);
    config_release(&c);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets__as_shipped_and_switched_on__then_right),
        cmocka_unit_test(test_presets__all_in_conf_d__then_one_feed_each),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, confdir_setup, confdir_teardown);
}
