/*
 * test_script - the strings that scripts make, whole or cut, however the text comes.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/message/text/script.h"

#include "tests/unit/unit.h"

enum { CAP = 1 << 20 };

static void on_value(void *context, const struct script_value *value)
{
    struct buf *b = context;
    buf_add_str(b, value->is_cut_left ? "~" : "");
    buf_add(b, value->text);
    buf_add_str(b, value->is_cut_right ? "~" : "");
    buf_add_str(b, "|");
}

static void values_of(enum script_dialect dialect, struct slice text, size_t step,
                      struct buf *ret)
{
    struct arena *arena = arena_new(CAP);
    buf_init(ret, CAP);
    struct script *s = script_new(arena, on_value, ret);
    assert_non_null(s);
    script_begin(s, dialect);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        script_feed(s, piece);
        text = slice_from(text, piece.n);
    }
    script_end(s);
    buf_add_str(ret, "");
    arena_free(&arena);
}

struct row {
    const char *text;
    const char *values; /* each with '|' behind it, '~' where it is cut */
};

static void check(enum script_dialect dialect, const struct row *rows, size_t n)
{
    static const size_t steps[] = {1, 3, 100000};
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
            struct buf got;
            values_of(dialect, slice_str(rows[i].text), steps[k], &got);
            if (!slice_eq(buf_slice(&got), slice_str(rows[i].values))) {
                wrong++;
                print_error("%s\n  gave   %.*s\n  wanted %s\n", rows[i].text,
                            (int)got.n, got.p, rows[i].values);
            }
            buf_fini(&got);
        }
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(dialect, rows) check(dialect, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_script__javascript__strings_as_a_run_makes_them(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a='http://a.b/c'", ""}, /* as it stands: no news */
        {"a='http'+'://a.b/c'", "http://a.b/c|"},
        {"a=('http'+':') +\n // why\n('//a.b' /* not */ + \"/c\");", "http://a.b/c|"},
        {"a='\\x68ttp:\\/\\/a\\u002eb\\u{2f}\\143'", "http://a.b/c|"},
        {"a='\\ud83d\\ude00\\\nx'", "\xf0\x9f\x98\x80x|"},
        {"f('\\x61', 'b' + 'c', d)", "a|bc|"},
        {"unescape('%68%74tp%3A%u002f/a')", "http://a|"},
        {"decodeURIComponent('%68' + \"%c3%a4%\")", "h\xc3\xa4%|"},
        {"window.atob('aHR0cDovL2EuYi9j')+'d'", "http://a.b/cd|"},
        {"atob('aHR0cDov\\nL2EuYi8=')", "http://a.b/|"},
        {"eval(String.fromCharCode(0x68,116, 116,112)+'s')", "https|"},
        {"String.fromCharCode.apply(null, [104,116])+'x'", "htx|"},
        {"String.fromCharCode(...[104,116])", "ht|"},
        {"String.fromCharCode(100+4)+'x'", "~x|"},
        {"['ht','tp'].join('')", "http|"},
        {"['a','b'].join('.')+'c'", "a.bc|"},
        {"'ptth'.split('').reverse().join('')", "http|"},
        {"['c','b','a'].reverse().join('/')", "a/b/c|"},
        {"'hxtxtxp'.split('x').join('')", "http|"},
        {"'a'.concat('b','c').toString()", "abc|"},
        {"['x','ht','tp'][1]+'y'", "hty|"},
        {"var a = 'htt'; var b=a+'p';\nlocation.href = b + '://a.b/'",
         "http|http://a.b/|"},
        {"var a='ht';a+='tp';x(a+'s')", "http|https|"},
        {"a=['x','http'];f(a[1]+'s')", "x|http|https|"},
        {"`http:/${'/'+a}.b`", "http://~|~.b|"},
        {"a='h';b=`${a}ttp`", "http|"},
        {"/[/'\"]/.test(a);b='c'+'d'", "cd|"},
        {"a=b/c;d='e'+'f'/2", "ef|"},
        {"return'a'+'b'", "ab|"},
        {"if(x)a='b'+'c'\nelse d='e'+'f'", "bc|ef|"},
        {"a='it\nb='c'+'d'", "cd|"},
        {"a='h';f[a]+='x';g(a+'s')", "h|hs|"}, /* a place in f changes, not a */
        {"a='h';b='x'+a;a+='y';g(a+'s')", "xh|hy|hys|"},
    };
    CHECK(SCRIPT_JAVASCRIPT, rows);
}

static void test_script__unknown_part__cuts_the_string(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"'http://'+host+'/x'", "http://~|~/x|"},
        {"'http://a.b/?'+f('c'+'d')", "cd|http://a.b/?~|"},
        {"x+'evil/'", "~evil/|"},
        {"'a'+'b'.foo('c')+'d'", "a~|~d|"},
        {"'http://'+(x?'a':'b')+'.c'", "a|b|http://~|~.c|"},
        {"a.b.c+'d'", "~d|"},
        {"('a'+'b').length+'c'", "~c|"},
        {"a='b';a=x;f(a+'c')", "~c|"},
        {"f(function(){g('a'+b)})", "a~|"},
    };
    CHECK(SCRIPT_JAVASCRIPT, rows);
}

static void test_script__vbscript_and_powershell__their_own_quotes(void **state)
{
    (void)state;
    static const struct row vb[] = {
        {"x = \"ht\" & _\r\n \"tp\" ' \"no\"\r\ny = \"C:\\\" & \"a\"", "http|C:\\a|"},
        {"f \"a \"\"b\"\"\"", "a \"b\"|"},
        {"a = Chr(104) & CHRW(116) & \"tp\"", "http|"},
        {"A = \"ht\"\r\nb = a & StrReverse(\"pt\")", "http|"},
    };
    static const struct row ps[] = {
        {"$a='ht'+\"t`p\" # 'x'\n$b=\"http://$c/x\"", "http|http://~|~/x|"},
        {"iex ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String("
         "'aAB0AHQAcAA=')))",
         "http|"},
    };
    CHECK(SCRIPT_VBSCRIPT, vb);
    CHECK(SCRIPT_POWERSHELL, ps);
}

static void repeat(struct buf *b, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_add_str(b, text);
    }
}

/* The end of what a script of that beginning, so many times the middle, and that end gives. */
static void check_long(const char *begin, const char *middle, size_t count,
                       const char *end, const char *wanted)
{
    struct buf text;
    struct buf got;
    buf_init(&text, CAP);
    buf_add_str(&text, begin);
    repeat(&text, middle, count);
    buf_add_str(&text, end);
    values_of(SCRIPT_JAVASCRIPT, buf_slice(&text), 1000, &got);
    if (slice_find_slice(buf_slice(&got), slice_str(wanted)) == got.n) {
        fail_msg("%s...%s: no %s in %zu bytes", begin, end, wanted, got.n);
    }
    buf_fini(&text);
    buf_fini(&got);
}

static void test_script__longer_than_is_kept__goes_on_in_pieces(void **state)
{
    (void)state;
    check_long("a='\\x20", "word ", 10000, "ht'+'tp://a.b/'", " http://a.b/|");
    check_long("a=atob('", "aGVs", 20000, "aHR0cDovL2EuYi8=')", "http://a.b/|");
    check_long("a=atob('", "PGI+", 20000, "IGh0dHA6Ly9hLmIv')", " http://a.b/|");
    check_long("a=unescape('", "%20x", 20000, "%20%68ttp://a.b/')", " http://a.b/|");
    check_long("a=String.fromCharCode(32", ",32", 20000, ",104,116,116,112)", "http|");
    check_long("a=atob('YQ", "?", 20000, "==')+'b'", "b|");
    check_long("a=('b'+", "(", 3000, "'c'+'d')", "cd|");
    check_long("a='b'+", "f('c'+", 3000, "'d'+'e'", "de");
}

/* The text bounds the output of variables: else a line of names would be gigabytes. */
static void test_script__variables_over_and_over__growth_is_bounded(void **state)
{
    (void)state;
    struct buf text;
    struct buf got;
    buf_init(&text, CAP);
    buf_add_str(&text, "a='");
    repeat(&text, "x", SCRIPT_VARIABLE_MAX);
    buf_add_str(&text, "';b=a");
    repeat(&text, "+a", 50000);
    values_of(SCRIPT_JAVASCRIPT, buf_slice(&text), 1000, &got);
    assert_true(got.n > SCRIPT_GROWTH_FREE);
    assert_true(got.n < 2 * (SCRIPT_GROWTH_FREE + SCRIPT_GROWTH * text.n));
    buf_fini(&text);
    buf_fini(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_script__javascript__strings_as_a_run_makes_them),
        cmocka_unit_test(test_script__unknown_part__cuts_the_string),
        cmocka_unit_test(test_script__vbscript_and_powershell__their_own_quotes),
        cmocka_unit_test(test_script__longer_than_is_kept__goes_on_in_pieces),
        cmocka_unit_test(test_script__variables_over_and_over__growth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
