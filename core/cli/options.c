/* options - "--name", "--name VALUE" and "--name=VALUE" of one subcommand. */
#include "core/base/clock.h"
#include "core/cli/cli.h"
#include "core/config/unit.h"

static const struct cli_option *find_option(const struct cli_option *table, size_t n,
                                            const char *arg, size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(table[i].name) == length &&
            memcmp(table[i].name, arg, length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static int refuse_option(const struct cli_command *command, const char *arg,
                         const char *why)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "%.100s: %s", arg, why);
    return cli_usage(command->name, text);
}

/* Puts the value where the option wants it. False: there are too many. */
static bool take_option_value(const struct cli_option *o, const char *value)
{
    if (o->value != NULL) {
        *o->value = value;
    }
    if (o->values == NULL) {
        return true;
    }
    if (o->values->n == CLI_VALUES_MAX) {
        return false;
    }
    o->values->v[o->values->n++] = value;
    return true;
}

int cli_options(const struct cli_command *command, const struct cli_option *table,
                size_t n, int *argc, char **argv)
{
    int kept = 1;
    bool is_over = false;

    for (int i = 1; i < *argc; i++) {
        char *arg = argv[i];
        size_t length = strcspn(arg, "=");
        if (is_over || arg[0] != '-' || arg[1] == '\0') {
            argv[kept++] = arg;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            is_over = true;
            continue;
        }
        const struct cli_option *o = find_option(table, n, arg, length);
        if (o == NULL) {
            return refuse_option(command, arg, "there is no such option");
        }
        if (o->flag != NULL) {
            *o->flag = true;
        }
        const char *value = arg[length] == '=' ? arg + length + 1 : NULL;
        if (o->value == NULL && o->values == NULL) {
            if (value != NULL) {
                return refuse_option(command, arg, "this option takes no value");
            }
            continue;
        }
        if (value == NULL && i + 1 < *argc) {
            value = argv[++i];
        }
        if (value == NULL) {
            return refuse_option(command, arg, "this option needs a value");
        }
        if (!take_option_value(o, value)) {
            return refuse_option(command, arg, "this option may be there 1000 times");
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    return 0;
}

int cli_arguments(struct cli_form form, int *argc, char **argv)
{
    int status = cli_options(cli_command(form.command), form.table, form.n, argc, argv);

    if (status == 0 && (*argc - 1 < form.least || *argc - 1 > form.most)) {
        status = cli_usage(form.command, form.why);
    }
    return status;
}

bool cli_expiry(const char *text, uint32_t *ret)
{
    uint64_t us = 0;
    uint64_t now_s = clock_wall_us() / 1000000;

    if (text == NULL) {
        *ret = 0;
        return true;
    }
    if (!unit_time_us(text, &us) || us < 1000000 || us / 1000000 > UINT32_MAX - now_s) {
        return false;
    }
    *ret = (uint32_t)(now_s + us / 1000000);
    return true;
}
