/*
 * test_password - passwords that messages name: languages, spellings, cuts, and hostile text.
 */
#include <stdio.h>

#include "core/base/prng.h"
#include "core/message/extract/password.h"

#include "tests/unit/unit.h"

enum { TEXT_MOST = 4096 };

struct found {
    size_t n;
    struct slice text[PASSWORD_CANDIDATES];
    struct password_finder finder;
};

static void find(struct found *ret, struct slice text, size_t step)
{
    password_finder_init(&ret->finder);
    for (size_t at = 0; at < text.n; at += step) {
        password_finder_text(&ret->finder, slice_head(slice_from(text, at), step));
    }
    ret->n = password_finder_end(&ret->finder, ret->text);
}

static bool has(const struct found *f, const char *want)
{
    for (size_t i = 0; i < f->n; i++) {
        if (slice_eq(f->text[i], slice_str(want))) {
            return true;
        }
    }
    return false;
}

static void assert_finds(const char *text, const char *want)
{
    struct found f;

    find(&f, slice_str(text), strlen(text) + 1);
    if (!has(&f, want)) {
        print_message("no \"%s\" of \"%s\" in", want, text);
        for (size_t i = 0; i < f.n; i++) {
            print_message(" \"%.*s\"", SLICE_ARGS(f.text[i]));
        }
        print_message("\n");
        fail();
    }
}

/* Sentences in which %s is the password. */
static const char *const sentences[] = {
    "Password: %s",
    "The password for the attached file is %s",
    "Archive password - %s",
    "Your PIN code is %s.",
    "Use passcode %s to open the document.",
    "pw=%s",
    "zip pass: %s",
    "Please find the invoice attached. Password to open:\n\n%s\n\nRegards",
    "PASSWORD\n%s\n",
    "The password is \"%s\".",
    "(password: %s)",
    "Das Passwort lautet: %s",
    "Das Kennwort f\u00fcr die ZIP-Datei ist %s",
    "Archivpasswort: %s",
    "Mot de passe : %s",
    "Le mot de passe du fichier est \u00ab%s\u00bb",
    "mdp: %s",
    "Contrase\u00f1a: %s",
    "La clave es %s",
    "contrasen\u0303a del archivo: %s",
    "La password del file \u00e8: %s",
    "Parola d'ordine: %s",
    "Senha: %s",
    "A senha do arquivo \u00e9 %s",
    "Palavra-passe: %s",
    "Wachtwoord: %s",
    "Het wachtwoord is %s",
    "Has\u0142o: %s",
    "Has\u0142o do archiwum to %s",
    "Heslo: %s",
    "Heslo k souboru je %s",
    "\u041f\u0430\u0440\u043e\u043b\u044c: %s",
    "\u041f\u0430\u0440\u043e\u043b\u044c \u043a \u0430\u0440\u0445\u0438\u0432\u0443 - %s",
    "\u041e\u0442\u043a\u0440\u043e\u0439\u0442\u0435 \u0430\u0440\u0445\u0438\u0432 \u043f\u0430\u0440\u043e\u043b\u0435\u043c %s",
    "\u041f\u0430\u0440\u043e\u043b\u044c \u0434\u043e \u0444\u0430\u0439\u043b\u0443: %s",
    "Parola: %s",
    "Parola arhivei este %s",
    "\u015eifre: %s",
    "Dosya \u015fifresi: %s",
    "L\u00f6senord: %s",
    "L\u00f6senordet \u00e4r %s",
    "Adgangskode: %s",
    "Kodeord: %s",
    "Passord: %s",
    "Passordet er %s",
    "Salasana: %s",
    "Jelsz\u00f3: %s",
    "A f\u00e1jl jelszava: %s",
    "\u039a\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2: %s",
    "\u039f \u03ba\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2 \u03b5\u03af\u03bd\u03b1\u03b9 %s",
    "\u89e3\u538b\u5bc6\u7801\uff1a%s",
    "\u5bc6\u7801\u662f%s\uff0c\u8bf7\u67e5\u6536\u3002",
    "\u89e3\u58d3\u5bc6\u78bc: %s",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f%s\u3067\u3059\u3002",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\uff1a\u300c%s\u300d",
    "\ube44\ubc00\ubc88\ud638: %s",
    "\ube44\ubc00\ubc88\ud638\ub294 %s\uc785\ub2c8\ub2e4.",
    "\u0643\u0644\u0645\u0629 \u0627\u0644\u0645\u0631\u0648\u0631: %s",
    "\u0643\u0644\u0645\u0629 \u0627\u0644\u0633\u0631 \u0647\u064a %s",
    "\u05e1\u05d9\u05e1\u05de\u05d4: %s",
    "\u05d4\u05e1\u05d9\u05e1\u05de\u05d4 \u05d4\u05d9\u05d0 %s",
    "M\u1eadt kh\u1ea9u: %s",
    "M\u1eadt kh\u1ea9u gi\u1ea3i n\u00e9n l\u00e0 %s",
    "Kata sandi: %s",
    "Kata sandi arsip adalah %s",
    "\u0e23\u0e2b\u0e31\u0e2a\u0e1c\u0e48\u0e32\u0e19: %s",
    "p\u0430ssw\u043erd: %s", /* Cyrillic letters that look alike */
    "Pass\u200bword: %s",
    "Password\u00a0:\u00a0%s",
    "Password \u2192 %s",
    "%s is the password",
    "Use %s as password.",
    "Open it with %s: that is the password.",
    "pass-%s",
    "Passwort (4 Zeichen): %s",
};

static void test_find__in_each_language__finds_passwords_of_each_form(void **state)
{
    static const char *const passwords[] = {"4711", "a7B-x9", "2024Invoice",
                                            "Pa$$w0rd"};
    char text[TEXT_MOST];
    (void)state;

    for (size_t i = 0; i < LENGTH(sentences); i++) {
        for (size_t k = 0; k < LENGTH(passwords); k++) {
            const struct slice before =
                slice_head(slice_str(sentences[i]),
                           slice_find_slice(slice_str(sentences[i]), SLICE_LIT("%s")));
            (void)snprintf(text, sizeof(text), "%.*s%s%s", SLICE_ARGS(before),
                           passwords[k], sentences[i] + before.n + 2);
            assert_finds(text, passwords[k]);
        }
    }
}

static void test_find__of_plain_words__finds_those_after_the_word(void **state)
{
    (void)state;
    assert_finds("Password: infected", "infected");
    assert_finds("password infected", "infected");
    assert_finds("The password is infected.", "infected");
    assert_finds("Passwort: geheim", "geheim");
    assert_finds("\u5bc6\u7801\uff1a\u829d\u9ebb\u5f00\u95e8",
                 "\u829d\u9ebb\u5f00\u95e8");
    assert_finds("Password:\n\ninfected\n", "infected");
    assert_finds("Your password for the file follows.\ninfected\n", "infected");
    assert_finds("password: open sesame now\n", "open sesame now");
    assert_finds("Password: \u043f\u0440\u0438\u0432\u0435\u0442",
                 "\u043f\u0440\u0438\u0432\u0435\u0442");
}

static void test_find__with_punctuation__keeps_both_forms(void **state)
{
    static const struct {
        const char *text;
        const char *forms[2];
    } rows[] = {
        {"Password: abc123.", {"abc123", "abc123."}},
        {"Password: abc123!", {"abc123", "abc123!"}},
        {"Password: \"abc123!\".", {"abc123", "abc123!"}},
        {"Password: *abc123*", {"abc123", "*abc123*"}},
        {"Password: (abc123)", {"abc123", "abc123"}},
        {"Password: $abc#", {"$abc#", "$abc#"}},
        {"Password: 'it's'", {"it's", "it's"}},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_finds(rows[i].text, rows[i].forms[0]);
        assert_finds(rows[i].text, rows[i].forms[1]);
    }
}

static void test_find__in_text_without_the_word__finds_nothing(void **state)
{
    static const char *const texts[] = {
        "",
        "Invoice 4711 of 3 May is attached. Please pay 12.50 EUR.",
        "https://example.com/reset-password?token=abc123",
        "The passport number is A1234567.",
        "Passwordprotectedfilesareattached 1234",
        "Der Passwortmanagerhersteller schreibt 4711",
    };
    struct found f;
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        find(&f, slice_str(texts[i]), TEXT_MOST);
        if (f.n > 0) {
            print_message("\"%.*s\" of \"%s\"\n", SLICE_ARGS(f.text[0]), texts[i]);
        }
        assert_int_equal(f.n, 0);
    }
}

static void test_find__far_from_the_word__finds_nothing(void **state)
{
    struct found f;
    (void)state;
    find(&f, SLICE_LIT("password a b c d e f g h i 4711"), TEXT_MOST);
    assert_false(has(&f, "4711"));
    find(&f, SLICE_LIT("password\n\n\n\n\n4711\n"), TEXT_MOST);
    assert_false(has(&f, "4711"));
    find(&f, SLICE_LIT("password\n\n4711\n"), TEXT_MOST);
    assert_true(has(&f, "4711"));
}

static void test_find__after_a_break__begins_again(void **state)
{
    struct found f = {0};
    (void)state;
    password_finder_init(&f.finder);
    password_finder_text(&f.finder, SLICE_LIT("Your pass"));
    password_finder_break(&f.finder);
    password_finder_text(&f.finder, SLICE_LIT("word 4711"));
    f.n = password_finder_end(&f.finder, f.text);
    assert_false(has(&f, "4711"));
}

static void test_find__with_more_than_it_holds__keeps_the_likely_ones(void **state)
{
    char text[TEXT_MOST];
    size_t n = 0;
    struct found f;
    (void)state;
    for (int i = 0; i < 40; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "password plain%c%c.\n\n\n\n\n\n", 'a' + i / 26,
                              'a' + i % 26);
    }
    (void)snprintf(text + n, sizeof(text) - n, "Password: secret99\n");
    find(&f, slice_str(text), TEXT_MOST);
    assert_int_equal(f.n, PASSWORD_CANDIDATES);
    assert_true(slice_eq(f.text[0], SLICE_LIT("secret99")));
}

static void test_find__of_a_length__takes_up_to_the_limit(void **state)
{
    char text[TEXT_MOST] = "Password: ";
    struct found f;
    (void)state;
    for (size_t n = PASSWORD_BYTES - 1; n <= PASSWORD_TOKEN + 1; n++) {
        memset(text + 10, 'x', n);
        text[10 + n] = '\0';
        find(&f, slice_str(text), TEXT_MOST);
        assert_int_equal(f.n, n <= PASSWORD_BYTES);
    }
}

static bool is_equal(const struct found *a, const struct found *b)
{
    bool equal = a->n == b->n;
    for (size_t i = 0; equal && i < a->n; i++) {
        equal = slice_eq(a->text[i], b->text[i]);
    }
    return equal;
}

static void test_find__of_cut_pieces__finds_the_same(void **state)
{
    static struct found whole;
    static struct found cut;
    (void)state;
    for (size_t i = 0; i < LENGTH(sentences); i++) {
        const struct slice text = slice_str(sentences[i]);
        find(&whole, text, TEXT_MOST);
        for (size_t step = 1; step < 9; step++) {
            find(&cut, text, step);
            assert_true(is_equal(&whole, &cut));
        }
    }
}

/* Pieces of words, marks, long runs and bytes that are no UTF-8, in any order. */
static void test_find__of_random_text__stays_within_bounds(void **state)
{
    static const char *const parts[] = {
        "password",
        ":",
        " ",
        "\n",
        "\u5bc6\u7801",
        "\"",
        "\xe5",
        "\x80",
        "=",
        "1",
        "abcX",
        "\xff",
        "\xf0\x9f",
        "mot de passe",
        "'",
        "\ufb03",
        "\u200b",
        ")",
        "\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa"};
    static struct found whole;
    static struct found cut;
    struct prng p;
    char text[TEXT_MOST];
    (void)state;
    prng_init(&p, 95, 0);
    for (int round = 0; round < 3000; round++) {
        size_t n = 0;
        while (n + 64 < sizeof(text) && prng_below(&p, 200) != 0) {
            const char *part = parts[prng_below(&p, LENGTH(parts))];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        find(&whole, slice_of(text, n), TEXT_MOST);
        find(&cut, slice_of(text, n), 1 + (size_t)prng_below(&p, 7));
        assert_true(is_equal(&whole, &cut));
        for (size_t i = 0; i < whole.n; i++) {
            assert_true(whole.text[i].n > 0 && whole.text[i].n <= PASSWORD_BYTES);
            assert_int_equal(slice_find(whole.text[i], '\0'), whole.text[i].n);
        }
    }
}

/* The work for a byte does not grow with the text before it. */
static void test_find__of_long_text__finds_the_last_one(void **state)
{
    static struct found f;
    (void)state;
    password_finder_init(&f.finder);
    for (int i = 0; i < 200000; i++) {
        password_finder_text(&f.finder, SLICE_LIT("passwordpassword\u5bc6\u7801:"));
    }
    password_finder_text(&f.finder, SLICE_LIT("\n\n\n\n\nPassword: 4711xyz\n"));
    f.n = password_finder_end(&f.finder, f.text);
    assert_true(has(&f, "4711xyz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__in_each_language__finds_passwords_of_each_form),
        cmocka_unit_test(test_find__of_plain_words__finds_those_after_the_word),
        cmocka_unit_test(test_find__with_punctuation__keeps_both_forms),
        cmocka_unit_test(test_find__in_text_without_the_word__finds_nothing),
        cmocka_unit_test(test_find__far_from_the_word__finds_nothing),
        cmocka_unit_test(test_find__after_a_break__begins_again),
        cmocka_unit_test(test_find__with_more_than_it_holds__keeps_the_likely_ones),
        cmocka_unit_test(test_find__of_a_length__takes_up_to_the_limit),
        cmocka_unit_test(test_find__of_cut_pieces__finds_the_same),
        cmocka_unit_test(test_find__of_random_text__stays_within_bounds),
        cmocka_unit_test(test_find__of_long_text__finds_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
