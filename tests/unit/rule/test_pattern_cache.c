/* test_pattern_cache - compiled patterns in the state folder: used if they are the same, and ours. */
#include "core/base/keyring.h"
#include "core/verdict/rule/pattern_cache.h"

#include "tests/unit/rule/ruled.h"

enum { FILE_BYTES_MAX = 256 * 1024, EVERY_BYTE_BELOW = 8192 };

/* Read by vectorscan, by PCRE2, and as a stream. */
static const char rules[] =
    "rules = ( { name = \"r\"; all = ( { feature = \"subject\"; pattern = \"cheap (pills|drugs)\"; },"
    "{ feature = \"subject\"; pattern = \"now(?!here)\"; }, { text = \"buy +this\"; } ); } );";
static const char one_rule[] = ALL("{ feature = \"subject\"; pattern = \"cheap\"; }");

static char bytes[FILE_BYTES_MAX];
static size_t nbytes;

static struct config *load(const char *text)
{
    char with_state[2000];

    snprintf(with_state, sizeof(with_state), "state_dir = \"%s\";\n%s", confdir, text);
    ruled_load(with_state);
    return ruled.config;
}

static bool is_cached(void)
{
    struct ruleset_stat stat;

    ruleset_stat(ruled.config->ruleset, &stat);
    return stat.is_cached;
}

static void make_keys(void)
{
    struct keyring keys;

    assert_int_equal(keyring_load_or_create(confdir, &keys, NULL), ERR_OK);
}

static void read_cache(void)
{
    FILE *f = fopen(confdir_path(PATTERN_CACHE_FILE), "r");

    assert_non_null(f);
    nbytes = fread(bytes, 1, sizeof(bytes), f);
    assert_in_range(nbytes, HASH256_BYTES + 1, sizeof(bytes) - 1);
    assert_int_equal(fclose(f), 0);
}

static void put_cache(size_t n)
{
    confdir_put_bytes(PATTERN_CACHE_FILE, bytes, n);
    assert_int_equal(chmod(confdir_file, 0640), 0);
}

/* Whether the file can be used. */
static bool is_good(void)
{
    struct pattern_cache *c = pattern_cache_read(confdir);
    bool is = c != NULL;

    pattern_cache_free(&c);
    return is;
}

static bool holds(const char *subject, const char *text)
{
    ruled_message();
    ruled_feature(FEATURE_subject, subject);
    ruled_text(text, 0);
    return ruled_holds();
}

static void judge_rules(void)
{
    assert_true(holds("CHEAP PILLS now", "please buy  this at once"));
    assert_false(holds("cheap pills nowhere", "please buy this at once"));
    assert_false(holds("cheap bread now", "please buy this at once"));
    assert_false(holds("cheap pills now", "please buy that"));
}

static void test_cache__the_same_rules_again__then_nothing_is_compiled(void **state)
{
    (void)state;
    make_keys();
    load(rules);
    assert_false(is_cached());
    judge_rules();
    assert_true(ruleset_keep(ruled.config));
    load(rules);
    assert_true(is_cached());
    judge_rules();
    assert_false(ruleset_keep(ruled.config)); /* it is there */
}

/* Databases are found one by one: their patterns matter, not the rules around them. */
static void test_cache__other_rules__then_only_what_is_new_is_compiled(void **state)
{
    (void)state;
    make_keys();
    load(rules);
    assert_true(ruleset_keep(ruled.config));
    load(
        "rules = ( { name = \"first\"; trait = \"html_form\"; }, { name = \"r\"; all = ( { text = "
        "\"buy +this\"; } ); } );");
    assert_true(is_cached());
    assert_true(holds("", "buy this"));
    assert_false(holds("", "sell this"));
    load(ALL("{ text = \"buy +that\"; }"));
    assert_false(is_cached());
    assert_true(holds("", "buy that"));
    assert_true(ruleset_keep(ruled.config));
    load(ALL("{ text = \"buy +that\"; }"));
    assert_true(is_cached());
    load(rules);
    assert_false(is_cached());
}

/* One pattern makes another database for a stream than for a block. */
static void test_cache__a_pattern_of_another_kind__then_a_miss(void **state)
{
    (void)state;
    make_keys();
    load(one_rule);
    assert_true(ruleset_keep(ruled.config));
    load(ALL("{ text = \"cheap\"; }"));
    assert_false(is_cached());
    assert_true(holds("", "cheap"));
}

static void test_cache__a_bad_pattern_beside_it__then_refused(void **state)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};
    char text[1000];

    (void)state;
    make_keys();
    load(one_rule);
    assert_true(ruleset_keep(ruled.config));
    snprintf(
        text, sizeof(text), "state_dir = \"%s\"; shipped_rules = false;\n%s", confdir,
        ALL("{ feature = \"subject\"; pattern = \"cheap\"; }, { text = \"b?\"; }"));
    assert_int_equal(ruleset_load(confdir_put("gillnet.conf", text), &c, &errors),
                     ERR_SYNTAX);
    assert_true(confdir_has_error(&errors, 0, "matches the empty text"));
    config_errors_free(&errors);
}

static void test_cache__any_byte_changed_or_any_cut__then_compiled_anew(void **state)
{
    (void)state;
    make_keys();
    load(one_rule);
    assert_true(ruleset_keep(ruled.config));
    read_cache();
    for (size_t i = 0; i < nbytes; i += i < EVERY_BYTE_BELOW ? 1 : 97) {
        bytes[i] ^= (char)(1 << i % 8);
        put_cache(nbytes);
        bytes[i] ^= (char)(1 << i % 8);
        if (is_good()) {
            fail_msg("byte %zu of %zu is another, and it is used", i, nbytes);
        }
        put_cache(i);
        if (is_good()) {
            fail_msg("%zu of %zu bytes, and they are used", i, nbytes);
        }
    }
    load(one_rule);
    assert_false(is_cached());
    ruled_feature(FEATURE_subject, "very cheap");
    assert_true(ruled_holds());
    bytes[nbytes] = 0;
    put_cache(nbytes + 1);
    assert_false(is_good());
    put_cache(nbytes);
    assert_true(is_good());
    assert_int_equal(truncate(confdir_path(PATTERN_CACHE_FILE), 20), 0);
    load(one_rule);
    assert_true(ruleset_keep(ruled.config)); /* in its place */
    load(one_rule);
    assert_true(is_cached());
}

static void test_cache__not_surely_ours__then_not_used(void **state)
{
    struct keyring keys;

    (void)state;
    make_keys();
    load(one_rule);
    assert_true(ruleset_keep(ruled.config));
    assert_true(is_good());
    assert_int_equal(chmod(confdir_path(PATTERN_CACHE_FILE), 0660), 0);
    assert_false(is_good());
    assert_int_equal(chmod(confdir_path(PATTERN_CACHE_FILE), 0640), 0);
    if (geteuid() == 0) { /* the service's user has the key, and is not root */
        assert_int_equal(chown(confdir_path(PATTERN_CACHE_FILE), 65534, 0), 0);
        assert_false(is_good());
        assert_int_equal(chown(confdir_path(PATTERN_CACHE_FILE), 0, 0), 0);
    }
    assert_true(is_good());
    assert_int_equal(keyring_load(confdir, &keys, NULL), ERR_OK);
    keys.ring[0].bytes[0] ^= 1;
    assert_int_equal(keyring_store_ring(confdir, keys.ring, 1, NULL), ERR_OK);
    assert_false(is_good());
    read_cache();
    assert_int_equal(unlink(confdir_path(PATTERN_CACHE_FILE)), 0);
    assert_int_equal(symlink("/dev/zero", confdir_path(PATTERN_CACHE_FILE)), 0);
    assert_false(is_good());
}

/* In a folder of the service, root's file can be read by its group and stays root's. */
static void test_cache__written_by_root__then_of_root(void **state)
{
    struct stat st;

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    make_keys();
    assert_int_equal(chown(confdir, 65534, 65533), 0);
    assert_int_equal(chmod(confdir, 02750), 0);
    load(one_rule);
    assert_true(ruleset_keep(ruled.config));
    assert_int_equal(stat(confdir_path(PATTERN_CACHE_FILE), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_gid, 65533);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_true(is_good());
}

static void test_cache__without_keys__then_nothing_is_written(void **state)
{
    (void)state;
    load(one_rule);
    assert_false(ruleset_keep(ruled.config));
    assert_int_not_equal(access(confdir_path(PATTERN_CACHE_FILE), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cache__the_same_rules_again__then_nothing_is_compiled),
        TEST(test_cache__other_rules__then_only_what_is_new_is_compiled),
        TEST(test_cache__a_pattern_of_another_kind__then_a_miss),
        TEST(test_cache__a_bad_pattern_beside_it__then_refused),
        TEST(test_cache__any_byte_changed_or_any_cut__then_compiled_anew),
        TEST(test_cache__not_surely_ours__then_not_used),
        TEST(test_cache__written_by_root__then_of_root),
        TEST(test_cache__without_keys__then_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
