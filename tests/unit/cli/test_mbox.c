/* A mailbox is cut where mail programs cut it, in pieces of any length. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "core/cli/mbox.h"

#include "tests/unit/unit.h"

#define FROM1 "From a@b.example Thu Aug 22 12:36:23 2002\n"
#define FROM2 "From MAILER-DAEMON  Fri Jul  1 00:00:01 +0200 2022\n"

enum { LONG_LINE = 100000 };

struct writing {
    int fd;
    const char *text;
    size_t n;
    size_t piece;
};

static void *write_all(void *context)
{
    struct writing *w = context;
    for (size_t at = 0; at < w->n; at += w->piece) {
        size_t n = w->n - at < w->piece ? w->n - at : w->piece;
        if (write(w->fd, w->text + at, n) != (ssize_t)n) {
            break;
        }
    }
    (void)close(w->fd);
    return NULL;
}

static void collect(void *context, struct slice bytes)
{
    (void)fwrite(bytes.p, 1, bytes.n, context);
}

/* The messages of text, each with a "|" behind it; the caller frees. */
static char *split(const char *text, size_t n, size_t piece, bool may_be_mbox)
{
    struct mailbox *m = malloc(sizeof(*m));
    char *got = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&got, &size);
    int ends[2];
    pthread_t thread;
    bool has_more = true;

    assert_non_null(m);
    assert_non_null(to);
    assert_int_equal(pipe(ends), 0);
    struct writing w = {.fd = ends[1], .text = text, .n = n, .piece = piece};
    assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
    mailbox_init(m, ends[0], may_be_mbox);
    while (has_more) {
        assert_int_equal(mailbox_next(m, collect, to, &has_more), 0);
        (void)fputc('|', to);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(ends[0]);
    (void)fclose(to);
    free(m);
    return got;
}

static void test_mailbox__cut_anywhere__the_same_messages(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", "|"},
        {"Subject: a\n\nhello\n", "Subject: a\n\nhello\n|"},
        {"From here on it is text\n\nFrom x Thu Aug 22 12:36:23 2002\n",
         "From here on it is text\n\nFrom x Thu Aug 22 12:36:23 2002\n|"},
        {FROM1 "Subject: a\n\nhello\n\n", "Subject: a\n\nhello\n\n|"},
        {FROM1 "Subject: a\n\none\n\n" FROM2 "Subject: b\n\ntwo\n\n",
         "Subject: a\n\none\n|Subject: b\n\ntwo\n|"},
        {FROM1 "S: a\r\n\r\none\r\n\r\nFrom x Thu Aug 22 12:36 2002\r\nS: b\r\n\r\ntwo",
         "S: a\r\n\r\none\r\n|S: b\r\n\r\ntwo|"},
        /* quoted, not preceded by an empty line, without a date: text */
        {FROM1 "S: a\n>From: x\n\n>From me\n>>From me\n > From\n" FROM2
               "\nFrom me to you, Thu 22 Aug\n\n\n" FROM2 "\n",
         "S: a\n>From: x\n\nFrom me\n>From me\n > From\n" FROM2
         "\nFrom me to you, Thu 22 Aug\n\n||"},
        /* a Content-Length is ignored */
        {FROM1 "Content-Length: 9999\n\nx\n\n" FROM2 "S: b\n\ny\n",
         "Content-Length: 9999\n\nx\n|S: b\n\ny\n|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].text);
        for (size_t piece = 1; piece <= n + 1; piece++) {
            char *got = split(rows[i].text, n, piece, true);
            assert_string_equal(got, rows[i].want);
            free(got);
        }
    }
}

static void test_mailbox__of_a_maildir__is_one_message(void **state)
{
    static const char text[] = FROM1 "S: a\n\none\n\n" FROM2 "S: b\n\ntwo\n";
    char *got = split(text, sizeof(text) - 1, sizeof(text), false);
    (void)state;
    assert_int_equal(strlen(got), sizeof(text)); /* and the bar */
    assert_memory_equal(got, text, sizeof(text) - 1);
    free(got);
}

/* Lines longer than the buffer, and quotes at each of its edges. */
static void test_mailbox__long_lines__nothing_is_lost(void **state)
{
    size_t n = 0;
    char *text = NULL;
    char *want = NULL;
    FILE *to = open_memstream(&text, &n);
    size_t nwant = 0;
    FILE *wanted = open_memstream(&want, &nwant);

    (void)state;
    assert_non_null(to);
    assert_non_null(wanted);
    (void)fputs(FROM1 "S: a\n\n", to);
    (void)fputs("S: a\n\n", wanted);
    for (int i = 0; i < LONG_LINE; i++) {
        (void)fputc('x', to);
        (void)fputc('x', wanted);
    }
    for (int i = 0; i < LONG_LINE / 10; i++) {
        (void)fprintf(to, "\n>From me %d", i);
        (void)fprintf(wanted, "\nFrom me %d", i);
    }
    (void)fputs("\n\n" FROM2 "S: b\n\nend\n", to);
    (void)fputs("\n|S: b\n\nend\n|", wanted);
    (void)fclose(to);
    (void)fclose(wanted);
    char *got = split(text, n, 4093, true);
    assert_string_equal(got, want);
    free(got);
    free(text);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mailbox__cut_anywhere__the_same_messages),
        cmocka_unit_test(test_mailbox__of_a_maildir__is_one_message),
        cmocka_unit_test(test_mailbox__long_lines__nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
