/* simulate_examples - Table 2, and the merge of two filters that no longer tells the truth. */

#include "core/cli/print.h"
#include "core/lab/simulate.h"

enum {
    CELLS = SIMULATION_EXAMPLE_CELLS,
    OCCURRENCES = 5,
    SEEN_AT_A = 2,
    SEEN_AT_B = 3
};

static const uint64_t all_cells[CELLS] = {0, 1, 2};
/* A key's cells at server b before the first of Table 2, and at both servers in the example. */
static const uint64_t before_table[CELLS] = {1, 1, 0};
static const uint64_t example_a[CELLS] = {2, 5, 8};
static const uint64_t example_b[CELLS] = {4, 4, 3};

struct example {
    struct counting c;
    _Alignas(64) uint64_t words[8];
};

static void make(struct example *e, enum counting_variant variant,
                 const uint64_t cells[CELLS])
{
    const struct counting_shape shape = {.variant = variant,
                                         .layout = COUNTING_FLAT,
                                         .cell_bits = EXPERIMENT_CELL_BITS,
                                         .k = CELLS,
                                         .nchunks = 1,
                                         .chunk_cells = CELLS};

    *e = (struct example){.words = {0}};
    counting_init(&e->c, &shape, e->words, NULL, NULL);
    for (unsigned i = 0; i < CELLS; i++) {
        const uint64_t thrice[CELLS] = {i, i, i}; /* one cell, which rises once */
        if (cells[i] > 0) {
            (void)counting_add_at(&e->c, thrice, cells[i]);
        }
    }
}

static void read_cells(const struct example *e, unsigned ret[CELLS])
{
    for (unsigned i = 0; i < CELLS; i++) {
        ret[i] = (unsigned)counting_cell(&e->c, i);
    }
}

static bool show_row(unsigned times, unsigned v[2][CELLS], bool json)
{
    if (json) {
        return json_line(json_pack("{s:s, s:i, s:[i,i,i], s:[i,i,i]}", "example",
                                   "table-2", "occurrences", (int)times, "intuitive",
                                   (int)v[0][0], (int)v[0][1], (int)v[0][2], "refined",
                                   (int)v[1][0], (int)v[1][1], (int)v[1][2]));
    }
    printf("  %11u  (%u, %u, %u)  (%u, %u, %u)\n", times, v[0][0], v[0][1], v[0][2],
           v[1][0], v[1][1], v[1][2]);
    return true;
}

static bool show_table(bool json)
{
    static const enum counting_variant variants[] = {COUNTING_INTUITIVE,
                                                     COUNTING_REFINED};
    struct example e[2];
    bool is_good = true;

    for (unsigned i = 0; i < 2; i++) {
        make(&e[i], variants[i], before_table);
    }
    for (unsigned times = 0; times < OCCURRENCES && is_good; times++) {
        unsigned v[2][CELLS];
        for (unsigned i = 0; i < 2; i++) {
            read_cells(&e[i], v[i]);
            (void)counting_add_at(&e[i].c, all_cells, 1);
        }
        is_good = show_row(times, v, json);
    }
    return is_good;
}

bool simulation_merge_example(enum counting_variant variant, unsigned more,
                              struct simulation_merge *ret)
{
    struct example a;
    struct example b;

    make(&a, variant, example_a);
    make(&b, variant, example_b);
    (void)counting_add_at(&a.c, all_cells, more);
    (void)counting_add_at(&b.c, all_cells, more);
    ret->truth = SEEN_AT_A + SEEN_AT_B + 2 * more;
    ret->a = (unsigned)counting_get_at(&a.c, all_cells).count;
    ret->b = (unsigned)counting_get_at(&b.c, all_cells).count;
    if (counting_merge(&a.c, &b.c, NULL) != ERR_OK) {
        return false; /* never: they are alike */
    }
    read_cells(&a, ret->cells);
    ret->count = (unsigned)counting_get_at(&a.c, all_cells).count;
    return true;
}

static bool show_merge(enum counting_variant variant, unsigned more, bool json)
{
    const char *name = variant == COUNTING_INTUITIVE ? "intuitive" : "refined";
    struct simulation_merge m;

    if (!simulation_merge_example(variant, more, &m)) {
        return false;
    }
    if (json) {
        return json_line(json_pack("{s:s, s:s, s:i, s:[i,i,i], s:i, s:i}", "example",
                                   "merge", "variant", name, "more", (int)more, "cells",
                                   (int)m.cells[0], (int)m.cells[1], (int)m.cells[2],
                                   "count", (int)m.count, "truth", (int)m.truth));
    }
    printf("  %-9s %u more at each: cells (%u, %u, %u), count %u, truth %u\n", name,
           more, m.cells[0], m.cells[1], m.cells[2], m.count, m.truth);
    return true;
}

bool simulation_print_examples(bool json)
{
    bool is_good = true;

    if (!json) {
        printf(
            "Table 2: a key's three cells as it occurs, others having left (1, 1, 0)\n"
            "  %11s  %-9s  %s\n",
            "occurrences", "intuitive", "refined");
    }
    is_good = show_table(json);
    if (!json) {
        (void)puts(
            "\nThe counter-example: seen 2 times at a, cells (2, 5, 8), and 3 times "
            "at b, (4, 4, 3);\ntheir cells are added:");
    }
    for (unsigned more = 0; more < 2 && is_good; more++) {
        is_good = show_merge(COUNTING_INTUITIVE, more, json) &&
                  show_merge(COUNTING_REFINED, more, json);
    }
    return is_good;
}
