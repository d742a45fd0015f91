/* finish - inheritance, and keys that must agree. */
#include <arpa/inet.h>
#include <math.h>

#include "core/config/config_internal.h"
#include "core/config/config_value.h"

static void finish_socket(const struct config *c, char **field, const char *name,
                          struct config_errors *errors)
{
    char *path = NULL;

    if (**field != '\0') {
        return;
    }
    if (asprintf(&path, "%s/%s", c->state_dir, name) < 0) {
        config_errors_add(errors, ERR_NOMEM, "", 0, "%s", "out of memory");
        return;
    }
    free(*field);
    *field = path;
}

/* Where the key of a field was set: in n rows of a table, whose sources are those. */
static struct config_source source_of(const struct schema_row *rows, size_t n,
                                      const struct config_source *sources,
                                      size_t offset)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].offset == offset) {
            return sources[i];
        }
    }
    return (struct config_source){0, 0};
}

struct config_source config_key_source(const struct config *c, size_t offset)
{
    return source_of(schema_keys, SCHEMA_KEYS, c->origin->key, offset);
}

struct config_source config_group_source(size_t family,
                                         const struct config_group_origin *origin,
                                         size_t offset)
{
    const struct schema_family *f = &schema_families[family];

    return source_of(f->rows, f->nrows, origin->key, offset);
}

static void check_thresholds(const struct config *c, struct config_errors *errors)
{
    enum action milder = ACTION_ACCEPT;

    for (enum action a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        struct config_source source =
            config_key_source(c, offsetof(struct config, threshold) +
                                     (size_t)a * sizeof(c->threshold[0]));

        /* the administrator did not choose a default */
        if (source.file == 0 || c->threshold[a] == HUGE_VAL) {
            continue;
        }
        if (milder != ACTION_ACCEPT && c->threshold[a] < c->threshold[milder]) {
            config_errors_add(
                errors, ERR_RANGE, c->origin->files[source.file], source.line,
                "thresholds.%s: %g is below thresholds.%s (%g), which would "
                "never apply; let the scores rise with the harshness, or "
                "set that one to \"off\"",
                action_name(a), c->threshold[a], action_name(milder),
                c->threshold[milder]);
        }
        milder = a;
    }
}

/* Embargo lies below the actions that refuse a message. */
static void check_embargo(const struct config *c, struct config_errors *errors)
{
    struct config_source source =
        config_key_source(c, offsetof(struct config, embargo.threshold));

    for (enum action a = ACTION_DEFER; source.file != 0 && a < ACTION_COUNT; a++) {
        if (c->embargo.threshold != HUGE_VAL &&
            c->threshold[a] <= c->embargo.threshold) {
            config_errors_add(errors, ERR_RANGE, c->origin->files[source.file],
                              source.line,
                              "thresholds.embargo: %g is not below thresholds.%s (%g), "
                              "so nothing would be embargoed; lower it, or set it to "
                              "\"off\"",
                              c->embargo.threshold, action_name(a), c->threshold[a]);
            return;
        }
    }
}

/* The source of the types of a list, or of list_default. */
static struct config_source types_source(const struct config_group_origin *o)
{
    return config_group_source(SCHEMA_LISTS, o, offsetof(struct config_list, types));
}

bool config_strings_has(const struct config_strings *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void refuse_type(const struct config *c, struct config_source source,
                        const char *list, const char *type,
                        struct config_errors *errors)
{
    config_errors_add(errors, ERR_NOT_FOUND, c->origin->files[source.file], source.line,
                      "%s.types: \"%s\" is not a feature type that is looked up in "
                      "lists; `gillnet extract --types` shows them",
                      list, type);
}

/* Checks each name once: a list inherits the names of list_default. */
static void check_types(const struct config *c, config_is_type_fn *is_type,
                        struct config_errors *errors)
{
    const struct config_strings *common = &c->list_default.types;

    for (size_t i = 0; i < common->n; i++) {
        if (!is_type(slice_str(common->v[i]))) {
            refuse_type(c, types_source(&c->origin->list_default), "list_defaults",
                        common->v[i], errors);
        }
    }
    for (size_t n = 0; n < c->nlists; n++) {
        const struct config_strings *own = &c->lists[n].types;

        for (size_t i = 0; i < own->n; i++) {
            if (!is_type(slice_str(own->v[i])) &&
                !config_strings_has(common, own->v[i])) {
                refuse_type(c, types_source(&c->origin->group[SCHEMA_LISTS][n]),
                            c->lists[n].name, own->v[i], errors);
            }
        }
    }
}

/* What the store lacks; NULL: nothing. */
static const char *store_fault(const struct config_store *s)
{
    size_t length = strlen(s->prefix);

    if (length == 0 || length > STORE_PREFIX_MAX ||
        strspn(s->prefix, "abcdefghijklmnopqrstuvwxyz0123456789_:.-") != length) {
        return "prefix: write 1 to 32 characters of a-z, 0-9, _, :, . and -";
    }
    if (s->servers.n == 0) {
        return "servers: name at least one, such as [ \"redis1:6379\" ]";
    }
    if (s->servers.n > STORE_SERVERS_MAX) {
        return "servers: name 32 at most; the others are found through them";
    }
    if (s->mode == STORE_SINGLE && s->servers.n > 1) {
        return "servers: mode \"single\" has one server";
    }
    if ((*s->user != '\0' && *s->password_file == '\0') ||
        (*s->sentinel_user != '\0' && *s->sentinel_password_file == '\0')) {
        return "user: a user needs a password, in password_file "
               "(sentinel_password_file)";
    }
    if (s->mode == STORE_SENTINEL && *s->master == '\0') {
        return "master: write the name that the Sentinels watch, such as \"mymaster\"";
    }
    if ((*s->tls_cert == '\0') != (*s->tls_key == '\0')) {
        return "tls_cert and tls_key belong together: set both or none";
    }
    if (!s->tls &&
        (*s->tls_ca != '\0' || *s->tls_name != '\0' || *s->tls_cert != '\0')) {
        return "tls: set it to true, or remove tls_ca, tls_name, tls_cert and tls_key";
    }
    return NULL;
}

static void check_store(const struct config *c, struct config_errors *errors)
{
    struct config_source at = config_key_source(c, offsetof(struct config, store.kind));
    const char *why = c->store.kind == STORE_OFF ? NULL : store_fault(&c->store);

    if (why != NULL) {
        config_errors_add(errors, ERR_RANGE, c->origin->files[at.file], at.line,
                          "store.%s", why);
    }
}

/* What is wrong with the login of a proxy; NULL: nothing. In a user namespace every foreign login
 * seems to be nobody. */
static const char *login_fault(struct slice login)
{
    if (slice_eq(login, SLICE_LIT("nobody")) || slice_eq(login, SLICE_LIT("65534"))) {
        return "this may be any login; give the proxy a login of its own";
    }
    return login.n > 0 ? NULL : "write the login behind unix:";
}

/* What is wrong with an entry of api.proxies; NULL: nothing. */
static const char *proxy_fault(struct slice entry)
{
    struct in6_addr address;
    const struct slice scheme = SLICE_LIT("unix:");

    if (slice_has_prefix(entry, scheme)) {
        return login_fault(slice_from(entry, scheme.n));
    }
    return inet_pton(AF_INET, entry.p, &address) == 1 ||
                   inet_pton(AF_INET6, entry.p, &address) == 1
               ? NULL
               : "write an address or unix:LOGIN";
}

static const char *proxy_user_fault(struct slice entry)
{
    enum api_role role = API_NONE;
    const struct slice name = slice_cut(&entry, '=');

    return name.n > 0 && name.n <= API_USER_NAME_MAX && entry.p != NULL &&
                   api_role_by_name(entry, &role)
               ? NULL
               : "write NAME=ROLE, with at most 64 bytes of name";
}

static void check_texts(const struct config *c, const struct config_strings *texts,
                        size_t offset, const char *(*fault)(struct slice entry),
                        struct config_errors *errors)
{
    const struct config_source source = config_key_source(c, offset);

    for (size_t i = 0; i < texts->n; i++) {
        const char *why = fault(slice_str(texts->v[i]));

        if (why != NULL) {
            config_errors_add(errors, ERR_SYNTAX, c->origin->files[source.file],
                              source.line, "\"%.100s\": %s", texts->v[i], why);
        }
    }
}

static void check_proxies(const struct config *c, struct config_errors *errors)
{
    check_texts(c, &c->api.proxies, offsetof(struct config, api.proxies), proxy_fault,
                errors);
    check_texts(c, &c->api.proxy_users, offsetof(struct config, api.proxy_users),
                proxy_user_fault, errors);
}

/* Filters of a layout without lines cannot be asked for line by line. */
static const char *remote_fault(const struct config *c, const struct config_list *l)
{
    if (l->filter_memory != FILTER_STORE) {
        return NULL;
    }
    if (c->store.kind == STORE_OFF) {
        return "filter_memory: \"store\" needs a store; set store.kind, or write "
               "\"copy\" or \"map\"";
    }
    return l->filter_layout == FILTER_ONE_LINE || l->filter_layout == FILTER_TWO_LINES
               ? NULL
               : "filter_layout: filter_memory = \"store\" needs \"one-line\" or "
                 "\"two-lines\"";
}

static void check_remote(const struct config *c, const struct config_list *l,
                         const struct config_group_origin *set,
                         struct config_errors *errors)
{
    size_t offset = offsetof(struct config_list, filter_memory);
    struct config_source at = config_group_source(SCHEMA_LISTS, set, offset);
    const char *why = remote_fault(c, l);

    if (why != NULL) {
        config_errors_add(errors, ERR_RANGE, c->origin->files[at.file], at.line,
                          "%s%s.%s", l->name != NULL ? "lists." : "list_defaults",
                          l->name != NULL ? l->name : "", why);
    }
}

static void check_all_remote(const struct config *c, struct config_errors *errors)
{
    check_remote(c, &c->list_default, &c->origin->list_default, errors);
    for (size_t i = 0; i < c->nlists; i++) {
        check_remote(c, &c->lists[i], &c->origin->group[SCHEMA_LISTS][i], errors);
    }
}

void config_finish(struct config *c, const struct config_types *types,
                   struct config_errors *errors)
{
    struct config_list *d = &c->list_default;

    if (errors->n > 0 && (c->state_dir == NULL || d->category == NULL)) {
        return; /* without memory not even the defaults are there */
    }
    d->is_allow = strcmp(d->category, "allow") == 0;
    d->is_learnt = strcmp(d->category, "ml") == 0;
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        if (!family_inherit(c, i)) {
            config_errors_add(errors, ERR_NOMEM, "", 0, "out of memory");
        }
    }
    for (size_t i = 0; i < c->nlists; i++) {
        c->lists[i].is_allow = strcmp(c->lists[i].category, "allow") == 0;
        c->lists[i].is_learnt = strcmp(c->lists[i].category, "ml") == 0;
    }
    finish_socket(c, &c->control_socket, "gillnetd.ctl", errors);
    finish_socket(c, &c->hub.control_socket, "peers/hub.ctl", errors);
    check_thresholds(c, errors);
    check_embargo(c, errors);
    check_proxies(c, errors);
    if (errors->n == 0) {
        check_store(c, errors);
        check_all_remote(c, errors);
    }
    if (errors->n == 0 || c->rule_default.type != NULL) {
        config_finish_rules(c, types, errors);
    }
    if (types != NULL) {
        check_types(c, types->is_sought, errors);
    }
    config_finish_subscriptions(c, errors);
    config_finish_feeds(c, types, errors);
    config_finish_users(c, errors);
}
