/*
 * lab - the laboratory: plans of filters and counts, the paper's experiments, and simulations.
 *
 * Linked by gillnet-lab alone; neither daemon nor the everyday `gillnet` holds it. A plan answers
 * "how large, how wrong, how dear" before a filter is built; a simulation measures what the
 * arithmetic predicts.
 *
 * Files in reading order: plan (arithmetic), cost, layout, scheme (filters compared), cuckoo,
 * counting_split and counting_shared (variants that production does not use), experiment* (the
 * paper's tables), cmd_plan and plan_*, cmd_simulate and simulate_* (the commands), svg (plots).
 * To add an option of `gillnet plan`: a row of the table in lab_plan (cmd_plan.c), its synopsis in
 * core/cli/commands.def and gillnet(1).
 * Depends: base, config, feature, filter, count, report, the ring's rooms, cli.
 * ADR 0018, 0028, 0036, 0075.
 */
#ifndef CORE_LAB_LAB_H
#define CORE_LAB_LAB_H

#include "core/cli/cli.h"

int lab_plan(struct cli *cli, int argc, char **argv);
int lab_simulate(struct cli *cli, int argc, char **argv);
/* `count merge` and `count export --filter`. */
int lab_count(struct cli *cli, int argc, char **argv);
/* `lookup --counts FILE`. */
int lab_lookup(struct cli *cli, int argc, char **argv);

#endif
