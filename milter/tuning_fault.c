#include "milter/tuning_fault.h"

#include "core/base/log.h"
#include "core/config/tuning.h"
#include "core/telemetry/stats.h"

void tuning_fault_show(const struct config *config)
{
    const struct tuning *t = config->tuning;

    if (config->tuning_fault != NULL) {
        log_error("event=tuning result=ignored: gillnetd runs without the settings of "
                  "`gillnet tune`: %s",
                  config->tuning_fault);
    }
    for (size_t i = 0; t != NULL && i < t->n; i++) {
        if (t->v[i].is_gone) {
            log_warn("event=tuning setting=\"%s\": the configuration has no such rule, "
                     "so this has no effect",
                     t->v[i].text);
        }
    }
    stats_fault("tuning", config->tuning_fault);
}
