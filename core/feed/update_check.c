/*
 * update_check - is a body what the feed should be? gillnet-feeds(7) CHECKS.
 */
#include <stdarg.h>

#include "core/feed/update_internal.h"

static const char *const reasons[UPDATE_REASONS] = {
#define UPDATE_REASON(name) #name,
#include "core/feed/update_reason.def"
#undef UPDATE_REASON
};

void update_refuse(struct update_refusal *ret, enum update_reason reason,
                   const char *format, ...)
{
    va_list args;
    (void)snprintf(ret->reason, sizeof(ret->reason), "%s", reasons[reason]);
    va_start(args, format);
    (void)vsnprintf(ret->text, sizeof(ret->text), format, args);
    va_end(args);
    ret->at_s = update_now_s();
}

/* How the body begins: ' ' when there is nothing in it but white space. */
static char first_byte(const struct feed_update *s)
{
    char head[256];
    int fd = open(s->incoming, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
    if (fd >= 0) {
        (void)close(fd);
    }
    struct slice text = slice_of(head, n > 0 ? (size_t)n : 0);
    if (slice_has_prefix(text, SLICE_LIT("\xef\xbb\xbf"))) {
        text = slice_from(text, 3);
    }
    text = slice_trim(text);
    if (text.n == 0) {
        return ' ';
    }
    return text.p[0];
}

/* Nothing of a list is in it. */
static bool check_form(const struct feed_update *s, const struct intake *in,
                       struct update_refusal *ret)
{
    const struct feed_counts *c = &in->counts;
    char first = first_byte(s);
    if (first == ' ') {
        update_refuse(ret, UPDATE_REASON_empty,
                      "the answer is empty: an error of the feed, not the end of its "
                      "entries");
    } else if (first == '<' && (in->is_refused || c->entries == 0)) {
        update_refuse(ret, UPDATE_REASON_first_line,
                      "the answer is a web page, not a list: was the address right, or "
                      "does the feed want a login?");
    } else if (in->has_too_many) {
        update_refuse(
            ret, UPDATE_REASON_entries,
            "more than %u entries; raise `entries` of the feed if that is right",
            s->feed->entries);
    } else if (in->is_refused) {
        bool is_object = first == '{' || first == '[';
        update_refuse(ret, is_object ? UPDATE_REASON_first_line : UPDATE_REASON_format,
                      "%.300s", in->why.text);
    }
    return ret->reason[0] == '\0';
}

static bool check_lines(const struct feed_update *s, const struct intake *in,
                        struct update_refusal *ret)
{
    const struct feed_counts *c = &in->counts;
    uint64_t all = c->bad + c->entries;
    if (c->bad > 0 && (double)c->bad > s->feed->bad * (double)all) {
        update_refuse(ret, UPDATE_REASON_bad_lines,
                      "%" PRIu64 " of %" PRIu64 " lines cannot be read as %s; name the "
                      "right `format`, or raise `bad_lines` of the feed",
                      c->bad, all, feed_format_name(c->format));
    } else if (c->entries == 0 && s->feed->entries_min > 0) {
        update_refuse(ret, UPDATE_REASON_empty,
                      "no entry in %" PRIu64
                      " lines (%s): an error of the feed, not the "
                      "end of its entries",
                      c->lines, feed_format_name(c->format));
    } else if (in->taken == 0 && c->entries > 0) {
        update_refuse(ret, UPDATE_REASON_excluded,
                      "none of its %" PRIu64
                      " entries may be taken; `gillnet feed test "
                      "%s` says why",
                      c->entries, s->feed->name);
    }
    return ret->reason[0] == '\0';
}

static void check_size(const struct feed_update *s, uint64_t entries,
                       struct update_refusal *ret)
{
    const struct config_feed *f = s->feed;
    double before = (double)s->saved.shown.entries;
    double now = (double)entries;
    if (s->saved.shown.version == 0 || s->saved.is_silent ||
        (before < UPDATE_BAND_LEAST && now < UPDATE_BAND_LEAST)) {
        return;
    }
    bool shrank = f->shrink > 0 && now < f->shrink * before;
    bool grew = f->grow > 0 && now > f->grow * before;
    if (shrank || grew) {
        update_refuse(ret, UPDATE_REASON_size,
                      "%" PRIu64 " entries where the last good version has %" PRIu64
                      "; if that is right: `gillnet feed update --force %s`, or change "
                      "`%s` of the feed",
                      entries, s->saved.shown.entries, f->name,
                      shrank ? "shrink" : "grow");
    }
}

void update_check(const struct feed_update *s, const struct intake *in,
                  const struct compare *c, const struct feed_exclude *guard,
                  bool is_by_hand, struct update_refusal *ret)
{
    if (!check_form(s, in, ret) || !check_lines(s, in, ret) || !c) {
        return;
    }
    if (c->entries < s->feed->entries_min) {
        update_refuse(ret, UPDATE_REASON_entries,
                      "%" PRIu64 " entries, fewer than `entries_min` of the feed (%u)",
                      c->entries, s->feed->entries_min);
    } else if (feed_exclude_is_too_much(guard)) {
        update_refuse(
            ret, UPDATE_REASON_ham,
            "its new entries are in too much of our good mail of late (`ham_share` "
            "%g); `gillnet feed test %s` shows them",
            s->feed->ham, s->feed->name);
    } else if (!is_by_hand) {
        check_size(s, c->entries, ret);
    }
}
