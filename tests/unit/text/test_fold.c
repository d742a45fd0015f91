/*
 * test_fold - words that text is folded to, and words that count as disguised.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/message/text/fold.h"
#include "core/message/text/fold_table.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, TEXT = 4096, CODES = 0x110000 };

/* Of the class and the text of all characters: another sum is another set of fingerprints. */
#define TABLE_SUM UINT64_C(0x2bc89c441a5a2012)

static const char kinds[] = {
    [FOLD_TEXT] = 't',  [FOLD_NUMBER] = 'n', [FOLD_MIXED] = 'm',
    [FOLD_ALONE] = 'c', [FOLD_URL] = 'u',    [FOLD_ADDRESS] = 'a'};

/* Words as "t:word n:12 " in the buffer. */
static void on_word(void *context, const struct fold_word *word)
{
    char head[] = {kinds[word->kind], ':', '\0'};
    buf_add_str(context, head);
    buf_add(context, word->text);
    buf_add_str(context, " ");
}

static void fold_all(struct slice text, struct buf *ret, struct fold *retfold)
{
    buf_init(ret, 1 << 20);
    buf_add_str(ret, "");
    fold_init(retfold, on_word, ret);
    fold_feed(retfold, text);
    fold_break(retfold);
}

static void check_words(const char *text, const char *words)
{
    struct buf got;
    struct fold fold;
    fold_all(slice_str(text), &got, &fold);
    if (!slice_eq(buf_slice(&got), slice_str(words))) {
        print_error("%s\n  got: %.*s\n want: %s\n", text, SLICE_ARGS(buf_slice(&got)),
                    words);
        fail();
    }
    buf_fini(&got);
}

static void test_feed__each_kind_of_text__gives_its_words(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"Hello, WORLD.", "t:hello t:world "},
        {"don't  it\xe2\x80\x99s a-b", "t:dont t:its t:a t:b "},
        {"2024 h264 a8f3c2 x1y2z3 2nd", "n:2024 m:h264 m:a8f3c2 m:x1y2z3 m:2nd "},
        /* disguised */
        {"V1agr@ v!agra c1alis p0rn cl!ck",
         "t:viagra t:viagra t:cialis t:porn t:click "},
        {"root@canarsie free!you us$ $5", "t:root t:canarsie t:free t:you t:us n:5 "},
        {"b2b mp3 win32", "m:b2b m:mp3 m:win32 "},
        /* links and addresses, with any text */
        {"see http://x.y/z?q=1, <HTTPS://a.b>x", "t:see u::// u::// t:x "},
        {"www.evil.com/a www www. ", "u::// t:www t:www "},
        {"mail joe@x.example.com now joe@12", "t:mail a:@ t:now t:joe n:12 "},
        {"a:// ://b", "u::// t:b "},
        /* other scripts */
        {"\xd0\xa0\xd0\xb0y\xd1\x80\xd0\xb0l", "t:paypal "},
        {"caf\xc3\xa9 cafe\xcc\x81 \xc3\x89"
         "COLE stra\xc3\x9f"
         "e",
         "t:cafe t:cafe t:ecole t:strasse "},
        {"\xef\xbc\xa6\xef\xbd\x95\xef\xbd\x8c\xef\xbd\x8c \xe2\x91\xa0\xe2\x91\xa1 "
         "\xef\xac\x81ne",
         "t:full n:12 t:fine "},
        {"\xf0\x9d\x97\xa3\xf0\x9d\x97\xae\xf0\x9d\x98\x86 "
         "\xe1\xb4\xa0\xe1\xb4\x87\xca\x80\xc9\xaa",
         "t:pay t:veri "},
        {"\xd9\xa1\xd9\xa2 \xe0\xa5\xa7", "n:12 n:1 "},
        {"\xe5\x85\x8d\xe8\xb4\xb9"
         "ab",
         "c:\xe5\x85\x8d c:\xe8\xb4\xb9 t:ab "},
        {"\xed\x95\x9c\xea\xb5\xad", "t:\xed\x95\x9c\xea\xb5\xad "},
        {"\xf0\xa0\x80\x80", "c:\xf0\xa0\x80\x80 "}, /* beyond the table */
        /* noise */
        {"vi\xe2\x80\x8b"
         "ag\xc2\xadra",
         "t:viagra "},
        {"a\xcc\xb6"
         "b\xcc\xb6 \xef\xb8\x8f",
         "t:ab "},
        {"a\xff"
         "b \xe2\x82 \xed\xa0\x80 c\xf4\x90\x80\x80 \xc0\xaf",
         "t:a t:b t:c "},
        {"\xf0\x9f\x98\x80 a\xf0\x9f\x98\x80"
         "b",
         "t:a t:b "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_words(rows[i][0], rows[i][1]);
    }
}

static void test_feed__long_words__come_in_pieces_and_lose_nothing(void **state)
{
    char text[TEXT];
    struct buf got;
    struct fold fold;
    (void)state;
    for (size_t n = FOLD_WORD_MAX - 2; n < 3 * FOLD_WORD_MAX; n++) {
        memset(text, 'x', n);
        fold_all(slice_of(text, n), &got, &fold);
        size_t letters = 0;
        for (size_t i = 0; i < got.n; i++) {
            letters += got.p[i] == 'x';
        }
        assert_int_equal(letters, n);
        buf_fini(&got);
    }
}

/* However the text is cut between words, and where nothing looks ahead within them too. */
static void test_feed__cut_anywhere_in_a_word__is_the_same(void **state)
{
    static const char text[] = "Hello w0rld caf\xc3\xa9 12 xyz";
    struct buf whole;
    struct fold fold;
    (void)state;
    fold_all(SLICE_LIT("Hello w0rld caf\xc3\xa9 12 xyz"), &whole, &fold);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        struct buf got;
        if (((unsigned char)text[i] & 0xc0) == 0x80) {
            continue; /* text comes in whole characters */
        }
        buf_init(&got, TEXT);
        fold_init(&fold, on_word, &got);
        fold_feed(&fold, slice_of(text, i));
        fold_feed(&fold, slice_of(text + i, sizeof(text) - 1 - i));
        fold_break(&fold);
        assert_int_equal(got.n, whole.n);
        assert_memory_equal(got.p, whole.p, whole.n);
        buf_fini(&got);
    }
    buf_fini(&whole);
}

static void test_feed__disguises__are_counted_and_usual_writing_is_not(void **state)
{
    static const struct {
        const char *text;
        unsigned lookalike;
        unsigned hidden;
        unsigned leet;
    } rows[] = {
        {"V1agra c!alis x@nax v1agr@", 0, 0, 4},
        {"P\xd0\xb0yPal \xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 \xce\xbcm", 1,
         0, 0},
        {"\xf0\x9d\x97\xa3\xf0\x9d\x97\xae\xf0\x9d\x98\x86\xf0\x9d\x97\xa3", 1, 0, 0},
        {"vi\xe2\x80\x8b"
         "agra a \xe2\x80\x8b b",
         0, 1, 0},
        {"HELLO caf\xc3\xa9 soft\xc2\xadly \xef\xbc\xa6\xef\xbd\x95 2nd 2024 B2B", 0, 0,
         0},
        {"aGVsbG8gd29ybGQ sha512sum perl5lib joe@example.com root@localhost", 0, 0, 0},
        {"\xe3\x81\x82\xe3\x81\x84"
         "abc \xed\x95\x9c"
         "abc",
         0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf got;
        struct fold f;
        fold_all(slice_str(rows[i].text), &got, &f);
        if (f.nlookalike != rows[i].lookalike || f.nhidden != rows[i].hidden ||
            f.nleet != rows[i].leet) {
            print_error("%s: %u %u %u\n", rows[i].text, f.nlookalike, f.nhidden,
                        f.nleet);
            fail();
        }
        buf_fini(&got);
    }
}

static void test_subject__what_changes__is_left_out(void **state)
{
    static const char *const rows[][2] = {
        {"Order 12345 shipped", "order 0 shipped"},
        {"Re: Fwd: AW: Order #777 shipped", "order 0 shipped"},
        {"RE[2]: fw : (no subject)", "no subject"},
        {"Re^2: a8f3c2 ticket", "# ticket"},
        {"Regarding: re:", "regarding re"},
        {"[list] Re: x", "list re x"},
        {"  FR\xd0\x95\xd0\x95 M0ney!!!  ", "free money"},
        {"\xe5\x85\x8d\xe8\xb4\xb9", "\xe5\x85\x8d \xe8\xb4\xb9"},
        {"Re:", ""},
        {"V1agr@ n0w", "viagra now"},
        {"Casin0 5ale", "casino sale"},
        {"Viagra now", "viagra now"},
        {"S3x t0day, b00k n0w", "sex today book now"},
        {"C@sh 4 y0u", "cash 0 you"},
        {"05aler 5aler 0ffer", "# saler offer"},
        /* numbers, names of things and ids are none of these */
        {"2002 100 1001", "0 0 0"},
        {"MP3 A4 4x4 B2B 3D", "# # # # #"},
        {"v1 1st 20th 5pm", "# # # #"},
        {"a10b a300c x11x h264x", "# # # #"},
        {"a1b2c3 7f3q2z", "# #"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena *arena = arena_new(ARENA);
        struct slice got = fold_subject(arena, slice_str(rows[i][0]));
        if (!slice_eq(got, slice_str(rows[i][1]))) {
            print_error("%s: %.*s\n", rows[i][0], SLICE_ARGS(got));
            fail();
        }
        arena_free(&arena);
    }
}

/* Each character that grows most when it is folded. */
static void test_subject__that_grows__fits(void **state)
{
    char text[TEXT];
    (void)state;
    for (unsigned point = 0x80; point < 0x20000; point++) {
        char c[4];
        size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 0;) {
            c[i] = (char)(0x80 | ((point >> (6 * (n - 1 - i))) & 0x3f));
        }
        c[0] = (char)((n == 2   ? 0xc0
                       : n == 3 ? 0xe0
                                : 0xf0) |
                      (point >> (6 * (n - 1))));
        size_t used = 0;
        while (used + n < 64) {
            memcpy(text + used, c, n);
            used += n;
        }
        struct arena *arena = arena_new(ARENA);
        struct slice whole = fold_subject(arena, slice_of(text, used));
        struct slice half = fold_subject(arena, slice_of(text, n));
        assert_true(whole.p != NULL && half.p != NULL &&
                    half.n <= 11 * n + FOLD_WORD_MAX);
        arena_free(&arena);
    }
}

static void test_subject__no_memory__is_none(void **state)
{
    (void)state;
    struct arena *arena = arena_new(64);
    assert_null(fold_subject(arena, SLICE_LIT("a subject that has no room")).p);
    arena_free(&arena);
}

static void test_table__all_characters__are_those_of_the_fingerprints(void **state)
{
    struct buf table;
    (void)state;
    buf_init(&table, 4 * CODES);
    for (uint32_t point = 0x80; point < CODES; point++) {
        unsigned class = fold_table_class(point);
        char kind = (char)(class < FOLD_CLASSES ? class : FOLD_CLASSES);
        buf_add(&table, slice_of(&kind, 1));
        if (class >= FOLD_CLASSES) {
            buf_add(&table, fold_table_text(class));
        }
    }
    uint64_t sum = checksum64(buf_slice(&table));
    buf_fini(&table);
    if (sum != TABLE_SUM) {
        fail_msg("characters fold to others than before: %016" PRIx64 "; see ADR 0015",
                 sum);
    }
}

/* The first and the last character of each range, and that their neighbours are of no range. */
struct range {
    uint32_t first, last;
};

static void check_ranges(bool (*is_in)(uint32_t), const struct range *range, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_next_in = i + 1 < n && range[i + 1].first == range[i].last + 1;
        assert_false(is_in(range[i].first - 1));
        assert_true(is_in(range[i].first));
        assert_true(is_in(range[i].last));
        assert_int_equal(is_in(range[i].last + 1), is_next_in);
    }
}

static void test_table__letters_for_show__are_their_blocks(void **state)
{
    static const struct range styled[] = {
        {0x1d00, 0x1d7f},   /* phonetic extensions: small capitals */
        {0x24b6, 0x24e9},   /* circled letters */
        {0x1d400, 0x1d7cd}, /* mathematical letters, not the digits behind them */
        {0x1f110, 0x1f189}, /* letters in parentheses, squared, negative */
    };
    (void)state;
    check_ranges(fold_table_is_styled, styled, sizeof(styled) / sizeof(*styled));
    assert_true(fold_table_is_styled(0x262));  /* small capital G */
    assert_false(fold_table_is_styled(0x261)); /* script g, which dictionaries use */
    assert_false(fold_table_is_styled('A'));
}

static void test_table__other_scripts__are_their_blocks(void **state)
{
    static const struct range other[] = {
        {0x370, 0x1cff},  /* Greek to Vedic; phonetic extensions are Latin */
        {0x2c80, 0x2dff}, /* Coptic to extended Cyrillic */
        {0xa4d0, 0xa69f}, /* Lisu, Vai, more Cyrillic */
        {0xab70, 0xabbf}, /* small letters of Cherokee */
    };
    (void)state;
    check_ranges(fold_table_is_other_script, other, sizeof(other) / sizeof(*other));
    assert_false(fold_table_is_other_script(0xffff));
    assert_true(fold_table_is_other_script(0x10000));
}

static void test_table__zero_width__is_each_such_character_alone(void **state)
{
    static const struct range zero[] = {
        {0x180e, 0x180e}, {0x200b, 0x200d}, {0x2060, 0x2060}, {0xfeff, 0xfeff}};
    (void)state;
    check_ranges(fold_table_is_zero_width, zero, sizeof(zero) / sizeof(*zero));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed__each_kind_of_text__gives_its_words),
        cmocka_unit_test(test_feed__long_words__come_in_pieces_and_lose_nothing),
        cmocka_unit_test(test_feed__cut_anywhere_in_a_word__is_the_same),
        cmocka_unit_test(test_feed__disguises__are_counted_and_usual_writing_is_not),
        cmocka_unit_test(test_subject__what_changes__is_left_out),
        cmocka_unit_test(test_subject__that_grows__fits),
        cmocka_unit_test(test_subject__no_memory__is_none),
        cmocka_unit_test(test_table__all_characters__are_those_of_the_fingerprints),
        cmocka_unit_test(test_table__letters_for_show__are_their_blocks),
        cmocka_unit_test(test_table__other_scripts__are_their_blocks),
        cmocka_unit_test(test_table__zero_width__is_each_such_character_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
