/*
 * update_intake - a body is read, each entry judged by the guard, and all of them sorted.
 */

#include "core/base/cursor.h"
#include "core/feed/update_internal.h"

enum { INTAKE_SORT_BYTES = 64 * 1024 * 1024, ENTRY_ARENA = 64 * 1024 };

static void tell_left_out(const struct intake *in, const struct feature_entry *e,
                          const char *reason, const char *why)
{
    struct update_line line = {.change = UPDATE_LEFT_OUT,
                               .class_type = e->class_type,
                               .text = e->written,
                               .reason = reason,
                               .why = why};
    if (in->on_line) {
        in->on_line(in->context, &line);
    }
}

static enum err intake_on_entry(void *context, const struct feed_item *item)
{
    struct intake *in = context;
    struct sorter_record r = {.order = in->taken};
    const char *why = NULL;
    const char *reason =
        in->guard ? feed_exclude_refuses(in->guard, &item->entry, &why) : NULL;
    if (reason) {
        in->left_out++;
        tell_left_out(in, &item->entry, reason, why);
        return ERR_OK;
    }
    arena_reset(in->arena);
    struct feature_entry own =
        feature_entry_matched(&item->entry, stage_url_match(in->stage), in->arena);
    if (own.text.p == NULL) {
        in->failed = ERR_NOMEM;
        return in->failed;
    }
    digest_make(&in->key, own.class_type, own.text, &r.digest);
    if ((in->only && !feed_set_has(in->only, &r.digest)) ||
        own.text.n > LIST_TEXT_MAX || own.written.n > LIST_TEXT_MAX) {
        return ERR_OK;
    }
    if (!in->only && in->taken == in->stage->feed->entries) {
        in->has_too_many = true;
        return ERR_LIMIT;
    }
    buf_clear(&in->data);
    buf_add_u16(&in->data, own.class_type);
    buf_add_u32(&in->data, item->expiry_s);
    buf_add_u32(&in->data, item->first_seen_s);
    buf_add(&in->data, own.written);
    r.data = buf_slice(&in->data);
    in->taken++;
    in->failed =
        buf_failed(&in->data) ? ERR_NOMEM : sorter_add(in->sorter, &r, &in->why);
    return in->failed;
}

static void intake_on_progress(void *context, uint64_t bytes)
{
    const struct intake *in = context;
    update_show(in->stage, "checking",
                in->size == 0 ? -1.0 : (double)bytes / (double)in->size);
}

static enum err options_of(const struct config_feed *f, struct feed_options *ret,
                           struct errinfo *reterr)
{
    *ret = (struct feed_options){.format = feed_format_by_name(slice_str(f->format)),
                                 .now_s = (uint32_t)update_now_s(),
                                 .csv_column = slice_str(f->column)};
    if (ret->format == FEED_FORMAT_COUNT) {
        return errinfo_set(reterr, ERR_RANGE, f->name, 0,
                           "there is no format %s; `man gillnet-feeds` names them",
                           f->format);
    }
    const struct feature_info *info = feature_info_by_name(slice_str(f->type));
    ret->entry_type = *f->type != '\0' && info ? (uint16_t)info->type : 0;
    return ERR_OK;
}

static enum err read_body(struct intake *in, const char *path, int fd,
                          struct errinfo *reterr)
{
    struct feed_options options;
    struct stat st;
    struct feed_sink sink = {
        .on_entry = intake_on_entry, .on_progress = intake_on_progress, .context = in};
    enum err e = options_of(in->stage->feed, &options, reterr);
    if (e != ERR_OK) {
        return e;
    }
    in->size = fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    e = sorter_new(in->stage->dir, INTAKE_SORT_BYTES, &in->sorter, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct errinfo why = {.code = ERR_OK};
    e = feed_read(fd, path, &options, &sink, &in->counts, &why);
    if (in->failed != ERR_OK) { /* ours */
        return errinfo_set(reterr, in->failed, path, 0, "%s",
                           in->why.text[0] != '\0' ? in->why.text
                                                   : err_text(in->failed));
    }
    in->is_refused = e == ERR_SYNTAX || in->has_too_many;
    in->why = why;
    if (e != ERR_OK && !in->is_refused) {
        return errinfo_set(reterr, e, why.source, 0, "%s", why.text);
    }
    return sorter_finish(in->sorter, reterr);
}

enum err intake_read(struct intake *in, const char *path, struct errinfo *reterr)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errinfo_errno(reterr, path, "cannot read what was downloaded");
    }
    buf_init(&in->data, SORTER_DATA_MAX);
    in->arena = arena_new(ENTRY_ARENA);
    enum err e =
        in->arena ? read_body(in, path, fd, reterr) : errinfo_nomem(reterr, path);
    arena_free(&in->arena);
    buf_fini(&in->data);
    (void)close(fd);
    if (e != ERR_OK) {
        sorter_free(&in->sorter);
    }
    return e;
}

bool intake_next(struct sorter *s, struct intake_entry *ret, bool *rethas,
                 enum err *retfail)
{
    struct sorter_record r;
    struct digest last = ret->digest;
    bool had_one = *rethas;
    *retfail = ERR_OK;
    do {
        *rethas = s && sorter_next(s, &r, retfail);
    } while (*rethas && had_one && digest_cmp(&r.digest, &last) == 0);
    if (!*rethas) {
        return false;
    }
    struct cursor c = cursor_of(r.data);
    ret->digest = r.digest;
    ret->class_type = cursor_u16(&c);
    ret->expiry_s = cursor_u32(&c);
    ret->first_seen_s = cursor_u32(&c);
    ret->text = c.rest;
    return true;
}
