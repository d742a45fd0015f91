
#include "core/base/checksum.h"
#include "core/config/config.h"
#include "core/config/config_internal.h"
#include "core/config/config_value.h"

enum { DUMP_KEY_MAX = 160, DUMP_VALUE_MAX = 4 << 20, DUMP_ALL_MAX = 256 << 20 };

enum dump_form { DUMP_TEXT, DUMP_JSON, DUMP_BARE /* no sources */ };

struct dump {
    const struct config *c;
    enum dump_form form;
    struct buf *ret;
};

static void add_source(const struct dump *d, struct config_source source)
{
    struct buf text;

    buf_init(&text, ERRINFO_TEXT_MAX + VALUE_PATH_MAX);
    if (source.file == 0) {
        buf_add_str(&text, "default");
    } else {
        buf_printf(&text, "%s:%u", d->c->origin->files[source.file], source.line);
    }
    if (d->form == DUMP_JSON) {
        value_add_quoted(d->ret, buf_slice(&text));
    } else {
        buf_add(d->ret, buf_slice(&text));
    }
    buf_fini(&text);
}

static void add_line(const struct dump *d, const char *key,
                     const struct schema_row *row, const void *base,
                     struct config_source source)
{
    if (d->form == DUMP_JSON) {
        buf_printf(d->ret, "{\"key\": \"%s\", \"value\": ", key);
        value_text(row, base, d->ret);
        buf_add_str(d->ret, ", \"source\": ");
        add_source(d, source);
        buf_add_str(d->ret, "}\n");
        return;
    }
    buf_printf(d->ret, "%s = ", key);
    value_text(row, base, d->ret);
    if (d->form == DUMP_TEXT) {
        buf_add_str(d->ret, "  # ");
        add_source(d, source);
    }
    buf_add_char(d->ret, '\n');
}

static void add_list(const struct dump *d, const char *prefix,
                     const struct config_list *l,
                     const struct config_list_origin *origin)
{
    char key[DUMP_KEY_MAX];

    for (size_t i = 0; i < SCHEMA_LIST_KEYS; i++) {
        (void)snprintf(key, sizeof(key), "%s%s.%s", prefix,
                       l->name != NULL ? l->name : "", schema_list_keys[i].path);
        add_line(d, key, &schema_list_keys[i], l, origin->key[i]);
    }
}

static void add_rule(const struct dump *d, const struct config_rule *rule,
                     const struct config_rule_origin *origin)
{
    char key[DUMP_KEY_MAX];

    for (size_t i = 0; i < SCHEMA_RULE_KEYS; i++) {
        (void)snprintf(key, sizeof(key), "rules.%s.%s", rule->name,
                       schema_rule_keys[i].path);
        add_line(d, key, &schema_rule_keys[i], rule, origin->key[i]);
    }
}

static void add_subscription(const struct dump *d, const struct config_subscription *s,
                             const struct config_subscription_origin *origin)
{
    char key[DUMP_KEY_MAX];

    for (size_t i = 0; i < SCHEMA_SUBSCRIBE_KEYS; i++) {
        (void)snprintf(key, sizeof(key), "subscribe.%s.%s", s->name,
                       schema_subscribe_keys[i].path);
        add_line(d, key, &schema_subscribe_keys[i], s, origin->key[i]);
    }
}

static void add_feed(const struct dump *d, const struct config_feed *f,
                     const struct config_feed_origin *origin)
{
    char key[DUMP_KEY_MAX];

    for (size_t i = 0; i < SCHEMA_FEED_KEYS; i++) {
        (void)snprintf(key, sizeof(key), "feeds.%s.%s", f->name,
                       schema_feed_keys[i].path);
        add_line(d, key, &schema_feed_keys[i], f, origin->key[i]);
    }
}

static void dump(const struct config *c, enum dump_form form, struct buf *ret)
{
    struct dump d = {c, form, ret};

    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        add_line(&d, schema_keys[i].path, &schema_keys[i], c, c->origin->key[i]);
    }
    add_list(&d, "list_defaults", &c->list_default, &c->origin->list_default);
    for (size_t i = 0; i < c->nlists; i++) {
        add_list(&d, "lists.", &c->lists[i], &c->origin->lists[i]);
    }
    for (size_t i = 0; i < c->nrules; i++) {
        add_rule(&d, &c->rules[i], &c->origin->rules[i]);
    }
    for (size_t i = 0; i < c->nsubscriptions; i++) {
        add_subscription(&d, &c->subscriptions[i], &c->origin->subscriptions[i]);
    }
    for (size_t i = 0; i < c->nfeeds; i++) {
        add_feed(&d, &c->feeds[i], &c->origin->feeds[i]);
    }
}

void config_dump(const struct config *c, bool json, struct buf *ret)
{
    dump(c, json ? DUMP_JSON : DUMP_TEXT, ret);
}

uint32_t config_id(const struct config *c)
{
    struct buf text;
    uint32_t id = 0;

    buf_init(&text, DUMP_ALL_MAX);
    dump(c, DUMP_BARE, &text);
    id = checksum32(buf_slice(&text));
    buf_fini(&text);
    return id != 0 ? id : 1;
}

static void add_schema_row(const char *prefix, const struct schema_row *row,
                           struct buf *ret)
{
    buf_printf(ret, "%s%s\t%s\t%s\t%s\t%s\n", prefix, row->path,
               schema_kind_name(row->kind), row->default_text,
               row->reloadable ? "yes" : "no", row->help);
}

void config_schema(struct buf *ret)
{
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        add_schema_row("", &schema_keys[i], ret);
    }
    for (size_t i = 0; i < SCHEMA_LIST_KEYS; i++) {
        add_schema_row("lists.", &schema_list_keys[i], ret);
    }
    for (size_t i = 0; i < SCHEMA_LIST_KEYS; i++) {
        add_schema_row("list_defaults.", &schema_list_keys[i], ret);
    }
    for (size_t i = 0; i < SCHEMA_RULE_KEYS; i++) {
        add_schema_row("rules.", &schema_rule_keys[i], ret);
    }
    for (size_t i = 0; i < SCHEMA_SUBSCRIBE_KEYS; i++) {
        add_schema_row("subscribe.", &schema_subscribe_keys[i], ret);
    }
    for (size_t i = 0; i < SCHEMA_FEED_KEYS; i++) {
        add_schema_row("feeds.", &schema_feed_keys[i], ret);
    }
}

/* Keys that one of the two programs never looks at. */
static bool is_of(enum config_program program, const char *path)
{
    const bool is_hubs = strncmp(path, "hub.", 4) == 0 || strncmp(path, "api.", 4) == 0;

    if (program == CONFIG_OF_HUB) {
        return is_hubs || strcmp(path, "state_dir") == 0 ||
               strcmp(path, "log.target") == 0;
    }
    return !is_hubs;
}

unsigned config_needs_restart(const struct config *started, const struct config *fresh,
                              enum config_program program, struct buf *ret)
{
    struct buf was;
    struct buf is;
    unsigned n = 0;

    buf_init(&was, DUMP_VALUE_MAX);
    buf_init(&is, DUMP_VALUE_MAX);
    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        if (schema_keys[i].reloadable || !is_of(program, schema_keys[i].path)) {
            continue;
        }
        buf_clear(&was);
        buf_clear(&is);
        value_text(&schema_keys[i], started, &was);
        value_text(&schema_keys[i], fresh, &is);
        if (!slice_eq(buf_slice(&was), buf_slice(&is))) {
            buf_add_str(ret, n++ > 0 ? ", " : "");
            buf_add_str(ret, schema_keys[i].path);
        }
    }
    buf_fini(&was);
    buf_fini(&is);
    return n;
}
