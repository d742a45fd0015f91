/* print_counts - how often the features of a message were seen, for people. */
#include "core/cli/print_counts.h"

#include "core/cli/humanize.h"
#include "core/cli/print_features.h"
#include "core/cli/text.h"

void counted_print_windows(const uint64_t w[COUNT_WINDOWS])
{
    char number[HUMANIZE_MAX];

    for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
        printf("%s%s in %s", i == 0 ? "" : ", ", humanize_count(w[i], number),
               count_window_name(i));
    }
}

static void print_shares(const struct count_breakdown *s)
{
    if (s->n < 2) {
        return;
    }
    printf(" (in %s own %llu", count_window_name(COUNT_14D),
           (unsigned long long)s->v[0].w[COUNT_14D]);
    for (unsigned i = 1; i < s->n; i++) {
        printf(", %s %llu", s->v[i].origin->name,
               (unsigned long long)s->v[i].w[COUNT_14D]);
    }
    (void)putchar(')');
}

void counted_print(const struct message_counts *counts)
{
    bool is_ring = true;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        struct count_breakdown shares;
        if (c->value.w[COUNT_14D] == 0) {
            continue;
        }
        printf("  count %s ", feature_type_name(c->feature->type));
        text_print(stdout, c->feature->text, EVIDENCE_SHOWN);
        (void)putchar(' ');
        counted_print_windows(c->value.w);
        for (unsigned kind = 0; c->has_distinct && kind < DISTINCT_KINDS; kind++) {
            printf(", %llu %s", (unsigned long long)c->distinct[kind],
                   count_distinct_name(kind));
        }
        is_ring = is_ring && message_counts_shares(counts, c, &shares);
        if (is_ring) {
            print_shares(&shares);
            count_breakdown_fini(&shares);
        }
        (void)putchar('\n');
    }
    if (counts->is_cut) {
        (void)puts("  count: some features were too many to be counted");
    }
}
