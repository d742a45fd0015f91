#include "core/config/apply.h"

#include "core/base/nearest.h"
#include "core/config/config_internal.h"
#include "core/config/config_value.h"

enum {
    APPLY_LISTS_MAX = 256,
    APPLY_RULES_MAX = 64,
    APPLY_SUBSCRIPTIONS_MAX = 32,
    APPLY_FEEDS_MAX = 256,
    APPLY_LABEL_MAX = 160
};

static void refuse(struct load *l, enum err code, unsigned line, const char *label,
                   const char *what)
{
    config_errors_add(l->errors, code, l->file, line, "%s: %s", label, what);
}

/* Where and how the key is written: of the same group the key alone. */
static void near_form(const char *group, const char *near, char dst[SCHEMA_FORM_MAX])
{
    size_t length = strlen(group);
    bool is_sibling =
        length > 0 && strncmp(near, group, length) == 0 && near[length] == '.';

    schema_form(is_sibling ? near + length + 1 : near, "...", dst);
}

static void unknown_key(struct load *l, const char *group, const config_setting_t *s)
{
    const char *name = config_setting_name(s);
    const char *near = schema_nearest(group, name);
    char form[SCHEMA_FORM_MAX];

    if (near != NULL) {
        near_form(group, near, form);
        config_errors_add(
            l->errors, ERR_NOT_FOUND, l->file, s->line,
            "\"%.80s\" is not a known key%s%s; did you mean \"%s\"? write "
            "%s%s",
            name, *group != '\0' ? " of " : "", group, near, form,
            *group != '\0' && strchr(near, '.') == NULL
                ? " behind the end of this group"
                : "");
    } else {
        config_errors_add(l->errors, ERR_NOT_FOUND, l->file, s->line,
                          "\"%.80s\" is not a known key%s%s; remove it, or see "
                          "gillnet.conf(5) for the keys",
                          name, *group != '\0' ? " of " : "", group);
    }
}

/* One group of a family: a list, a rule, a subscription or a feed, where it was named, and where each key is from. */
struct peer_filter {
    void *base;
    const char *name; /* NULL: list_defaults */
    struct config_source *named;
    struct config_source *key;
};

/* Groups that have a name: lists, rules, subscriptions and feeds. */
struct family {
    const char *group; /* "lists" */
    const char *one;   /* "list" */
    const char *example;
    const struct schema_row *rows;
    size_t nrows;
    size_t most;
    size_t (*count)(const struct config *c);
    struct peer_filter (*at)(const struct config *c, size_t i);
    bool (*add)(struct config *c, const char *name); /* false without memory */
};

static void apply_member_key(struct load *l, const struct family *f,
                             const struct peer_filter *m, const char *group,
                             const config_setting_t *s)
{
    char label[APPLY_LABEL_MAX];

    for (size_t i = 0; i < f->nrows; i++) {
        if (strcmp(f->rows[i].path, config_setting_name(s)) == 0) {
            struct value_place place = {&f->rows[i], m->base, label, l->file,
                                        l->errors};

            (void)snprintf(label, sizeof(label), "%s%s%s.%s", group,
                           m->name != NULL ? "." : "", m->name != NULL ? m->name : "",
                           f->rows[i].path);
            if (value_set(&place, s)) {
                m->key[i] = (struct config_source){l->file_index, s->line};
            }
            return;
        }
    }
    unknown_key(l, group, s);
}

static struct peer_filter list_at(const struct config *c, size_t i)
{
    return (struct peer_filter){&c->lists[i], c->lists[i].name,
                                &c->origin->lists[i].named, c->origin->lists[i].key};
}

static struct peer_filter rule_at(const struct config *c, size_t i)
{
    return (struct peer_filter){&c->rules[i], c->rules[i].name,
                                &c->origin->rules[i].named, c->origin->rules[i].key};
}

static bool add_list(struct config *c, const char *name)
{
    struct config_list *lists = reallocarray(c->lists, c->nlists + 1, sizeof(*lists));
    struct config_list_origin *origins = NULL;

    if (lists != NULL) {
        c->lists = lists;
    }
    origins = reallocarray(c->origin->lists, c->nlists + 1, sizeof(*origins));
    if (origins != NULL) {
        c->origin->lists = origins;
    }
    if (lists == NULL || origins == NULL) {
        return false;
    }
    memset(&lists[c->nlists], 0, sizeof(*lists));
    memset(&origins[c->nlists], 0, sizeof(*origins));
    lists[c->nlists].name = strdup(name);
    if (lists[c->nlists].name == NULL) {
        return false;
    }
    c->nlists++;
    return true;
}

static bool add_rule(struct config *c, const char *name)
{
    struct config_rule *rules = reallocarray(c->rules, c->nrules + 1, sizeof(*rules));
    struct config_rule_origin *origins = NULL;

    if (rules != NULL) {
        c->rules = rules;
    }
    origins = reallocarray(c->origin->rules, c->nrules + 1, sizeof(*origins));
    if (origins != NULL) {
        c->origin->rules = origins;
    }
    if (rules == NULL || origins == NULL) {
        return false;
    }
    memset(&rules[c->nrules], 0, sizeof(*rules));
    memset(&origins[c->nrules], 0, sizeof(*origins));
    rules[c->nrules].name = strdup(name);
    if (rules[c->nrules].name == NULL) {
        return false;
    }
    c->nrules++;
    return true;
}

static size_t list_count(const struct config *c)
{
    return c->nlists;
}

static size_t rule_count(const struct config *c)
{
    return c->nrules;
}

static size_t subscription_count(const struct config *c)
{
    return c->nsubscriptions;
}

static struct peer_filter subscription_at(const struct config *c, size_t i)
{
    struct config_subscription_origin *o = &c->origin->subscriptions[i];

    return (struct peer_filter){&c->subscriptions[i], c->subscriptions[i].name,
                                &o->named, o->key};
}

static bool add_subscription(struct config *c, const char *name)
{
    struct config_subscription *v =
        reallocarray(c->subscriptions, c->nsubscriptions + 1, sizeof(*v));
    struct config_subscription_origin *origins = NULL;

    if (v != NULL) {
        c->subscriptions = v;
    }
    origins =
        reallocarray(c->origin->subscriptions, c->nsubscriptions + 1, sizeof(*origins));
    if (origins != NULL) {
        c->origin->subscriptions = origins;
    }
    if (v == NULL || origins == NULL) {
        return false;
    }
    memset(&v[c->nsubscriptions], 0, sizeof(*v));
    memset(&origins[c->nsubscriptions], 0, sizeof(*origins));
    v[c->nsubscriptions].name = strdup(name);
    if (v[c->nsubscriptions].name == NULL) {
        return false;
    }
    c->nsubscriptions++;
    return true;
}

static size_t feed_count(const struct config *c)
{
    return c->nfeeds;
}

static struct peer_filter feed_at(const struct config *c, size_t i)
{
    struct config_feed_origin *o = &c->origin->feeds[i];

    return (struct peer_filter){&c->feeds[i], c->feeds[i].name, &o->named, o->key};
}

static bool add_feed(struct config *c, const char *name)
{
    struct config_feed *v = reallocarray(c->feeds, c->nfeeds + 1, sizeof(*v));
    struct config_feed_origin *origins = NULL;

    if (v != NULL) {
        c->feeds = v;
    }
    origins = reallocarray(c->origin->feeds, c->nfeeds + 1, sizeof(*origins));
    if (origins != NULL) {
        c->origin->feeds = origins;
    }
    if (v == NULL || origins == NULL) {
        return false;
    }
    memset(&v[c->nfeeds], 0, sizeof(*v));
    memset(&origins[c->nfeeds], 0, sizeof(*origins));
    v[c->nfeeds].name = strdup(name);
    if (v[c->nfeeds].name == NULL) {
        return false;
    }
    c->nfeeds++;
    return true;
}

static const struct family lists_family = {
    .group = "lists",
    .one = "list",
    .example = "{ name = \"phish\"; weight = 8.0; }",
    .rows = schema_list_keys,
    .nrows = SCHEMA_LIST_KEYS,
    .most = APPLY_LISTS_MAX,
    .count = list_count,
    .at = list_at,
    .add = add_list,
};

static const struct family rules_family = {
    .group = "rules",
    .one = "rule",
    .example = "{ name = \"replica\"; type = \"text_band\"; count = 20; }",
    .rows = schema_rule_keys,
    .nrows = SCHEMA_RULE_KEYS,
    .most = APPLY_RULES_MAX,
    .count = rule_count,
    .at = rule_at,
    .add = add_rule,
};

static const struct family subscriptions_family = {
    .group = "subscribe",
    .one = "subscription",
    .example =
        "{ name = \"lists\"; urls = [ \"https://lists.example\" ]; key = \"...\"; }",
    .rows = schema_subscribe_keys,
    .nrows = SCHEMA_SUBSCRIBE_KEYS,
    .most = APPLY_SUBSCRIPTIONS_MAX,
    .count = subscription_count,
    .at = subscription_at,
    .add = add_subscription,
};

static const struct family feeds_family = {
    .group = "feeds",
    .one = "feed",
    .example = "{ name = \"phish\"; url = \"https://feeds.example/urls.txt\"; }",
    .rows = schema_feed_keys,
    .nrows = SCHEMA_FEED_KEYS,
    .most = APPLY_FEEDS_MAX,
    .count = feed_count,
    .at = feed_at,
    .add = add_feed,
};

/* The member of that name, made when there is none; false after an error. */
static bool member_of(struct load *l, const struct family *f, const config_setting_t *s,
                      const char *name, struct peer_filter *ret)
{
    struct config *c = l->c;
    size_t n = f->count(c);

    for (size_t i = 0; i < n; i++) {
        *ret = f->at(c, i);
        if (strcmp(ret->name, name) == 0) {
            return true;
        }
    }
    if (n == f->most) {
        config_errors_add(l->errors, ERR_LIMIT, l->file, s->line,
                          "%s: more than %zu %s; remove some", f->group, f->most,
                          f->group);
        return false;
    }
    if (!f->add(c, name)) {
        refuse(l, ERR_NOMEM, 0, f->group, "out of memory");
        return false;
    }
    *ret = f->at(c, n);
    return true;
}

static bool name_fits(const char *s)
{
    size_t n = strlen(s);

    return n >= 1 && n <= 32 && *s != '-' && *s != '_' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

/* A key of the group that is nearly "name", or "". */
static const char *misspelt_name(const config_setting_t *group)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const char *key =
            config_setting_name(config_setting_get_elem(group, (unsigned)i));

        if (nearest_edits(slice_str(key), SLICE_LIT("name")) <= 1) {
            return key;
        }
    }
    return "";
}

/* The name that a group gives; NULL after an error. */
static const char *member_name(struct load *l, const struct family *f,
                               const config_setting_t *group)
{
    const config_setting_t *s = config_setting_get_member(group, "name");
    const char *name = NULL;

    if (s == NULL) {
        const char *wrong = misspelt_name(group);

        config_errors_add(
            l->errors, ERR_NOT_FOUND, l->file, group->line,
            "%s: a %s without a name; begin it with name = \"...\";%s%s%s", f->group,
            f->one, *wrong != '\0' ? ", not with " : "", wrong,
            *wrong != '\0' ? " = ...;" : "");
        return NULL;
    }
    if (config_setting_type(s) == CONFIG_TYPE_STRING) {
        name = config_setting_get_string(s);
    }
    if (name == NULL || !name_fits(name)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, s->line,
                          "%s.name: write a text of a-z, 0-9, _ and -, at most 32 "
                          "characters, beginning with a letter or a digit",
                          f->group);
        return NULL;
    }
    return name;
}

static void apply_member(struct load *l, const struct family *f,
                         const config_setting_t *group)
{
    struct peer_filter m = {NULL, NULL, NULL, NULL};
    const char *name = NULL;

    if (!config_setting_is_group(group)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, group->line,
                          "%s: write each %s as a group: %s", f->group, f->one,
                          f->example);
        return;
    }
    name = member_name(l, f, group);
    if (name == NULL || !member_of(l, f, group, name, &m)) {
        return;
    }
    if (m.named->line != 0 && m.named->file == l->file_index) {
        config_errors_add(l->errors, ERR_EXISTS, l->file, group->line,
                          "%s: \"%s\" is named twice in this file, first in line %u; "
                          "put its keys into one group",
                          f->group, name, m.named->line);
        return;
    }
    *m.named = (struct config_source){l->file_index, group->line};
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        if (strcmp(config_setting_name(s), "name") != 0) {
            apply_member_key(l, f, &m, f->group, s);
        }
    }
}

static void apply_family(struct load *l, const struct family *f,
                         const config_setting_t *s)
{
    if (!config_setting_is_list(s)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, s->line,
                          "%s: write %s = ( %s, { ... } );", f->group, f->group,
                          f->example);
        return;
    }
    for (int i = 0; i < config_setting_length(s); i++) {
        apply_member(l, f, config_setting_get_elem(s, (unsigned)i));
    }
}

/* The first file with rules takes the place of the built-in ones. */
static void apply_rules(struct load *l, const config_setting_t *s)
{
    struct config *c = l->c;

    if (l->file_index != 0 && c->nrules > 0 && c->origin->rules[0].named.file == 0) {
        config_drop_rules(c);
    }
    apply_family(l, &rules_family, s);
}

static void apply_list_defaults(struct load *l, const config_setting_t *group)
{
    struct peer_filter defaults = {&l->c->list_default, NULL, NULL,
                                   l->c->origin->list_default.key};

    if (!config_setting_is_group(group)) {
        refuse(l, ERR_SYNTAX, group->line, "list_defaults",
               "write a group: list_defaults = { weight = 6.0; };");
        return;
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        apply_member_key(l, &lists_family, &defaults, "list_defaults",
                         config_setting_get_elem(group, (unsigned)i));
    }
}

/* A key that is not of a list; false when there is none of that path. */
static bool apply_key(struct load *l, const char *path, const config_setting_t *s)
{
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (strcmp(schema_keys[i].path, path) == 0) {
            struct value_place place = {&schema_keys[i], l->c, path, l->file,
                                        l->errors};

            if (value_set(&place, s)) {
                l->c->origin->key[i] = (struct config_source){l->file_index, s->line};
            }
            return true;
        }
    }
    return false;
}

static void apply_group(struct load *l, const config_setting_t *group)
{
    const char *name = config_setting_name(group);
    char path[APPLY_LABEL_MAX];

    if (!config_setting_is_group(group)) {
        config_errors_add(l->errors, ERR_SYNTAX, l->file, group->line,
                          "%s is a group of keys; write %s = { key = value; };", name,
                          name);
        return;
    }
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);

        (void)snprintf(path, sizeof(path), "%s.%.80s", name, config_setting_name(s));
        if (!apply_key(l, path, s)) {
            unknown_key(l, name, s);
        }
    }
}

void apply_settings(struct load *l, const config_setting_t *root)
{
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *s = config_setting_get_elem(root, (unsigned)i);
        const char *name = config_setting_name(s);

        if (strcmp(name, "lists") == 0) {
            apply_family(l, &lists_family, s);
        } else if (strcmp(name, "rules") == 0) {
            apply_rules(l, s);
        } else if (strcmp(name, "subscribe") == 0) {
            apply_family(l, &subscriptions_family, s);
        } else if (strcmp(name, "feeds") == 0) {
            apply_family(l, &feeds_family, s);
        } else if (strcmp(name, "list_defaults") == 0) {
            apply_list_defaults(l, s);
        } else if (schema_is_group(name)) {
            apply_group(l, s);
        } else if (!apply_key(l, name, s)) {
            unknown_key(l, "", s);
        }
    }
}
