/* show - addresses without secrets, and rows of JSON. */
#include "core/feed/show.h"

#include "core/base/buf.h"
#include "core/feed/local.h"
#include "core/message/feature/feature.h"

enum { KEY_LIKE = 20 };

/* Long, of letters and digits alone, and of both: keys of providers look so. */
static bool is_key_like(struct slice part)
{
    bool has_digit = false;

    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];

        if (c >= '0' && c <= '9') {
            has_digit = true;
        } else if (!((c | 32) >= 'a' && (c | 32) <= 'z') && c != '-' && c != '_') {
            return false;
        }
    }
    return has_digit && part.n >= KEY_LIKE;
}

static void add_path(struct buf *b, struct slice path)
{
    while (path.n > 0) {
        size_t n = slice_find(path, '/');
        struct slice part = slice_head(path, n);

        buf_add(b, is_key_like(part) ? SLICE_LIT("***") : part);
        buf_add_str(b, n < path.n ? "/" : "");
        path = slice_from(path, n + 1);
    }
}

static void add_query(struct buf *b, struct slice query)
{
    buf_add_char(b, '?');
    while (query.n > 0) {
        struct slice pair = slice_cut(&query, '&');
        size_t at = slice_find(pair, '=');

        buf_add(b, at < pair.n ? slice_head(pair, at) : SLICE_LIT("***"));
        buf_add_str(b, at < pair.n ? "=***" : "");
        buf_add_str(b, query.n > 0 ? "&" : "");
    }
}

char *feed_shown(char dst[FEED_SHOWN_MAX], const char *url)
{
    const char *host = strstr(url, "://");
    struct slice rest = slice_str(host != NULL ? host + 3 : url);
    struct slice name = slice_head(rest, strcspn(rest.p, "/?#"));
    const char *at = memrchr(name.p, '@', name.n);
    struct slice path = slice_from(rest, name.n);
    struct slice query;
    struct buf b;

    buf_init(&b, FEED_SHOWN_MAX - 1);
    buf_add(&b, slice_of(url, (size_t)(rest.p - url)));
    if (at != NULL) {
        buf_add_str(&b, "***@");
        name = slice_from(name, (size_t)(at - name.p) + 1);
    }
    buf_add(&b, name);
    path = slice_head(path, slice_find(path, '#'));
    query = slice_from(path, slice_find(path, '?'));
    path = slice_head(path, path.n - query.n);
    if (feed_local_path(url) != NULL) {
        buf_add(&b, path);
    } else {
        add_path(&b, path);
        if (query.n > 1) {
            add_query(&b, slice_from(query, 1));
        }
    }
    (void)snprintf(dst, FEED_SHOWN_MAX, "%s", b.p != NULL ? b.p : "");
    buf_fini(&b);
    return dst;
}

static void put_member(json_t *to, const char *name, uint64_t v)
{
    (void)json_object_set_new(to, name, json_integer((json_int_t)v));
}

void feed_state_json(json_t *to, const struct update_state *s)
{
    (void)json_object_set_new(to, "format", json_string(feed_format_name(s->format)));
    put_member(to, "entries", s->entries);
    put_member(to, "good_s", s->good_s);
    put_member(to, "changed_s", s->changed_s);
    put_member(to, "version", s->version);
    put_member(to, "versions", s->versions);
    put_member(to, "added_total", s->added_total);
    (void)json_object_set_new(to, "pinned", json_boolean(s->is_pinned));
}

void feed_report_json(json_t *to, const struct update_report *r)
{
    (void)json_object_set_new(to, "format",
                              json_string(feed_format_name(r->counts.format)));
    put_member(to, "entries", r->entries);
    put_member(to, "added", r->entered);
    put_member(to, "removed", r->left);
    put_member(to, "excluded", r->left_out);
    put_member(to, "lines_read", r->counts.lines);
    put_member(to, "bad_lines", r->counts.bad);
    (void)json_object_set_new(to, "reason", json_string(r->refusal.reason));
    (void)json_object_set_new(to, "text", json_string(r->refusal.text));
}

json_t *feed_line_json(const struct update_line *line)
{
    static const char *const changes[] = {[UPDATE_ENTERED] = "added",
                                          [UPDATE_LEFT] = "removed",
                                          [UPDATE_LEFT_OUT] = "excluded"};
    const struct feature_info *info = feature_info((enum feature_type)line->class_type);
    json_t *text = json_stringn(line->text.n > 0 ? line->text.p : "", line->text.n);

    return json_pack("{s:s, s:s, s:o, s:s?}", "change", changes[line->change], "type",
                     info != NULL ? info->name : "", "text",
                     text != NULL ? text : json_null(), "reason", line->reason);
}
