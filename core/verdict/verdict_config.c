/* verdict_config - numbers of the configuration: for extraction, for the answer, for counts of
 * judgements. */
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
        .reader_us = l->reader_us,
        .with_ocr = config->reader.ocr,
    };
}

void verdict_model_options(const struct config *config, struct model_options *ret)
{
    const struct config_model *c = &config->model;
    *ret = (struct model_options){.false_positives = c->false_positives,
                                  .cap = {[VECTOR_PERSON] = c->cap,
                                          [VECTOR_LIST] = c->cap,
                                          [VECTOR_LANGUAGE] = c->cap_language,
                                          [VECTOR_NOTICE] = c->cap_notice},
                                  .url_false_positives = c->url_false_positives};
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

void verdict_scale_of(const struct config *config, struct verdict_scale *ret)
{
    memcpy(ret->threshold, config->threshold, sizeof(ret->threshold));
    ret->bulk_alone = config->bulk_alone;
}

static enum action milder(enum action a, enum action b)
{
    return a < b ? a : b;
}

enum action verdict_action(const struct verdict_scale *scale, double score, double sure,
                           double firm)
{
    enum action alone = config_action_by(scale->threshold, firm);
    enum action together =
        milder(config_action_by(scale->threshold, sure), scale->bulk_alone);
    enum action all = milder(config_action_by(scale->threshold, score), ACTION_HEADER);

    alone = alone > together ? alone : together;
    return alone > all ? alone : all;
}

double verdict_threshold(const struct config *config, const struct verdict *v)
{
    return v != NULL && v->required > 0
               ? v->required
               : verdict_required(config, v != NULL ? v->action : ACTION_ACCEPT);
}

/* A message of which something was not looked at is not called good. */
static bool is_whole(const struct verdict *v)
{
    const unsigned cut = LIMIT_FLAG(deadline) | LIMIT_FLAG(memory);
    return (v->limits & cut) == 0 && v->fault < LIST_FAULT_LIST_UNREADABLE;
}

unsigned verdict_judgements(const struct config *config, const struct verdict *v,
                            const struct verdict_context *context)
{
    double mark = verdict_required(config, ACTION_ACCEPT);
    unsigned kinds = 0;

    if (v->allow != NULL || context->is_outgoing || !isfinite(mark)) {
        return 0;
    }
    if (v->action > ACTION_ACCEPT && v->firm >= mark) {
        kinds |= 1U << JUDGED_BAD;
    } else if (v->action == ACTION_ACCEPT && v->firm < mark / 2 && is_whole(v)) {
        kinds |= 1U << JUDGED_GOOD;
    }
    if (identity_has(context->identity, IDENTITY_first_contact)) {
        kinds |= 1U << FIRST_CONTACTS;
    }
    return kinds;
}
