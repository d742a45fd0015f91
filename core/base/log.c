/* log - the ring, the writer thread and the three targets. */
#include "core/base/log.h"

#include <paths.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "core/base/clock.h"
#include "core/base/log_recent.h"
#include "core/base/thread.h"
#include "core/base/visible.h"

enum {
    RING_BYTES = 512 * 1024, /* some 2,500 lines of 200 bytes */
    HEAD_BYTES = 3,          /* length (2) and level before each line */
    IDENT_MAX = 64,
    GATHER_US = 2000, /* between a line and the next wake-up of the writer */
    JSON_MAX = 6 * LOG_LINE_MAX + 64 /* a line of which each byte is written \\uXXXX */
};

static struct {
    pthread_mutex_t lock; /* guards: all of this up to the blank line */
    pthread_cond_t more;  /* signalled when the ring is no longer empty, or stopping */
    unsigned char *ring;  /* RING_BYTES while running, else NULL */
    size_t start;         /* of the oldest line */
    size_t used;
    uint64_t dropped; /* since the last line that told of it */
    uint64_t lost;    /* dropped since the process began */
    bool stopping;

    /* Set by log_start before the writer exists, constant until log_stop has joined it. */
    pthread_t writer;
    enum log_target target;
    char ident[IDENT_MAX];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

/* Relaxed: a line more or less while the level changes does no harm. */
static _Atomic int max_level = LOG_LEVEL_INFO;
static _Atomic bool is_json; /* likewise */

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return "error";
    case LOG_LEVEL_WARN:
        return "warn";
    case LOG_LEVEL_INFO:
        return "info";
    case LOG_LEVEL_DEBUG:
        return "debug";
    }
    return "?";
}

static int level_priority(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return LOG_ERR;
    case LOG_LEVEL_WARN:
        return LOG_WARNING;
    case LOG_LEVEL_INFO:
        return LOG_INFO;
    case LOG_LEVEL_DEBUG:
        return LOG_DEBUG;
    }
    return LOG_ERR;
}

/* The line as a JSON object of ASCII where that is asked for; bytes over 0x7e stand as if they
 * were Latin-1. */
static const char *in_format(enum log_level level, const char *line, char ret[JSON_MAX])
{
    if (!atomic_load_explicit(&is_json, memory_order_relaxed) || line[0] == '{') {
        return line;
    }
    size_t n = (size_t)snprintf(ret, JSON_MAX,
                                "{\"event\":\"log\",\"level\":\"%s\",\"text\":\"",
                                level_name(level));
    for (const char *p = line; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool is_plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
        n += (size_t)snprintf(ret + n, JSON_MAX - n, is_plain ? "%c" : "\\u%04x", c);
    }
    memcpy(ret + n, "\"}", 3);
    return ret;
}

static void write_stderr(enum log_level level, const char *line)
{
    char text[JSON_MAX + IDENT_MAX + 16];
    bool is_bare = atomic_load_explicit(&is_json, memory_order_relaxed);
    int n = is_bare ? snprintf(text, sizeof(text), "%s\n", line)
                    : snprintf(text, sizeof(text), "%s%s%s: %s\n", state.ident,
                               state.ident[0] ? ": " : "", level_name(level), line);
    size_t left = n > 0 ? (size_t)n : 0;
    const char *p = text;
    while (left) {
        ssize_t done = write(STDERR_FILENO, p, left);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return; /* nowhere left to complain */
        }
        p += done;
        left -= (size_t)done;
    }
}

static void write_line(enum log_level level, const char *line)
{
    char json[JSON_MAX];
    line = in_format(level, line, json);
    switch (state.target) {
    case LOG_TARGET_STDERR:
        write_stderr(level, line);
        return;
    case LOG_TARGET_SYSLOG:
        syslog(level_priority(level), "%s", line);
        return;
    case LOG_TARGET_JOURNAL:
        if (sd_journal_send("MESSAGE=%s", line, "PRIORITY=%d", level_priority(level),
                            "SYSLOG_FACILITY=%d", LOG_MAIL >> 3, "SYSLOG_IDENTIFIER=%s",
                            state.ident, NULL) != 0) {
            write_stderr(level, line);
        }
        return;
    }
}

static void ring_put(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t at = (state.start + state.used) % RING_BYTES;
    size_t first = n < RING_BYTES - at ? n : RING_BYTES - at;
    memcpy(state.ring + at, p, first);
    memcpy(state.ring, p + first, n - first);
    state.used += n;
}

static void ring_get(void *bytes, size_t n)
{
    unsigned char *p = bytes;
    size_t first = n < RING_BYTES - state.start ? n : RING_BYTES - state.start;
    memcpy(p, state.ring + state.start, first);
    memcpy(p + first, state.ring, n - first);
    state.start = (state.start + n) % RING_BYTES;
    state.used -= n;
}

/* Takes the oldest line out. */
static void ring_take(enum log_level *retlevel, char line[LOG_LINE_MAX + 1])
{
    unsigned char head[HEAD_BYTES];
    ring_get(head, HEAD_BYTES);
    size_t n = (size_t)(head[0] | (unsigned)head[1] << 8);
    *retlevel = (enum log_level)head[2];
    ring_get(line, n);
    line[n] = '\0';
}

/* Waits for a line; the lock is held. On a busy server it gathers lines for a moment, because each
 * wake-up of this thread costs the thread of a message more than its line. */
static void await_lines(uint64_t last_us)
{
    const struct timespec moment = {.tv_nsec = GATHER_US * INT64_C(1000)};
    bool has_waited = false;

    while (state.used == 0 && state.dropped == 0 && !state.stopping) {
        (void)pthread_cond_wait(&state.more, &state.lock);
        has_waited = true;
    }
    if (has_waited && !state.stopping && clock_mono_us() < last_us + GATHER_US) {
        (void)pthread_mutex_unlock(&state.lock);
        (void)nanosleep(&moment, NULL);
        (void)pthread_mutex_lock(&state.lock);
    }
}

static void *writer_main(void *unused)
{
    (void)unused;
    char line[LOG_LINE_MAX + 1];
    uint64_t last_us = 0;
    (void)pthread_mutex_lock(&state.lock);
    for (;;) {
        await_lines(last_us);
        if (state.used == 0 && state.dropped == 0) {
            break;
        }
        enum log_level level = LOG_LEVEL_WARN;
        if (state.used) {
            ring_take(&level, line);
        } else {
            /* The lines that were refused came after all that were in the ring. */
            (void)snprintf(line, sizeof(line),
                           "event=log_dropped lines=%llu: the log is too slow",
                           (unsigned long long)state.dropped);
            state.dropped = 0;
        }
        (void)pthread_mutex_unlock(&state.lock);
        write_line(level, line);
        last_us = clock_mono_us();
        (void)pthread_mutex_lock(&state.lock);
    }
    (void)pthread_mutex_unlock(&state.lock);
    return NULL;
}

static void open_target(const char *ident, enum log_target target)
{
    (void)snprintf(state.ident, sizeof(state.ident), "%s", ident);
    state.target = target;
    if (target == LOG_TARGET_SYSLOG) {
        openlog(state.ident, LOG_PID | LOG_NDELAY, LOG_MAIL);
    }
}

enum log_target log_target_auto(void)
{
    /* systemd names the stream that our standard error is connected to */
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread yet */
    if (getenv("JOURNAL_STREAM") != NULL) {
        return LOG_TARGET_JOURNAL;
    }
    return isatty(STDERR_FILENO) == 1 || access(_PATH_LOG, W_OK) != 0
               ? LOG_TARGET_STDERR
               : LOG_TARGET_SYSLOG;
}

enum err log_start(const char *ident, enum log_target target, enum log_level level)
{
    unsigned char *ring = malloc(RING_BYTES);
    if (!ring) {
        return ERR_NOMEM;
    }
    log_set_level(level);
    (void)pthread_mutex_lock(&state.lock);
    if (state.ring) {
        (void)pthread_mutex_unlock(&state.lock);
        free(ring);
        return ERR_EXISTS;
    }
    state.start = 0;
    state.used = 0;
    state.dropped = 0;
    state.stopping = false;
    open_target(ident, target);
    int failed = thread_start(&state.writer, writer_main, NULL);
    if (failed) {
        free(ring);
    } else {
        state.ring = ring;
    }
    (void)pthread_mutex_unlock(&state.lock);
    return failed ? err_of_errno(failed) : ERR_OK;
}

void log_stop(void)
{
    (void)pthread_mutex_lock(&state.lock);
    bool running = state.ring && !state.stopping;
    state.stopping = true;
    (void)pthread_cond_signal(&state.more);
    (void)pthread_mutex_unlock(&state.lock);
    if (!running) {
        return;
    }
    (void)pthread_join(state.writer, NULL);
    (void)pthread_mutex_lock(&state.lock);
    free(state.ring);
    state.ring = NULL;
    if (state.target == LOG_TARGET_SYSLOG) {
        closelog();
    }
    state.target = LOG_TARGET_STDERR;
    (void)pthread_mutex_unlock(&state.lock);
}

void log_set_json(bool json)
{
    atomic_store_explicit(&is_json, json, memory_order_relaxed);
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

/* Hands the line over; false when there is no writer to take it. */
static bool enqueue(enum log_level level, const char *line, size_t n)
{
    unsigned char head[HEAD_BYTES] = {(unsigned char)n, (unsigned char)(n >> 8),
                                      (unsigned char)level};
    (void)pthread_mutex_lock(&state.lock);
    bool running = state.ring && !state.stopping;
    if (running) {
        /* Once lines are lost, more are dropped until the writer has logged their number. The log
         * is then in order, and the gap is where that line stands. */
        bool lost = state.dropped > 0 || n + HEAD_BYTES > RING_BYTES - state.used;
        if (lost) {
            state.dropped++;
            state.lost++;
        } else {
            ring_put(head, HEAD_BYTES);
            ring_put(line, n);
        }
        (void)pthread_cond_signal(&state.more);
    }
    (void)pthread_mutex_unlock(&state.lock);
    return running;
}

uint64_t log_dropped(void)
{
    (void)pthread_mutex_lock(&state.lock);
    uint64_t lost = state.lost;
    (void)pthread_mutex_unlock(&state.lock);
    return lost;
}

static void log_va(enum log_level level, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* For callers that forgot log_str: an event stays one line without hidden characters. Most lines
 * are ASCII and do not change. */
static size_t make_visible(char line[LOG_LINE_MAX + 1], size_t n)
{
    char shown[LOG_LINE_MAX + 1];
    size_t at = 0;

    while (at < n && line[at] >= ' ' && line[at] < 0x7f) {
        at++;
    }
    if (at == n) {
        return n;
    }
    n = visible_print(shown, sizeof(shown), slice_of(line, n));
    memcpy(line, shown, n + 1);
    return n;
}

static void log_va(enum log_level level, const char *format, va_list args)
{
    char line[LOG_LINE_MAX + 1];
    if ((int)level > atomic_load_explicit(&max_level, memory_order_relaxed)) {
        return;
    }
    int wanted = vsnprintf(line, sizeof(line), format, args);
    if (wanted < 0) {
        return;
    }
    size_t n = (size_t)wanted;
    if (n > LOG_LINE_MAX) {
        n = LOG_LINE_MAX;
        line[n - 3] = line[n - 2] = line[n - 1] = '.';
    }
    n = make_visible(line, n);
    if (level <= LOG_LEVEL_WARN) {
        log_recent_add(level, line);
    }
    if (!enqueue(level, line, n)) {
        char json[JSON_MAX];
        write_stderr(level, in_format(level, line, json));
    }
}

#define LOG_AT(level, format)            \
    do {                                 \
        va_list args;                    \
        va_start(args, format);          \
        log_va((level), (format), args); \
        va_end(args);                    \
    } while (0)

void log_error(const char *format, ...)
{
    LOG_AT(LOG_LEVEL_ERROR, format);
}

void log_warn(const char *format, ...)
{
    LOG_AT(LOG_LEVEL_WARN, format);
}

void log_info(const char *format, ...)
{
    LOG_AT(LOG_LEVEL_INFO, format);
}

void log_debug(const char *format, ...)
{
    LOG_AT(LOG_LEVEL_DEBUG, format);
}

void log_errinfo(const char *event, const struct errinfo *info)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    log_error("event=%s %s", event, errinfo_format(info, text, sizeof(text)));
}

enum { DOTS = 3, ESCAPED = 4 };

char *log_str(char dst[LOG_STR_MAX], struct slice untrusted)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    size_t cut = 0; /* a whole number of characters that leaves room for the dots */
    if (untrusted.n == 0) {
        memcpy(dst, "-", 2);
        return dst;
    }
    for (size_t i = 0; i < untrusted.n; i++) {
        unsigned char c = (unsigned char)untrusted.p[i];
        bool plain = c > ' ' && c < 0x7f && c != '"' && c != '\\';
        if (n + (plain ? 1 : ESCAPED) > LOG_STR_MAX - 1) {
            memcpy(dst + cut, "...", DOTS);
            n = cut + DOTS;
            break;
        }
        if (plain) {
            dst[n++] = (char)c;
        } else {
            dst[n++] = '\\';
            dst[n++] = 'x';
            dst[n++] = hex[c >> 4];
            dst[n++] = hex[c & 15];
        }
        if (n <= LOG_STR_MAX - 1 - DOTS) {
            cut = n;
        }
    }
    dst[n] = '\0';
    return dst;
}
