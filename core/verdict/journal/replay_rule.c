/* replay_rule - a bulk rule over the counts of a record. */
#include "core/verdict/journal/journal_replay.h"

_Static_assert((int)RULE_WINDOWS == (int)RECORD_WINDOWS &&
                   (int)RULE_DISTINCTS == (int)RECORD_DISTINCTS,
               "rules and records have the same windows");

/* The row of the type; NULL: the message has no feature of it. */
static const struct record_type *type_of(const struct record *record, uint16_t type)
{
    for (size_t i = 0; i < record->ntypes; i++) {
        if (record->type[i].type == type) {
            return &record->type[i];
        }
    }
    return NULL;
}

static bool wants_distinct(const struct config_rule *rule)
{
    for (unsigned kind = 0; kind < RULE_DISTINCTS; kind++) {
        if (rule->distinct[kind] > 0) {
            return true;
        }
    }
    return false;
}

static enum replay_met met_by(const struct record_count *c,
                              const struct config_rule *rule)
{
    if (c->w[rule->window] < rule->count) {
        return REPLAY_NOT_MET;
    }
    if (wants_distinct(rule) && !c->has_distinct) {
        return REPLAY_UNKNOWN; /* the type was not in count.distinct_types */
    }
    for (unsigned kind = 0; kind < RULE_DISTINCTS; kind++) {
        if (c->distinct[kind] < rule->distinct[kind]) {
            return REPLAY_NOT_MET;
        }
    }
    return REPLAY_MET;
}

enum replay_met replay_counts_met(const struct record *record,
                                  const struct config_rule *rule, uint16_t type)
{
    const struct record_type *row = type_of(record, type);
    bool may_be_other = false; /* a feature that is not in the record may meet it */
    bool is_unknown = false;

    if (record->ntypes == 0) {
        return REPLAY_UNKNOWN; /* nothing was counted, or the counts had no room */
    }
    if (row == NULL) {
        return record->ntypes == RECORD_TYPES ? REPLAY_UNKNOWN : REPLAY_NOT_MET;
    }
    for (size_t i = 0; i < record->ncounts; i++) {
        const struct record_count *c = &record->count[i];
        if (c->type != type) {
            continue;
        }
        enum replay_met met = met_by(c, rule);
        if (met == REPLAY_MET) {
            return REPLAY_MET;
        }
        is_unknown = is_unknown || met == REPLAY_UNKNOWN;
        /* the record has the highest count of each window: others may reach it at most */
        may_be_other = may_be_other || c->w[rule->window] >= rule->count;
    }
    may_be_other = may_be_other && row->features > row->kept;
    return is_unknown || may_be_other || row->kept == 0 ? REPLAY_UNKNOWN
                                                        : REPLAY_NOT_MET;
}
