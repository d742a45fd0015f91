/* tuning_apply - the settings of the state folder put into a configuration that is being loaded. */
#include "core/base/file.h"
#include "core/config/config_internal.h"
#include "core/config/tuning_file.h"

static void on_tuning_finding(void *context, unsigned line, enum err code,
                              const char *text)
{
    struct load *l = context;

    config_errors_add(l->errors, code, l->file, line, "%s", text);
}

/* The member of a family with that name, or their number. */
static size_t find_member(const struct config *c, size_t family, struct slice name)
{
    const size_t n = family_count(c, family);
    size_t i = 0;

    while (i < n && !slice_eq(slice_str(*(char **)family_at(c, family, i)), name)) {
        i++;
    }
    return i;
}

/* A list need not be named in the configuration: one on disk has the defaults. */
static bool add_list(struct load *l, const struct tuning_setting *s)
{
    const size_t n = family_count(l->c, SCHEMA_LISTS);
    char name[TUNING_TEXT_MAX];

    (void)snprintf(name, sizeof(name), "%.*s", SLICE_ARGS(s->set.name));
    if (n == schema_families[SCHEMA_LISTS].most) {
        config_errors_add(l->errors, ERR_LIMIT, l->file, s->line,
                          "lists: more than %zu lists; remove some", n);
        return false;
    }
    if (!family_add(l->c, SCHEMA_LISTS, name)) {
        config_errors_add(l->errors, ERR_NOMEM, l->file, 0, "out of memory");
        return false;
    }
    l->c->origin->group[SCHEMA_LISTS][n].named =
        (struct config_source){l->file_index, s->line};
    return true;
}

/* A value of the configuration, where it is from, and its value in the defaults. */
struct target {
    void *value;
    struct config_source *source;
    const void *inherited;
};

static struct target target_of(const struct load *l, size_t family, size_t at,
                               size_t offset)
{
    const struct schema_family *f = &schema_families[family];
    size_t k = 0;

    while (f->rows[k].offset != offset) {
        k++;
    }
    return (struct target){(char *)family_at(l->c, family, at) + offset,
                           &l->c->origin->group[family][at].key[k],
                           (const char *)family_defaults(l->c, family) + offset};
}

static struct target threshold_of(const struct load *l, enum action a)
{
    double *value = &l->c->threshold[a];
    size_t k = 0;

    while (schema_keys[k].offset !=
           offsetof(struct config, threshold) + (size_t)a * sizeof(*value)) {
        k++;
    }
    return (struct target){value, &l->c->origin->key[k], value};
}

/* Where the setting goes. False: nowhere. */
static bool find_target(struct load *l, struct tuning_setting *s, struct target *ret)
{
    const bool is_list = s->set.is_list;
    const size_t family = is_list ? SCHEMA_LISTS : SCHEMA_RULES;

    if (s->set.key == USER_THRESHOLD) {
        *ret = threshold_of(l, s->set.action);
        return true;
    }
    const size_t at = find_member(l->c, family, s->set.name);
    s->is_gone = !is_list && at == family_count(l->c, family);
    if (s->is_gone ||
        (is_list && at == family_count(l->c, family) && !add_list(l, s))) {
        return false;
    }
    *ret = target_of(l, family, at,
                     s->set.key == USER_SHADOW
                         ? (is_list ? offsetof(struct config_list, shadow)
                                    : offsetof(struct config_rule, shadow))
                         : (is_list ? offsetof(struct config_list, weight)
                                    : offsetof(struct config_rule, score)));
    return true;
}

static void apply_setting(struct load *l, struct tuning_setting *s)
{
    struct target t = {NULL, NULL, NULL};

    if (!find_target(l, s, &t)) {
        return;
    }
    const void *was = t.source->line != 0 ? t.value : t.inherited;
    if (s->set.key == USER_SHADOW) {
        s->configured_flag = *(const bool *)was;
        *(bool *)t.value = s->set.flag;
    } else {
        s->configured_number = *(const double *)was;
        *(double *)t.value = s->set.number;
    }
    *t.source = (struct config_source){l->file_index, s->line};
}

void apply_tuning(struct load *l)
{
    struct errinfo why = {.text = ""};
    struct tuning *t = tuning_new();
    struct buf text;

    buf_init(&text, TUNING_FILE_BYTES);
    enum err e = t != NULL ? tuning_file_read(l->file, &text, &why)
                           : errinfo_nomem(&why, l->file);
    if (t != NULL && e == ERR_OK &&
        tuning_parse(buf_slice(&text), on_tuning_finding, l, t)) {
        for (size_t i = 0; i < t->n; i++) {
            apply_setting(l, &t->v[i]);
        }
        l->c->tuning = t;
        t = NULL;
    } else if (e != ERR_OK && e != ERR_NOT_FOUND) {
        config_errors_add(l->errors, e, l->file, 0, "%s", why.text);
    }
    buf_fini(&text);
    tuning_free(&t);
}
