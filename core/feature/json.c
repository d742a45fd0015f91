/* json - features, limits and any bytes as JSON. */
#include "core/feature/json.h"

#include <string.h>

#include "core/base/buf.h"

/* How many bytes a UTF-8 character has by its first; 0: none begins so. */
static size_t lead_length(unsigned char lead)
{
    if (lead < 0x80) {
        return lead == 0 ? 0 : 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Whether lead and the byte after it are overlong, a surrogate or past U+10FFFF. */
static bool is_barred(unsigned char lead, unsigned char second)
{
    return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
           (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

/* Length of the UTF-8 character at p, 0 when it is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t need = lead_length(*p);

    if (need > n || (need > 1 && is_barred(p[0], p[1]))) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return need;
}

json_t *json_text(struct slice bytes)
{
    json_t *whole = json_stringn(bytes.n > 0 ? bytes.p : "", bytes.n);
    struct buf b;

    if (whole != NULL && (bytes.n == 0 || memchr(bytes.p, '\0', bytes.n) == NULL)) {
        return whole;
    }
    json_decref(whole);
    whole = NULL;
    buf_init(&b, bytes.n * 3 + 1);
    for (size_t i = 0; i < bytes.n;) {
        size_t n = utf8_length((const unsigned char *)bytes.p + i, bytes.n - i);

        buf_add(&b, n > 0 ? slice_of(bytes.p + i, n) : SLICE_LIT("\xef\xbf\xbd"));
        i += n > 0 ? n : 1;
    }
    if (!buf_failed(&b)) {
        whole = json_stringn(b.n > 0 ? b.p : "", b.n);
    }
    buf_fini(&b);
    return whole;
}

/* A text, or null where there is none. */
static json_t *maybe(struct slice text)
{
    return text.n == 0 ? json_null() : json_text(text);
}

static bool add_place(json_t *object, const struct feature *f)
{
    const struct feature_place *place = f->place;
    if (place == NULL) {
        return json_object_update_new(object, json_pack("{s:n, s:n, s:n}", "part",
                                                        "header", "offset")) == 0;
    }
    return json_object_update_new(object, json_pack("{s:o, s:o, s:I}", "part",
                                                    maybe(place->part), "header",
                                                    maybe(place->header), "offset",
                                                    (json_int_t)f->offset)) == 0;
}

json_t *json_features(const struct featureset *features, bool with_places)
{
    json_t *array = json_array();
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        json_t *object = json_pack("{s:s, s:o}", "type", feature_type_name(f->type),
                                   "value", json_text(f->text));
        if (with_places && !add_place(object, f)) {
            json_decref(object);
            json_decref(array);
            return NULL;
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}

json_t *json_limits(unsigned limits)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < LIMIT_FLAG_COUNT; i++) {
        if ((limits & (1u << i)) != 0) {
            (void)json_array_append_new(array, json_string(limit_name(i)));
        }
    }
    return array;
}
