/*
 * seen - reads a list from text and keeps all calls of the sink.
 */
#ifndef TESTS_UNIT_FEED_SEEN_H
#define TESTS_UNIT_FEED_SEEN_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/feed/feed.h"

#include "tests/unit/unit.h"

struct seen {
    struct buf entries; /* "type:value\n" */
    struct buf bad;     /* "line:text\n" */
    bool has_times; /* entries: " FIRST-EXPIRY" behind the value, where there is one */
    struct feed_counts counts;
    struct errinfo info;
    uint64_t progress;
    uint64_t stop_after; /* entries; 0: never */
    uint64_t n;
};

static inline enum err on_entry(void *context, const struct feed_item *item)
{
    struct seen *s = context;
    const struct feature_entry *e = &item->entry;
    if (s->stop_after != 0 && s->n >= s->stop_after) {
        return ERR_NOSPACE;
    }
    s->n++;
    buf_printf(&s->entries, "%s:%.*s",
               feature_info((enum feature_type)e->class_type)->name,
               SLICE_ARGS(e->text));
    if (s->has_times && (item->first_seen_s != 0 || item->expiry_s != 0)) {
        buf_printf(&s->entries, " %u-%u", (unsigned)item->first_seen_s,
                   (unsigned)item->expiry_s);
    }
    buf_add_char(&s->entries, '\n');
    return ERR_OK;
}

static inline void on_bad(void *context, uint64_t line, const char *reason,
                          struct slice text)
{
    struct seen *s = context;
    assert_true(reason[0] != '\0');
    buf_printf(&s->bad, "%lu:%.*s\n", (unsigned long)line, SLICE_ARGS(text));
}

static inline void on_progress(void *context, uint64_t bytes)
{
    struct seen *s = context;
    assert_true(bytes > s->progress);
    s->progress = bytes;
}

/* A file of tests/data/feeds. */
static inline int feed_fixture(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/tests/data/feeds/%s", GILLNET_SOURCE_DIR,
                   name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static inline void seen_fini(struct seen *s)
{
    buf_fini(&s->entries);
    buf_fini(&s->bad);
}

static inline enum err read_fd(int fd, const struct feed_options *options,
                               struct seen *s)
{
    struct feed_sink sink = {on_entry, on_bad, on_progress, s};
    buf_init(&s->entries, 64 << 20);
    buf_init(&s->bad, 64 << 20);
    enum err e = feed_read(fd, "feed", options, &sink, &s->counts, &s->info);
    close(fd);
    return e;
}

static inline enum err read_text(struct slice text, const struct feed_options *options,
                                 struct seen *s)
{
    int fd = memfd_create("feed", MFD_CLOEXEC);
    assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return read_fd(fd, options, s);
}

#endif
