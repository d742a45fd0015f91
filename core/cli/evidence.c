/* evidence - features, limits and such of a message, as JSON and for people. */
#include "core/cli/evidence.h"

#include <stdio.h>

#include "core/cli/text.h"

const char *evidence_type_name(uint16_t type)
{
    const struct feature_info *info = feature_info((enum feature_type)type);
    return info == NULL ? "unknown" : info->name;
}

json_t *evidence_features(const struct featureset *features)
{
    json_t *array = json_array();
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        (void)json_array_append_new(array, json_pack("{s:s, s:o}", "type",
                                                     evidence_type_name(f->type),
                                                     "value", json_text(f->text)));
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

void evidence_print_features(const struct featureset *features)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        printf("  %s ", evidence_type_name(f->type));
        text_print(stdout, f->text, EVIDENCE_SHOWN);
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
