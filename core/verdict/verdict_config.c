/* verdict_config - numbers of the configuration, for extraction and for the answer. */
#include <math.h>

#include "core/verdict/rule/rule.h"
#include "core/verdict/verdict.h"

void verdict_extract_limits(const struct config *config, struct extract_limits *ret)
{
    const struct config_limits *l = &config->limits;
    *ret = (struct extract_limits){
        .mail =
            {
                .message_bytes = l->message_bytes,
                .decoded_bytes = l->decoded_bytes,
                .headers = l->headers,
                .header_bytes = l->header_bytes,
                .header_field = l->header_field,
                .parts = l->parts,
                .depth = l->mime_depth,
            },
        .urls = l->urls,
        .recipients = l->recipients,
        .features = l->features,
        .addresses = l->addresses,
        .attachment_bytes = l->attachment_bytes,
        .archive_entries = l->archive_entries,
        .archive_bytes = l->archive_bytes,
        .archive_ratio = l->archive_ratio,
        .archive_depth = l->archive_depth,
        .cpu_us = l->cpu_us,
    };
}

struct rule_text *verdict_read_text(const struct config *config, struct arena *arena,
                                    struct extract_limits *limits)
{
    return rule_text_new(config->ruleset, arena, limits);
}

double verdict_required(const struct config *config, enum action action)
{
    double required = config->threshold[action];
    for (unsigned a = ACTION_ACCEPT + 1; action == ACTION_ACCEPT && a < ACTION_COUNT;
         a++) {
        required = a == ACTION_ACCEPT + 1 ? config->threshold[a]
                                          : fmin(required, config->threshold[a]);
    }
    return required;
}
