#include "core/base/log_recent.h"

#include <pthread.h>

#include "core/base/clock.h"

static struct {
    pthread_mutex_t lock; /* guards: all of this */
    size_t n;
    size_t next; /* place of the next line */
    struct log_recent line[LOG_RECENT_LINES];
} recent = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct log_recent *newest(void)
{
    return recent.n == 0
               ? NULL
               : &recent.line[(recent.next + LOG_RECENT_LINES - 1) % LOG_RECENT_LINES];
}

static struct log_recent *take_place(void)
{
    struct log_recent *l = &recent.line[recent.next];

    recent.next = (recent.next + 1) % LOG_RECENT_LINES;
    recent.n += recent.n < LOG_RECENT_LINES ? 1 : 0;
    return l;
}

/* Cuts between characters of UTF-8. */
static void copy_text(char ret[LOG_RECENT_TEXT_MAX + 1], const char *line)
{
    size_t n = strnlen(line, LOG_RECENT_TEXT_MAX + 1);

    if (n <= LOG_RECENT_TEXT_MAX) {
        memcpy(ret, line, n + 1);
        return;
    }
    n = LOG_RECENT_TEXT_MAX - 3;
    while (n > 0 && ((unsigned char)line[n] & 0xc0) == 0x80) {
        n--;
    }
    memcpy(ret, line, n);
    memcpy(ret + n, "...", 4);
}

void log_recent_add(enum log_level level, const char *line)
{
    char text[LOG_RECENT_TEXT_MAX + 1];

    copy_text(text, line);
    (void)pthread_mutex_lock(&recent.lock);
    struct log_recent *l = newest();
    if (l == NULL || l->level != level || strcmp(l->text, text) != 0) {
        l = take_place();
        l->times = 0;
        l->level = level;
        memcpy(l->text, text, sizeof(text));
    }
    l->times++;
    l->time_us = clock_wall_us();
    (void)pthread_mutex_unlock(&recent.lock);
}

size_t log_recent_get(struct log_recent ret[LOG_RECENT_LINES])
{
    (void)pthread_mutex_lock(&recent.lock);
    const size_t n = recent.n;
    for (size_t i = 0; i < n; i++) {
        ret[i] =
            recent.line[(recent.next + LOG_RECENT_LINES - 1 - i) % LOG_RECENT_LINES];
    }
    (void)pthread_mutex_unlock(&recent.lock);
    return n;
}
