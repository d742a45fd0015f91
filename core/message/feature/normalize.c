#include "core/message/feature/normalize.h"

enum { SHA256_DIGITS = 64 };

static bool is_blank(char c)
{
    unsigned char u = (unsigned char)c;
    return u <= 0x20 || u == 0x7f;
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c + 32);
    }
    return c;
}

struct slice feature_normal_subject(struct arena *arena, struct slice text)
{
    char *dst = arena_bytes(arena, text.n);
    if (dst == NULL) {
        return SLICE_NONE;
    }
    size_t n = 0;
    bool gap = false;
    for (size_t i = 0; i < text.n; i++) {
        if (is_blank(text.p[i])) {
            gap = n > 0;
            continue;
        }
        if (gap) {
            dst[n++] = ' ';
            gap = false;
        }
        dst[n++] = text.p[i];
    }
    return slice_of(dst, n);
}

/* ASCII letters in lower case; {NULL, 0} for nothing or when the arena is full. */
static struct slice lowered(struct arena *arena, struct slice s)
{
    char *dst = s.n > 0 ? arena_bytes(arena, s.n) : NULL;
    if (dst == NULL) {
        return SLICE_NONE;
    }
    for (size_t i = 0; i < s.n; i++) {
        dst[i] = lower(s.p[i]);
    }
    return slice_of(dst, s.n);
}

struct slice feature_normal_media_type(struct arena *arena, struct slice text)
{
    struct slice type = slice_trim(slice_head(text, slice_find(text, ';')));
    return slice_find(type, '/') < type.n ? lowered(arena, type) : SLICE_NONE;
}

struct slice feature_normal_file_name(struct arena *arena, struct slice text)
{
    size_t from = text.n;
    while (from > 0 && text.p[from - 1] != '/' && text.p[from - 1] != '\\') {
        from--;
    }
    return lowered(arena, feature_normal_subject(arena, slice_from(text, from)));
}

struct slice feature_normal_list_id(struct arena *arena, struct slice text)
{
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != '>') {
        end--;
    }
    size_t from = end;
    while (from > 0 && text.p[from - 1] != '<') {
        from--;
    }
    if (from > 0) {
        text = slice_of(text.p + from, end - 1 - from);
    }
    char *dst = arena_bytes(arena, text.n);
    size_t n = 0;
    for (size_t i = 0; dst != NULL && i < text.n; i++) {
        if (!is_blank(text.p[i])) {
            dst[n++] = lower(text.p[i]);
        }
    }
    return n > 0 ? slice_of(dst, n) : SLICE_NONE;
}

struct slice feature_normal_sha256(struct arena *arena, struct slice text)
{
    if (text.n != SHA256_DIGITS) {
        return SLICE_NONE;
    }
    char *dst = arena_bytes(arena, text.n);
    if (dst == NULL) {
        return SLICE_NONE;
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = lower(text.p[i]);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return SLICE_NONE;
        }
        dst[i] = c;
    }
    return slice_of(dst, text.n);
}
