/* listset_state - lists of a snapshot: names, weights, types, faults. */
#include "core/list/listset.h"
#include "core/list/listset_internal.h"

struct feature_classes list_named_types(const struct config_list *list)
{
    struct feature_classes types = {{0}};
    for (size_t i = 0; i < list->types.n; i++) {
        const struct feature_info *info =
            feature_info_by_name(slice_str(list->types.v[i]));
        if (info) {
            feature_classes_add(&types, (uint16_t)info->type);
        }
    }
    return types;
}

size_t listset_count(const struct listset *s)
{
    return s->nown;
}

size_t listset_total(const struct listset *s)
{
    return s->n;
}

const char *listset_origin(const struct listset *s, size_t i)
{
    return i < s->nown ? NULL : s->item[i].origin_name;
}

unsigned listset_owner(const struct listset *s, size_t i)
{
    return s->item[i].owner;
}

bool listset_may_revoke(const struct listset *s, size_t i)
{
    return s->item[i].may_revoke;
}

double listset_weight(const struct listset *s, size_t i)
{
    return s->item[i].weight;
}

bool listset_is_degraded(const struct listset *s)
{
    return listset_fault(s) != LIST_FAULT_NONE;
}

enum list_fault listset_fault(const struct listset *s)
{
    return (enum list_fault)atomic_load_explicit(&s->fault, memory_order_relaxed);
}

const char *list_fault_name(enum list_fault fault)
{
    static const char *const names[] = {
        [LIST_FAULT_LISTS] = "lists",
        [LIST_FAULT_LIST_UNREADABLE] = "list_unreadable",
        [LIST_FAULT_LISTS_UNREADABLE] = "lists_unreadable",
        [LIST_FAULT_KEYS_UNREADABLE] = "keys_unreadable",
    };
    return names[fault];
}

const struct list_reader *listset_reader(const struct listset *s, size_t i)
{
    return s->item[i].shared->reader;
}

const struct config_list *listset_config(const struct listset *s, size_t i)
{
    return s->item[i].config;
}
