/*
 * health_internal - state of the checks, for health.c and health_scrub.c.
 *
 * Threads: one.
 */
#ifndef CORE_LIST_HEALTH_INTERNAL_H
#define CORE_LIST_HEALTH_INTERNAL_H

#include "core/list/error_alarm.h"
#include "core/list/health.h"
#include "core/list/reader.h"

struct list_health_entry {
    char name[LIST_NAME_MAX + 1];
    bool has_counts;  /* tested and false_new are those of the last judgement */
    bool is_unblamed; /* the files are newer than the canary alarm */
    bool is_bad;      /* a bad block was found and logged */
    bool is_cut;      /* a mapped file was cut; logged, and the list is opened again */
    unsigned alarms;  /* enum lookup_stats_alarms, as last said */
    struct error_window canary;
    struct error_window traffic;
    uint64_t tested;
    uint64_t false_new;
    uint64_t judge_at; /* look; 0: never judged */
    uint64_t files;    /* sum of the numbers of those in use */
    uint64_t bits;
    double target;
    double error_formula;
    double error; /* estimated: the worse of formula and bits */
};

struct list_health {
    struct list_manager *lists;
    struct lookup_stats *hits;
    struct list_health_entry *list; /* in the order of the set */
    size_t n;
    uint64_t look;
    bool has_cut; /* a list with a cut file was found at this look */
    /* the scrub: the next block */
    size_t scrub_list;
    uint64_t scrub_order; /* of the part */
    bool scrub_index;     /* the part's index, else its filter */
    uint64_t scrub_block;
    bool found_bad;        /* in this walk over the list */
    uint64_t pass_mono_us; /* when the next pass may begin */
    bool in_pass;
};

/* The next LIST_HEALTH_SCRUB_BYTES. */
void list_health_scrub(struct list_health *g, const struct listset *set);

#endif
