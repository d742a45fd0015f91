/* family - the groups of lists, rules, subscribe and feeds in struct config, by the schema's
 * table. */
#include "core/config/config_internal.h"
#include "core/config/config_value.h"

static void *place_in(const struct config *c, size_t offset)
{
    return (char *)c->origin->self + offset;
}

/* The array; its elements are of any type. */
static char *array_of(const struct config *c, const struct schema_family *f)
{
    char *v = NULL;

    memcpy(&v, place_in(c, f->array), sizeof(v));
    return v;
}

size_t family_count(const struct config *c, size_t family)
{
    return *(size_t *)place_in(c, schema_families[family].count);
}

void *family_at(const struct config *c, size_t family, size_t i)
{
    const struct schema_family *f = &schema_families[family];

    return array_of(c, f) + i * f->bytes;
}

void *family_defaults(const struct config *c, size_t family)
{
    return place_in(c, schema_families[family].defaults);
}

/* Room for n + 1 rows of the family, which the configuration owns; NULL: no memory. */
static char *grow_rows(struct config *c, const struct schema_family *f, size_t n)
{
    char *v = reallocarray(array_of(c, f), n + 1, f->bytes);

    if (v != NULL) {
        memcpy(place_in(c, f->array), &v, sizeof(v));
    }
    return v;
}

bool family_add(struct config *c, size_t family, const char *name)
{
    const struct schema_family *f = &schema_families[family];
    const size_t n = family_count(c, family);
    char *v = grow_rows(c, f, n);
    struct config_group_origin *origins = NULL;

    if (v != NULL) {
        origins = reallocarray(c->origin->group[family], n + 1, sizeof(*origins));
    }
    if (origins == NULL) {
        return false;
    }
    c->origin->group[family] = origins;
    memset(v + n * f->bytes, 0, f->bytes);
    memset(&origins[n], 0, sizeof(*origins));
    char *copy = strdup(name);
    if (copy == NULL) {
        return false;
    }
    *(char **)family_at(c, family, n) = copy;
    *(size_t *)place_in(c, f->count) = n + 1;
    return true;
}

bool family_inherit(struct config *c, size_t family)
{
    const struct schema_family *f = &schema_families[family];

    for (size_t i = 0; i < family_count(c, family); i++) {
        struct config_source *key = c->origin->group[family][i].key;

        for (size_t k = 0; k < f->nrows; k++) {
            if (key[k].line != 0) {
                continue;
            }
            if (!value_copy(&f->rows[k], family_at(c, family, i),
                            family_defaults(c, family))) {
                return false;
            }
            if (family == SCHEMA_LISTS) {
                key[k] = c->origin->list_default.key[k];
            }
        }
    }
    return true;
}

void family_drop(struct config *c, size_t family)
{
    const struct schema_family *f = &schema_families[family];

    for (size_t i = 0; i < family_count(c, family); i++) {
        for (size_t k = 0; k < f->nrows; k++) {
            value_free(&f->rows[k], family_at(c, family, i));
        }
        free(*(char **)family_at(c, family, i));
    }
    *(size_t *)place_in(c, f->count) = 0;
}

void family_free(struct config *c, size_t family)
{
    const struct schema_family *f = &schema_families[family];

    family_drop(c, family);
    free(array_of(c, f));
    free(c->origin->group[family]);
    for (size_t k = 0; k < f->nrows; k++) {
        value_free(&f->rows[k], family_defaults(c, family));
    }
}
