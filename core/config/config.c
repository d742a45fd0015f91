#include "core/config/config.h"

#include <arpa/inet.h>
#include <assert.h>

#include "core/config/config_internal.h"
#include "core/config/config_value.h"
#include "core/config/precheck.h"
#include "core/config/tuning.h"
#include "core/config/unit.h"

/* Scores are sums of decimal fractions: 0.1 + 0.2 must reach 0.3. */
static const double score_slack = 1e-9;

bool config_allows_address(const struct config *c, struct slice address)
{
    char text[INET6_ADDRSTRLEN];
    const char *why = NULL;
    struct ipnet net;
    bool is_allowed = false;

    if (address.n >= sizeof(text)) {
        return false;
    }
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(address));
    if (strchr(text, '/') != NULL || !unit_network(text, &net, &why)) {
        return false;
    }
    for (size_t i = 0; i < c->nallow_networks; i++) {
        is_allowed = is_allowed || ipnet_contains(&c->allow_networks[i], net.addr);
    }
    return is_allowed;
}

enum action config_action_by(const double threshold[ACTION_COUNT], double score)
{
    enum action action = ACTION_ACCEPT;

    for (unsigned a = ACTION_ACCEPT + 1; a < ACTION_COUNT; a++) {
        if (score + score_slack >= threshold[a]) {
            action = (enum action)a;
        }
    }
    return action;
}

enum action config_action(const struct config *c, double score)
{
    return config_action_by(c->threshold, score);
}

double config_peer_weight(const struct config *c, struct slice name)
{
    for (size_t i = 0; i < c->peers.weights.n; i++) {
        struct slice rest = slice_str(c->peers.weights.v[i]);

        if (slice_eq(slice_cut(&rest, '='), name)) {
            return strtod(rest.p, NULL);
        }
    }
    return 1.0;
}

struct config *config_new(void)
{
    struct config *c = calloc(1, sizeof(*c));
    struct config_origin *o = calloc(1, sizeof(*o));

    if (c == NULL || o == NULL) {
        free(c);
        free(o);
        return NULL;
    }
    atomic_init(&o->refs, 1);
    o->self = c;
    c->origin = o;
    return c;
}

static void free_config(struct config *c)
{
    struct config_origin *o = c->origin;

    if (c->ruleset != NULL) {
        c->ruleset_free(&c->ruleset);
    }
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        value_free(&schema_keys[i], c);
    }
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        family_free(c, i);
    }
    tuning_free(&c->tuning);
    free(c->tuning_fault);
    free(c->file);
    for (size_t i = 0; i < o->nfiles; i++) {
        free(o->files[i]);
    }
    free(o->files);
    free(o);
    free(c);
}

struct config *config_acquire(const struct config *c)
{
    atomic_fetch_add_explicit(&c->origin->refs, 1, memory_order_relaxed);
    return c->origin->self;
}

void config_release(struct config **c)
{
    struct config *was = *c;

    *c = NULL;
    if (was != NULL &&
        atomic_fetch_sub_explicit(&was->origin->refs, 1, memory_order_acq_rel) == 1) {
        free_config(was);
    }
}

const char *config_file_name(const struct config *c, unsigned file)
{
    return c->origin != NULL && file < c->origin->nfiles ? c->origin->files[file] : "";
}

static void member_place(const struct config *c, size_t family, size_t i,
                         unsigned *retfile, unsigned *retline)
{
    struct config_source none = {0, 0};
    struct config_source at =
        c->origin != NULL ? c->origin->group[family][i].named : none;

    *retfile = at.file;
    *retline = at.line;
}

void config_rule_place(const struct config *c, size_t rule, unsigned *retfile,
                       unsigned *retline)
{
    member_place(c, SCHEMA_RULES, rule, retfile, retline);
}

void config_set_place(const struct config *c, size_t set, unsigned *retfile,
                      unsigned *retline)
{
    member_place(c, SCHEMA_VALUE_SETS, set, retfile, retline);
}

void config_refuse(const struct config *c, struct config_errors *errors, unsigned file,
                   unsigned line, const char *format, ...)
{
    char text[ERRINFO_TEXT_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    config_errors_add(errors, ERR_SYNTAX, config_file_name(c, file), line, "%s", text);
}

const struct config_list *config_list_find(const struct config *c, struct slice name)
{
    for (size_t i = 0; i < c->nlists; i++) {
        if (slice_eq(slice_str(c->lists[i].name), name)) {
            return &c->lists[i];
        }
    }
    return &c->list_default;
}

bool config_list_is_named(const struct config *c, struct slice name)
{
    return config_list_find(c, name) != &c->list_default;
}

/* A value out of range in a line of which it was said that libconfig cuts its number. */
static bool is_said(const struct config_errors *e, enum err code, const char *source,
                    unsigned line)
{
    for (size_t i = 0; code == ERR_RANGE && i < e->n; i++) {
        if (e->v[i].line == line && strcmp(e->v[i].text, SCAN_TOO_LARGE) == 0 &&
            strcmp(e->v[i].source, source) == 0) {
            return true;
        }
    }
    return false;
}

void config_errors_add(struct config_errors *e, enum err code, const char *source,
                       unsigned line, const char *format, ...)
{
    struct errinfo *v = NULL;
    char text[ERRINFO_TEXT_MAX];
    va_list args;

    if (e->n > CONFIG_ERRORS_MAX || is_said(e, code, source, line)) {
        return;
    }
    v = reallocarray(e->v, e->n + 1, sizeof(*v));
    if (v == NULL) {
        return; /* config_load says ERR_NOMEM when nothing at all could be kept */
    }
    e->v = v;
    if (e->n == CONFIG_ERRORS_MAX) {
        errinfo_set(&v[e->n++], code, source, 0, "%s",
                    "further errors are not shown; mend these first");
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    errinfo_set(&v[e->n++], code, source, line, "%s", text);
}

void config_errors_free(struct config_errors *e)
{
    free(e->v);
    e->v = NULL;
    e->n = 0;
}
