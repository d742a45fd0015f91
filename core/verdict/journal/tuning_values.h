/*
 * tuning_values - the settings that a replay and a tuning can change, as JSON, and the reload that
 * puts a tuning in force: for `gillnet tune` and the API.
 *
 * Threads: any; a reload waits for the programs.   Allocates: the values.   ADR 0088.
 */
#ifndef CORE_VERDICT_JOURNAL_TUNING_VALUES_H
#define CORE_VERDICT_JOURNAL_TUNING_VALUES_H

#include <jansson.h>

#include "core/config/tuning_file.h"

/* {version, former, at, who, why, fault, settings [{key, value, configured, gone}], lines}: the
 * tuning of a configuration. lines are for gillnet.conf. NULL: no memory. */
json_t *tuning_json(const struct config *c);

/* {thresholds [{action, value}], lists [{name, weight, shadow, enabled, symbol}], rules [{name,
 * score, shadow, enabled, symbol, description}]}: effective values. value is null for off. lists:
 * those of the configuration. */
json_t *tuning_values_json(const struct config *c);
/* One list as above. */
json_t *tuning_list_json(const struct config_list *l, const char *name);

/* context: const struct config *. Has gillnetd load the configuration, then the hub. ret gets their
 * words, each line with a break at its end. */
enum tuning_reload tuning_reload_programs(void *context, struct buf *ret);

#endif
