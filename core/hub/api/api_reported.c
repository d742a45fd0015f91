#include "core/hub/api/api_reported.h"

#include "core/base/log.h"
#include "core/count/count_protocol.h"
#include "core/count/judged.h"
#include "core/hub/api/api_counts.h"
#include "core/message/feature/feature_value.h"

_Static_assert((int)JUDGED_KEYS_MAX <= (int)COUNT_WIRE_ITEMS, "a bunch is one request");

static void end(struct api_counts *c)
{
    if (!c->is_answering) {
        log_warn(
            "event=report result=uncounted: gillnetd did not take the numbers of a "
            "report; see that it runs");
    }
    api_counts_end(c);
}

void api_reported_values(const struct config *config, const struct slice *values,
                         size_t n, bool is_spam, struct arena *arena)
{
    struct api_counts c;
    const struct count_port port = api_counts_port(&c);

    api_counts_begin(&c, config);
    for (size_t i = 0; c.is_answering && i < n; i++) {
        struct value_features features;
        if (value_features_of(values[i], arena, &features, NULL) != ERR_OK) {
            continue;
        }
        for (size_t k = 0; k < features.n; k++) {
            judged_report_value(&port, &c.keys, config, (uint16_t)features.v[k].type,
                                features.v[k].text, is_spam);
        }
    }
    end(&c);
}

void api_reported_features(const struct config *config, const json_t *rows,
                           bool is_spam, struct arena *arena)
{
    struct api_counts c;
    const struct count_port port = api_counts_port(&c);
    struct featureset *set = featureset_new(arena, COUNT_FEATURES_MAX);

    api_counts_begin(&c, config);
    for (size_t i = 0; set != NULL && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *value = json_object_get(row, "value");
        const struct feature_info *info = feature_info_by_name(
            slice_str(json_string_value(json_object_get(row, "type"))));
        if (info != NULL && json_is_string(value)) {
            (void)featureset_add(
                set, info->type,
                slice_of(json_string_value(value), json_string_length(value)));
        }
    }
    if (c.is_answering && set != NULL) {
        (void)judged_report(&port, &c.keys, config, set, is_spam);
    }
    end(&c);
}
