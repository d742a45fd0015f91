/*
 * apply - the settings of one parsed file, put into the configuration that is being built.
 *
 * Every key is checked against the schema and every value against its row; whatever is wrong is
 * added to errors and the rest goes on.
 * Threads: one, while the configuration is built.
 */
#ifndef CORE_CONFIG_APPLY_H
#define CORE_CONFIG_APPLY_H

#include <libconfig.h>

#include "core/config/config.h"

/* A configuration that is being loaded. */
struct load {
    struct config *c;
    struct config_errors *errors;
    const char *file;    /* being read */
    unsigned file_index; /* of it in origin->files */
};

void apply_settings(struct load *l, const config_setting_t *root);

#endif
