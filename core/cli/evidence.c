/* evidence - features, limits and such of a message, as JSON and for people. */
#include "core/cli/evidence.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/cli/text.h"

const char *evidence_type_name(uint16_t type)
{
    const struct feature_info *info = feature_info((enum feature_type)type);
    return info == NULL ? "unknown" : info->name;
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

json_t *evidence_features(const struct featureset *features, bool with_places)
{
    json_t *array = json_array();
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        json_t *object = json_pack("{s:s, s:o}", "type", evidence_type_name(f->type),
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

json_t *evidence_limits(unsigned limits)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < LIMIT_FLAG_COUNT; i++) {
        if ((limits & (1u << i)) != 0) {
            (void)json_array_append_new(array, json_string(limit_name(i)));
        }
    }
    return array;
}

static void print_place(const struct feature *f)
{
    if (f->place == NULL) {
        return;
    }
    (void)fputs("  (", stdout);
    text_print(stdout, f->place->part, EVIDENCE_SHOWN);
    if (f->place->part.n > 0 && f->place->header.n > 0) {
        (void)putchar(' ');
    }
    text_print(stdout, f->place->header, EVIDENCE_SHOWN);
    printf(" at %" PRIu32 ")", f->offset);
}

void evidence_print_features(const struct featureset *features, bool with_places)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        printf("  %s ", evidence_type_name(f->type));
        text_print(stdout, f->text, EVIDENCE_SHOWN);
        if (with_places) {
            print_place(f);
        }
        (void)putchar('\n');
    }
}

void evidence_print_limits(unsigned limits)
{
    for (unsigned i = 0; i < LIMIT_FLAG_COUNT; i++) {
        if ((limits & (1u << i)) != 0) {
            printf("  limit %s\n", limit_name(i));
        }
    }
}
