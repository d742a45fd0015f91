/* test_shipped - the files of conf/ and the schema say the same. */
#include <ctype.h>
#include <dirent.h>

#include "core/config/schema.h"

#include "tests/unit/config/confdir.h"

#define CONF_DIR GILLNET_SOURCE_DIR "/conf"

static void read_conf(const char *name, struct buf *text)
{
    char path[1024];
    FILE *f = NULL;
    int c = 0;

    snprintf(path, sizeof(path), "%s/%s", CONF_DIR, name);
    f = fopen(path, "r");
    assert_non_null(f);
    buf_init(text, 1 << 20);
    while ((c = getc(f)) != EOF) {
        buf_add_char(text, (char)c);
    }
    fclose(f);
    assert_false(buf_failed(text));
}

static void dump_values(const char *path, struct buf *ret)
{
    struct config *c = confdir_load(path);
    struct buf text;
    struct slice rest;

    buf_init(&text, 8 << 20);
    config_dump(c, false, &text);
    for (rest = buf_slice(&text); rest.n > 0;) {
        struct slice line = slice_cut(&rest, '\n');

        buf_add(ret, slice_head(line, slice_find_slice(line, SLICE_LIT("  # "))));
        buf_add_char(ret, '\n');
    }
    buf_fini(&text);
    config_release(&c);
}

/* Every commented setting is taken in: "#name" becomes "name", "#{" and "#)" too. */
static void uncomment(struct slice from, struct buf *to)
{
    while (from.n > 0) {
        struct slice line = slice_cut(&from, '\n');
        struct slice bare = slice_trim(line);

        if (bare.n >= 2 && bare.p[0] == '#' &&
            (isalpha((unsigned char)bare.p[1]) || strchr("{)", bare.p[1]) != NULL)) {
            bare = slice_from(bare, 1);
        }
        buf_add(to, bare);
        buf_add_char(to, '\n');
    }
}

static void test_shipped__when_loaded_as_they_are__then_fine(void **state)
{
    DIR *d = opendir(CONF_DIR);
    struct dirent *e = NULL;
    unsigned n = 0;

    (void)state;
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char path[1024];
        struct config *c = NULL;

        if (e->d_name[0] != '.' && strcmp(e->d_name, "feeds.d") != 0 &&
            strcmp(e->d_name, "rules.d") != 0 && strcmp(e->d_name, "digest.txt") != 0) {
            snprintf(path, sizeof(path), "%s/%s", CONF_DIR, e->d_name);
            c = confdir_load(path);
            config_release(&c);
            n++;
        }
    }
    closedir(d);
    assert_true(n >= 2);
}

static void test_shipped__when_every_key_is_uncommented__then_the_defaults(void **state)
{
    struct buf text;
    struct buf bare;
    struct buf shipped;
    struct buf defaults;
    char file_mark[600];
    struct config *c = NULL;

    (void)state;
    read_conf("gillnet.conf", &text);
    buf_init(&bare, 1 << 20);
    buf_init(&shipped, 8 << 20);
    buf_init(&defaults, 8 << 20);
    uncomment(buf_slice(&text), &bare);
    confdir_put_bytes("gillnet.conf", bare.p, bare.n);
    dump_values(confdir_file, &shipped);
    dump_values(NULL, &defaults);
    assert_string_equal(shipped.p, defaults.p);

    /* and every key of the schema came from the file */
    c = confdir_load(confdir_file);
    buf_clear(&shipped);
    config_dump(c, false, &shipped);
    snprintf(file_mark, sizeof(file_mark), "  # %s:", confdir_file);
    for (struct slice rest = buf_slice(&shipped); rest.n > 0;) {
        struct slice line = slice_cut(&rest, '\n');

        if (slice_find_slice(line, slice_str(file_mark)) == line.n &&
            !slice_has_prefix(line, SLICE_LIT("rules.")) &&
            !slice_has_prefix(line, SLICE_LIT("rule_groups.")) &&
            !slice_has_prefix(line, SLICE_LIT("value_sets."))) { /* of rules.d/ */
            fail_msg("conf/gillnet.conf lacks %.*s", SLICE_ARGS(line));
        }
    }
    config_release(&c);
    buf_fini(&text);
    buf_fini(&bare);
    buf_fini(&shipped);
    buf_fini(&defaults);
}

static void test_shipped__when_nothing_is_uncommented__then_the_defaults(void **state)
{
    static const char *const names[] = {"gillnet.conf", "gillnet.conf.minimal"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct buf shipped;
        struct buf defaults;
        char path[1024];

        buf_init(&shipped, 8 << 20);
        buf_init(&defaults, 8 << 20);
        snprintf(path, sizeof(path), "%s/%s", CONF_DIR, names[i]);
        dump_values(path, &shipped);
        dump_values(NULL, &defaults);
        assert_string_equal(shipped.p, defaults.p);
        buf_fini(&shipped);
        buf_fini(&defaults);
    }
}

static void test_shipped__when_the_examples_are_taken__then_they_load(void **state)
{
    struct buf text;
    struct buf examples;
    struct config *c = NULL;

    (void)state;
    read_conf("gillnet.conf", &text);
    buf_init(&examples, 1 << 20);
    for (struct slice rest = buf_slice(&text); rest.n > 0;) {
        struct slice line = slice_trim(slice_cut(&rest, '\n'));

        if (slice_has_prefix(line, SLICE_LIT("##>"))) {
            buf_add(&examples, slice_from(line, 3));
            buf_add_char(&examples, '\n');
        }
    }
    c = confdir_load(confdir_put_bytes("gillnet.conf", examples.p, examples.n));
    assert_int_equal(c->nlists, 4);
    assert_string_equal(c->rules[c->nrules - 1].name, "cut_short");
    assert_int_equal(c->rule_groups[c->nrule_groups - 1].cap, 2.5);
    assert_string_equal(c->value_sets[c->nvalue_sets - 1].name, "partners");
    assert_int_equal(c->ntrusted_networks, 2);
    assert_int_equal(c->protected_domains.n, 2);
    assert_int_equal(c->nfeeds, 2);
    assert_true(c->threshold[ACTION_REJECT] == 15.0);
    config_release(&c);
    buf_fini(&text);
    buf_fini(&examples);
}

/* The words of a text without the marks of comments, each after one space. */
static void add_words(struct slice text, struct buf *ret)
{
    while (text.n > 0) {
        struct slice line = slice_trim(slice_cut(&text, '\n'));

        line = slice_trim(
            slice_from(line, slice_has_prefix(line, SLICE_LIT("##")) ? 2 : 0));
        while (line.n > 0) {
            struct slice word = slice_cut(&line, ' ');

            if (word.n > 0) {
                buf_add_char(ret, ' ');
                buf_add(ret, word);
            }
        }
    }
}

/* The comment above every key of conf/gillnet.conf begins with the key's text in the schema. */
static void test_shipped__when_a_comment_is_read__then_it_is_the_schemas(void **state)
{
    struct buf text;
    struct buf words;
    struct buf help;

    (void)state;
    read_conf("gillnet.conf", &text);
    buf_init(&words, 1 << 20);
    buf_init(&help, 4096);
    add_words(buf_slice(&text), &words);
    for (size_t i = 0; i < SCHEMA_KEYS + SCHEMA_LIST_KEYS; i++) {
        const struct schema_row *row =
            i < SCHEMA_KEYS ? &schema_keys[i]
                            : &schema_families[SCHEMA_LISTS].rows[i - SCHEMA_KEYS];

        buf_clear(&help);
        add_words(slice_str(row->help), &help);
        if (slice_find_slice(buf_slice(&words), buf_slice(&help)) == words.n) {
            help.p[1] = (char)toupper((unsigned char)help.p[1]);
        }
        if (slice_find_slice(buf_slice(&words), buf_slice(&help)) == words.n) {
            fail_msg("conf/gillnet.conf: write above %s:%.*s", row->path,
                     SLICE_ARGS(buf_slice(&help)));
        }
    }
    buf_fini(&text);
    buf_fini(&words);
    buf_fini(&help);
}

/* Between the two headings stand ten keys, each with a sentence and an example. */
static void test_shipped__when_it_begins__then_with_ten_keys(void **state)
{
    struct buf text;
    struct slice rest;
    size_t keys = 0;

    (void)state;
    read_conf("gillnet.conf", &text);
    rest = buf_slice(&text);
    rest = slice_from(
        rest, slice_find_slice(rest, SLICE_LIT("The ten keys most sites change")));
    slice_cut(&rest, '\n');
    slice_cut(&rest, '\n');
    rest =
        slice_head(rest, slice_find_slice(rest, SLICE_LIT("## ---- Rarely changed")));
    while (rest.n > 0) {
        size_t end = slice_find_slice(rest, SLICE_LIT("\n\n##"));
        struct slice block = slice_head(rest, end);
        struct slice sentence = slice_cut(&block, '\n');

        rest = slice_from(rest, end + 2 < rest.n ? end + 2 : rest.n);
        if (slice_find_slice(block, SLICE_LIT("##> ")) == block.n || sentence.n < 4 ||
            !isupper((unsigned char)sentence.p[3])) {
            fail_msg("no sentence and example: %.*s", SLICE_ARGS(sentence));
        }
        keys++;
    }
    assert_int_equal(keys, 10);
    buf_fini(&text);
}

/* The item of a key as the manual page must have it. */
static void manual_item(const struct schema_row *row, struct buf *ret)
{
    const char *text = row->default_text;

    buf_printf(ret, "\n.It Ic %s Pq ", row->path);
    for (const char *p = schema_kind_name(row->kind); *p != '\0'; p++) {
        buf_add(ret, *p == '"' ? SLICE_LIT("\\(dq") : slice_of(p, 1));
    }
    buf_add_str(ret, "; default: ");
    if (strcmp(text, "[]") == 0 || strcmp(text, "\"\"") == 0) {
        buf_add_str(ret, *text == '[' ? "none" : "empty");
        text = "";
    }
    for (const char *p = text; *p != '\0'; p++) {
        buf_add(ret, *p == '"' ? SLICE_LIT("\\(dq") : slice_of(p, 1));
    }
    buf_add_str(ret, row->reloadable ? "\n" : "; restart\n");
}

static void test_manual__when_read__then_every_key_with_its_default(void **state)
{
    FILE *f = fopen(GILLNET_SOURCE_DIR "/contrib/man/gillnet.conf.5", "r");
    char *page = calloc(1, 1 << 18);
    struct buf item;

    (void)state;
    assert_non_null(f);
    assert_true(fread(page, 1, (1 << 18) - 1, f) > 0);
    fclose(f);
    buf_init(&item, 4096);
    for (size_t k = 0; k <= SCHEMA_FAMILIES; k++) {
        const bool is_family = k < SCHEMA_FAMILIES;
        const struct schema_row *rows =
            is_family ? schema_families[k].rows : schema_keys;
        const size_t n = is_family ? schema_families[k].nrows : SCHEMA_KEYS;

        for (size_t i = 0; i < n; i++) {
            buf_clear(&item);
            manual_item(&rows[i], &item);
            if (strstr(page, item.p) == NULL) {
                fail_msg("gillnet.conf(5) lacks %s", item.p);
            }
        }
    }
    size_t items = 0;
    for (const char *p = page; (p = strstr(p, "; default: ")) != NULL; p++) {
        items++;
    }
    /* no key outside of the schema */
    assert_int_equal(items, SCHEMA_KEYS + SCHEMA_LIST_KEYS + SCHEMA_RULE_KEYS +
                                SCHEMA_SUBSCRIBE_KEYS + SCHEMA_FEED_KEYS +
                                SCHEMA_RULE_GROUP_KEYS + SCHEMA_VALUE_SET_KEYS +
                                SCHEMA_USER_KEYS);
    buf_fini(&item);
    free(page);
}

static void test_schema__when_printed__then_one_row_a_key(void **state)
{
    struct buf text;
    size_t rows = 0;

    (void)state;
    buf_init(&text, 1 << 20);
    config_schema(&text);
    for (struct slice rest = buf_slice(&text); rest.n > 0; rows++) {
        struct slice line = slice_cut(&rest, '\n');

        for (int i = 0; i < 4; i++) {
            assert_true(slice_cut(&line, '\t').n > 0);
            assert_non_null(line.p);
        }
        assert_true(line.n > 0 && memchr(line.p, '\t', line.n) == NULL);
    }
    assert_int_equal(rows, SCHEMA_KEYS + 2 * SCHEMA_LIST_KEYS + SCHEMA_RULE_KEYS +
                               SCHEMA_SUBSCRIBE_KEYS + SCHEMA_FEED_KEYS +
                               SCHEMA_RULE_GROUP_KEYS + SCHEMA_VALUE_SET_KEYS +
                               SCHEMA_USER_KEYS);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)
        TEST(test_shipped__when_loaded_as_they_are__then_fine),
        TEST(test_shipped__when_every_key_is_uncommented__then_the_defaults),
        TEST(test_shipped__when_nothing_is_uncommented__then_the_defaults),
        TEST(test_shipped__when_the_examples_are_taken__then_they_load),
        TEST(test_shipped__when_a_comment_is_read__then_it_is_the_schemas),
        TEST(test_shipped__when_it_begins__then_with_ten_keys),
        TEST(test_manual__when_read__then_every_key_with_its_default),
        TEST(test_schema__when_printed__then_one_row_a_key),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
