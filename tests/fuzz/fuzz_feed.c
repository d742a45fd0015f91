/* fuzz_feed - any bytes as a list, in the format of the first byte; entries must read back. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/feed/feed.h"

#include "tests/fuzz/fuzz.h"

enum { NOW_S = 1780000000 };

struct seen {
    struct arena *arena;
    uint64_t entries;
    uint64_t bad;
    uint64_t lines;
};

static enum err on_entry(void *context, const struct feed_item *item)
{
    struct seen *s = context;
    const struct feature_entry *e = &item->entry;
    struct feature_entry again;

    s->entries++;
    FUZZ_CHECK(item->first_seen_s <= NOW_S);
    FUZZ_CHECK(item->expiry_s == 0 || item->expiry_s >= NOW_S);
    FUZZ_CHECK(e->text.n > 0 && feature_info((enum feature_type)e->class_type) != NULL);
    if (e->class_type == FEATURE_domain || e->class_type == FEATURE_host ||
        e->class_type == FEATURE_network || e->class_type == FEATURE_attachment ||
        e->class_type == FEATURE_url_hash) {
        arena_reset(s->arena);
        FUZZ_CHECK(feature_entry_parse(e->text, (enum feature_type)e->class_type,
                                       s->arena, &again, NULL) == ERR_OK);
        FUZZ_CHECK(again.class_type == e->class_type && slice_eq(again.text, e->text));
    }
    return ERR_OK;
}

static void on_bad(void *context, uint64_t line, const char *reason, struct slice text)
{
    struct seen *s = context;
    s->bad++;
    s->lines = line > s->lines ? line : s->lines;
    FUZZ_CHECK(line > 0 && reason[0] != '\0' && text.n <= FEED_LINE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen s = {.arena = arena_new(FUZZ_ARENA)};
    struct feed_sink sink = {on_entry, on_bad, NULL, &s};
    struct feed_options options = {.format = FEED_AUTO, .now_s = NOW_S};
    struct feed_counts counts;
    struct errinfo info = {.code = ERR_OK};
    int fd = memfd_create("feed", MFD_CLOEXEC);

    FUZZ_CHECK(s.arena != NULL && fd >= 0);
    if (size > 0) {
        options.format = (enum feed_format)(data[0] % FEED_FORMAT_COUNT);
        data++;
        size--;
    }
    FUZZ_CHECK(size == 0 || write(fd, data, size) == (ssize_t)size);
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    if (feed_read(fd, "feed", &options, &sink, &counts, &info) == ERR_OK) {
        uint64_t unused = 0;
        for (unsigned u = 0; u < FEED_UNUSED_COUNT; u++) {
            unused += counts.unused[u];
        }
        FUZZ_CHECK(counts.entries == s.entries && counts.bad >= s.bad);
        FUZZ_CHECK(unused <= counts.ignored);
        FUZZ_CHECK(s.lines <= counts.lines);
        FUZZ_CHECK(counts.entries + counts.ignored + counts.bad >= counts.lines);
    } else {
        FUZZ_CHECK(info.text[0] != '\0');
    }
    close(fd);
    arena_free(&s.arena);
    return 0;
}
