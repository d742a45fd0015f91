/* text - untrusted bytes and times as people may see them on a terminal. */
#include "core/cli/text.h"

#include "core/base/visible.h"

static void print_bytes(FILE *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            (void)fputc(c, to);
        } else {
            (void)fprintf(to, "\\x%02x", c);
        }
    }
}

void text_print(FILE *to, struct slice s, size_t max)
{
    struct slice shown = slice_head(s, max);
    for (size_t i = 0; i < shown.n;) {
        char code[VISIBLE_CODE_MAX];
        size_t n = visible_next(shown.p + i, shown.n - i, code);
        if (n > 1 && code[0] != '\0') {
            (void)fputs(code, to);
        } else {
            print_bytes(to, shown.p + i, n);
        }
        i += n;
    }
    if (shown.n < s.n) {
        (void)fputs("...", to);
    }
}

void text_show(FILE *to, const char *words)
{
    struct slice s = slice_str(words);
    for (size_t i = 0; i < s.n;) {
        char code[VISIBLE_CODE_MAX];
        size_t n = visible_next(s.p + i, s.n - i, code);
        if (code[0] != '\0' && s.p[i] != '\n') {
            (void)fputs(code, to);
        } else {
            (void)fwrite(s.p + i, 1, n, to);
        }
        i += n;
    }
}

const char *text_time(uint64_t seconds, char dst[TEXT_TIME_MAX])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (seconds == 0 || gmtime_r(&t, &tm) == NULL ||
        strftime(dst, TEXT_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
        (void)snprintf(dst, TEXT_TIME_MAX, "never");
    }
    return dst;
}

bool text_read_line(FILE *from, char line[TEXT_LINE_MAX], size_t *retn)
{
    size_t n = 0;
    int c;
    while ((c = getc(from)) != EOF && c != '\n') {
        if (n < TEXT_LINE_MAX) {
            line[n] = (char)c;
        }
        n += n <= TEXT_LINE_MAX;
    }
    *retn = n;
    return c != EOF || n > 0;
}
