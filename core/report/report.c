#include "core/report/report.h"

#include "core/base/cursor.h"

enum { FLAG_SPAM = 1 };

static void print_short_text(struct buf *ret, struct slice text, size_t most)
{
    text = slice_head(text, most);
    buf_add_u32(ret, (uint32_t)text.n);
    buf_add(ret, text);
}

void report_print(const struct report *r, struct buf *ret)
{
    buf_add_u8(ret, r->entry);
    buf_add_u8(ret, r->is_spam ? FLAG_SPAM : 0);
    buf_add_u16(ret, 0);
    buf_add_u64(ret, r->number);
    buf_add_u64(ret, r->id);
    buf_add_u64(ret, r->time_s);
    buf_add_u64(ret, r->case_id);
    buf_add_u64(ret, r->replaces);
    buf_add_u64(ret, r->message);
    buf_add_u32(ret, (uint32_t)r->nitems);
    for (size_t i = 0; i < r->nitems; i++) {
        buf_add_u16(ret, r->items[i].type);
        buf_add_u8(ret, r->items[i].proof);
        buf_add_u64(ret, r->items[i].digest);
    }
    print_short_text(ret, r->reporter, REPORT_NAME_MAX);
    print_short_text(ret, r->way, REPORT_NAME_MAX);
    print_short_text(ret, r->queue_id, REPORT_NAME_MAX);
    print_short_text(ret, r->changed, REPORT_CHANGED_MAX);
    print_short_text(ret, r->vector, REPORT_VECTOR_MAX);
    if (r->entry == REPORT_LISTED) {
        buf_add_u64(ret, r->known_s);
        buf_add(ret, slice_of((const char *)r->listed.b, DIGEST_BYTES));
    }
}

static struct slice read_text(struct cursor *c, size_t most)
{
    uint32_t n = cursor_u32(c);

    c->failed = c->failed || n > most;
    return cursor_bytes(c, c->failed ? 0 : n);
}

static void read_listed(struct cursor *c, struct report *ret)
{
    ret->known_s = 0;
    ret->listed = (struct digest){{0}};
    if (ret->entry != REPORT_LISTED) {
        return;
    }
    ret->known_s = cursor_u64(c);
    struct slice listed = cursor_bytes(c, DIGEST_BYTES);
    if (listed.n == DIGEST_BYTES) {
        memcpy(ret->listed.b, listed.p, DIGEST_BYTES);
    }
}

bool report_parse(struct slice bytes, struct report *ret)
{
    struct cursor c = cursor_of(bytes);

    ret->entry = cursor_u8(&c);
    ret->is_spam = (cursor_u8(&c) & FLAG_SPAM) != 0;
    (void)cursor_u16(&c);
    ret->number = cursor_u64(&c);
    ret->id = cursor_u64(&c);
    ret->time_s = cursor_u64(&c);
    ret->case_id = cursor_u64(&c);
    ret->replaces = cursor_u64(&c);
    ret->message = cursor_u64(&c);
    ret->nitems = cursor_u32(&c);
    if (!cursor_ok(&c) || ret->nitems > REPORT_ITEMS_MAX) {
        return false;
    }
    for (size_t i = 0; i < ret->nitems; i++) {
        ret->items[i].type = cursor_u16(&c);
        ret->items[i].proof = cursor_u8(&c);
        ret->items[i].digest = cursor_u64(&c);
    }
    ret->reporter = read_text(&c, REPORT_NAME_MAX);
    ret->way = read_text(&c, REPORT_NAME_MAX);
    ret->queue_id = read_text(&c, REPORT_NAME_MAX);
    ret->changed = read_text(&c, REPORT_CHANGED_MAX);
    ret->vector = read_text(&c, REPORT_VECTOR_MAX);
    read_listed(&c, ret);
    return cursor_ok(&c) && ret->entry >= REPORT_GIVEN && ret->entry <= REPORT_LISTED;
}
