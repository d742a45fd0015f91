/*
 * stage_files CONFIG - takes each file of the configuration's feeds (url "file:///...") through its
 * stage, twice, and asks the list for every entry that was taken. Prints one JSON line a feed; exit
 * status 1: an entry was not found.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/feed/exclude.h"
#include "core/feed/update.h"

enum { REASONS = 16, BODY_MAX = 1 << 28 };

static struct {
    const char *word;
    uint64_t n;
} reasons[REASONS];

static void count_reason(const char *word)
{
    size_t i = 0;
    while (i < REASONS - 1 && reasons[i].word && strcmp(reasons[i].word, word) != 0) {
        i++;
    }
    reasons[i].word = word;
    reasons[i].n++;
}

struct asking {
    const struct feed_exclude *guard;
    const struct list_reader *reader;
    uint64_t now_s;
    uint64_t asked;
    uint64_t missing;
};

/* Each entry of the file again: left out, or found. */
static enum err ask(void *context, const struct feed_item *item)
{
    struct asking *a = context;
    struct digest d;
    uint8_t hit = 0;
    const char *why = NULL;
    const char *word = feed_exclude_refuses(a->guard, &item->entry, &why);
    if (word) {
        count_reason(word);
        return ERR_OK;
    }
    digest_make(list_reader_key(a->reader), item->entry.class_type, item->entry.text,
                &d);
    list_reader_test(a->reader, &d, 1, &hit);
    a->asked++;
    if (!hit || list_reader_confirm(a->reader, &d, a->now_s) != LIST_CONFIRMED) {
        a->missing++;
        (void)fprintf(stderr, "not found: %.*s\n", SLICE_ARGS(item->entry.text));
    }
    return ERR_OK;
}

static int fail(const struct errinfo *why)
{
    (void)fprintf(stderr, "%s: %s\n", why->source, why->text);
    return 2;
}

static enum err give(struct feed_update *s, const char *file, struct update_report *ret,
                     struct errinfo *reterr)
{
    struct update_body body = {.etag = ""};
    struct buf b;
    buf_init(&b, BODY_MAX);
    enum err e = file_read(file, &b, reterr);
    e = e == ERR_OK ? file_write_atomic(update_incoming(s), buf_slice(&b), 0640, reterr)
                    : e;
    buf_fini(&b);
    return e == ERR_OK ? update_update(s, &body, NULL, NULL, ret, reterr) : e;
}

static enum err ask_all(const struct config *c, const struct config_feed *f,
                        const struct keyring *keys, struct asking *a,
                        struct errinfo *reterr)
{
    struct feed_options options = {.format = feed_format_by_name(slice_str(f->format)),
                                   .now_s = (uint32_t)a->now_s};
    struct feed_sink sink = {.on_entry = ask, .context = a};
    struct feed_counts counts;
    struct feed_exclude *g = NULL;
    struct list_reader *r = NULL;
    const char *file = f->url + strlen("file://");
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    enum err e = feed_exclude_new(c, f, keys, &g, reterr);
    e = e == ERR_OK
            ? list_reader_open(c->state_dir, slice_str(f->list), keys, &r, reterr)
            : e;
    a->guard = g;
    a->reader = r;
    e = e == ERR_OK ? feed_read(fd, file, &options, &sink, &counts, reterr) : e;
    list_reader_close(&r);
    feed_exclude_free(&g);
    (void)close(fd);
    return e;
}

static int one(const struct config *c, const struct config_feed *f,
               const struct keyring *keys)
{
    struct update_options o = {.config = c, .feed = f, .keys = keys};
    struct asking a = {.now_s = clock_wall_us() / 1000000};
    struct feed_update *s = NULL;
    struct update_report first;
    struct update_report second;
    struct errinfo why;
    const char *file = f->url + strlen("file://");
    enum err e = update_open(&o, &s, &why);
    e = e == ERR_OK ? give(s, file, &first, &why) : e;
    e = e == ERR_OK ? give(s, file, &second, &why) : e;
    update_close(&s);
    memset(reasons, 0, sizeof(reasons));
    if (e == ERR_OK && first.refusal.reason[0] == '\0') {
        e = ask_all(c, f, keys, &a, &why);
    }
    if (e != ERR_OK) {
        return fail(&why);
    }
    printf(
        "{\"feed\": \"%s\", \"refused\": \"%s\", \"format\": \"%s\", \"lines\": %" PRIu64
        ", \"bad\": %" PRIu64 ", \"entries\": %" PRIu64 ", \"asked\": %" PRIu64
        ", \"missing\": %" PRIu64 ", \"same\": %s, \"check_ms\": %" PRIu64
        ", \"apply_ms\": %" PRIu64 ", \"excluded\": {",
        f->name, first.refusal.reason, feed_format_name(first.counts.format),
        first.counts.lines, first.counts.bad, first.entries, a.asked, a.missing,
        second.is_same ? "true" : "false", first.check_us / 1000,
        first.apply_us / 1000);
    for (size_t i = 0; i < REASONS && reasons[i].word; i++) {
        printf("%s\"%s\": %" PRIu64, i > 0 ? ", " : "", reasons[i].word, reasons[i].n);
    }
    printf("}}\n");
    return a.missing > 0;
}

int main(int argc, char **argv)
{
    struct config *c = NULL;
    struct config_errors errors = {0};
    struct keyring keys;
    struct errinfo why;
    int status = 0;
    if (argc != 2 || base_init() != ERR_OK) {
        return 2;
    }
    if (config_load(argv[1], NULL, &c, &errors) != ERR_OK) {
        return fail(&errors.v[0]);
    }
    if (keyring_load_or_create(c->state_dir, &keys, &why) != ERR_OK) {
        return fail(&why);
    }
    for (size_t i = 0; i < c->nfeeds && status < 2; i++) {
        int got = one(c, &c->feeds[i], &keys);
        status = got > status ? got : status;
    }
    config_release(&c);
    return status;
}
