
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

/* Conditions are text of a configuration file, and no JSON. */
static void add_value(const struct dump *d, const struct schema_row *row,
                      const void *base)
{
    struct buf text;

    if (d->form != DUMP_JSON || row->kind != SCHEMA_CONDITIONS) {
        value_text(row, base, d->ret);
        return;
    }
    buf_init(&text, DUMP_VALUE_MAX);
    value_text(row, base, &text);
    value_add_quoted(d->ret, buf_slice(&text));
    buf_fini(&text);
}

static void add_line(const struct dump *d, const char *key,
                     const struct schema_row *row, const void *base,
                     struct config_source source)
{
    if (d->form == DUMP_JSON) {
        buf_printf(d->ret, "{\"key\": \"%s\", \"value\": ", key);
        add_value(d, row, base);
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

/* prefix: "lists.NAME" */
static void add_group(const struct dump *d, const struct schema_family *f,
                      const char *prefix, const void *base,
                      const struct config_group_origin *origin)
{
    char key[DUMP_KEY_MAX];

    for (size_t i = 0; i < f->nrows; i++) {
        (void)snprintf(key, sizeof(key), "%s.%s", prefix, f->rows[i].path);
        add_line(d, key, &f->rows[i], base, origin->key[i]);
    }
}

static void add_family(const struct dump *d, size_t family)
{
    const struct schema_family *f = &schema_families[family];
    char prefix[DUMP_KEY_MAX / 2];

    for (size_t i = 0; i < family_count(d->c, family); i++) {
        void *base = family_at(d->c, family, i);

        (void)snprintf(prefix, sizeof(prefix), "%s.%s", f->group, *(char **)base);
        add_group(d, f, prefix, base, &d->c->origin->group[family][i]);
    }
}

static void dump(const struct config *c, enum dump_form form, struct buf *ret)
{
    struct dump d = {c, form, ret};

    for (size_t i = 0; i < SCHEMA_KEYS; i++) {
        add_line(&d, schema_keys[i].path, &schema_keys[i], c, c->origin->key[i]);
    }
    add_group(&d, &schema_families[SCHEMA_LISTS], "list_defaults", &c->list_default,
              &c->origin->list_default);
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        add_family(&d, i);
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

/* group: "lists", or "" */
static void add_schema_rows(const char *group, const struct schema_row *rows, size_t n,
                            struct buf *ret)
{
    for (size_t i = 0; i < n; i++) {
        buf_printf(ret, "%s%s%s\t%s\t%s\t%s\t%s\n", group, *group != '\0' ? "." : "",
                   rows[i].path, schema_kind_name(rows[i].kind), rows[i].default_text,
                   rows[i].reloadable ? "yes" : "no", rows[i].help);
    }
}

void config_schema(struct buf *ret)
{
    add_schema_rows("", schema_keys, SCHEMA_KEYS, ret);
    for (size_t i = 0; i < SCHEMA_FAMILIES; i++) {
        const struct schema_family *f = &schema_families[i];

        add_schema_rows(f->group, f->rows, f->nrows, ret);
        if (i == SCHEMA_LISTS) {
            add_schema_rows("list_defaults", f->rows, f->nrows, ret);
        }
    }
}

/* Keys that one of the two programs never looks at. */
static bool is_key_of(enum config_program program, const char *path)
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
        if (schema_keys[i].reloadable || !is_key_of(program, schema_keys[i].path)) {
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
