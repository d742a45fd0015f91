/* text - untrusted bytes and times as people may see them on a terminal. */
#include "core/cli/text.h"

#include <time.h>

void text_print(FILE *to, struct slice s, size_t max)
{
    struct slice shown = slice_head(s, max);
    for (size_t i = 0; i < shown.n; i++) {
        unsigned char c = (unsigned char)shown.p[i];
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            (void)fputc(c, to);
        } else {
            (void)fprintf(to, "\\x%02x", c);
        }
    }
    if (shown.n < s.n) {
        (void)fputs("...", to);
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
