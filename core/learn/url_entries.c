#include "core/learn/url_entries.h"

struct entry {
    char *url; /* NULL: free */
    uint64_t until_s;
};

struct url_entries {
    size_t n;
    struct entry entry[URL_ENTRIES_MAX];
};

struct url_entries *url_entries_new(void)
{
    return calloc(1, sizeof(struct url_entries));
}

static void remove_at(struct url_entries *e, size_t i)
{
    free(e->entry[i].url);
    e->entry[i] = e->entry[--e->n];
}

void url_entries_free(struct url_entries **e)
{
    while (*e != NULL && (*e)->n > 0) {
        remove_at(*e, (*e)->n - 1);
    }
    free(*e);
    *e = NULL;
}

static bool is_printable(struct slice url)
{
    for (size_t i = 0; i < url.n; i++) {
        if (url.p[i] <= ' ' || url.p[i] > '~' || url.p[i] == '#') {
            return false;
        }
    }
    return url.n > 0 && url.n <= URL_ENTRY_BYTES;
}

static bool has_entry(const struct url_entries *e, struct slice url)
{
    for (size_t i = 0; i < e->n; i++) {
        if (slice_eq(slice_str(e->entry[i].url), url)) {
            return true;
        }
    }
    return false;
}

static void drop_if_full(struct url_entries *e)
{
    size_t first = 0;

    for (size_t i = 1; i < e->n; i++) {
        first = e->entry[i].until_s < e->entry[first].until_s ? i : first;
    }
    if (e->n == URL_ENTRIES_MAX) {
        remove_at(e, first);
    }
}

bool url_entries_add(struct url_entries *e, struct slice url, uint64_t until_s)
{
    char *copy = is_printable(url) && !has_entry(e, url) ? strndup(url.p, url.n) : NULL;

    if (copy == NULL) {
        return false;
    }
    drop_if_full(e);
    e->entry[e->n++] = (struct entry){copy, until_s};
    return true;
}

bool url_entries_expire(struct url_entries *e, uint64_t now_s)
{
    size_t before = e->n;

    for (size_t i = e->n; i-- > 0;) {
        if (e->entry[i].until_s <= now_s) {
            remove_at(e, i);
        }
    }
    return e->n < before;
}

size_t url_entries_count(const struct url_entries *e)
{
    return e->n;
}

void url_entries_print(const struct url_entries *e, struct buf *ret)
{
    buf_add_str(ret,
                "# URLs that the model finds malicious; gillnetd writes this file\n");
    for (size_t i = 0; i < e->n; i++) {
        buf_printf(ret, "url:%s # until %" PRIu64 "\n", e->entry[i].url,
                   e->entry[i].until_s);
    }
}

static void read_entry_line(struct url_entries *e, struct slice line)
{
    struct slice prefix = SLICE_LIT("url:");
    struct slice until = SLICE_LIT("# until ");
    struct slice url = slice_cut(&line, ' ');
    uint64_t until_s = 0;

    if (slice_has_prefix(url, prefix) && slice_has_prefix(line, until) &&
        slice_to_u64(slice_from(line, until.n), 10, UINT64_MAX, &until_s)) {
        (void)url_entries_add(e, slice_from(url, prefix.n), until_s);
    }
}

void url_entries_read(struct url_entries *e, struct slice file)
{
    while (file.n > 0) {
        read_entry_line(e, slice_cut(&file, '\n'));
    }
}
