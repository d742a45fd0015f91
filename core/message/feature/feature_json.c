/* feature_json - features, limits and any bytes as JSON. */
#include "core/message/feature/feature_json.h"

#include "core/base/buf.h"
#include "core/base/utf8.h"

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
        const unsigned char *p = (const unsigned char *)bytes.p + i;
        size_t n = *p == '\0' ? 0 : utf8_length(p, bytes.n - i);

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
        return json_object_update_new(object,
                                      json_pack("{s:n, s:n, s:n, s:n}", "part",
                                                "header", "within", "offset")) == 0;
    }
    return json_object_update_new(object, json_pack("{s:o, s:o, s:o, s:I}", "part",
                                                    maybe(place->part), "header",
                                                    maybe(place->header), "within",
                                                    maybe(place->within), "offset",
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
