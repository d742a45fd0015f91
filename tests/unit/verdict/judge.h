/*
 * judge - a verdict on evidence made by hand: the fixture of this room's tests.
 *
 * The lists are a fake: hits are data here.
 */
#ifndef TESTS_UNIT_VERDICT_JUDGE_H
#define TESTS_UNIT_VERDICT_JUDGE_H

#include <math.h>
#include <stdio.h>

#include "core/verdict/rule/rule.h"
#include "core/verdict/verdict.h"

#include "tests/unit/unit.h"

enum { LISTS = 160 };

struct list_reader {
    const char *name;
};
struct listset {
    size_t n;
    size_t nown; /* the first; 0: all are local */
    const char *origin[LISTS];
    double weight[LISTS];
    unsigned owner[LISTS]; /* of the list with number owner - 1, too; 0: of its own */
    struct config_list config[LISTS];
    struct list_reader reader[LISTS];
    enum list_fault fault;
};

static struct listset lists;

size_t listset_count(const struct listset *s)
{
    return s->nown > 0 ? s->nown : s->n;
}

const char *listset_origin(const struct listset *s, size_t i)
{
    return s->origin[i];
}

unsigned listset_owner(const struct listset *s, size_t i)
{
    return s->owner[i] > 0 ? s->owner[i] - 1 : (unsigned)i;
}

double listset_weight(const struct listset *s, size_t i)
{
    return s->weight[i];
}

const char *list_suppression_name(enum list_suppression s)
{
    return s == LIST_SUPPRESSED_REVOKED ? "revoked here" : "protected here";
}

enum list_fault listset_fault(const struct listset *s)
{
    return s->fault;
}

const struct config_list *listset_config(const struct listset *s, size_t i)
{
    return &s->config[i];
}

const struct list_reader *listset_reader(const struct listset *s, size_t i)
{
    return &s->reader[i];
}

const char *list_reader_name(const struct list_reader *r)
{
    return r->name;
}

/* Input of verdict_evaluate. */
static struct list_hits lookup_hits;
static enum err lookup_result;
static uint64_t lookup_deadline;

enum err listset_lookup(const struct listset *s, const struct featureset *features,
                        uint64_t deadline_mono_us, struct arena *arena,
                        struct list_hits *ret)
{
    (void)s;
    (void)features;
    (void)arena;
    lookup_deadline = deadline_mono_us;
    *ret = lookup_hits;
    return lookup_result;
}

struct bench {
    struct arena *arena;
    struct featureset *features;
    struct config config;
    struct verdict_context context;
    struct list_hit hits[300];
    struct list_hits found;
    struct verdict v;
};

static inline int set_up(void **state)
{
    static struct bench b;
    b = (struct bench){.arena = arena_new(1 << 20)};
    b.features = featureset_new(b.arena, 1000);
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        b.config.threshold[a] = HUGE_VAL;
    }
    b.config.threshold[ACTION_HEADER] = 5;
    b.config.threshold[ACTION_QUARANTINE] = 10;
    b.config.threshold[ACTION_REJECT] = 15;
    b.config.skip_authenticated = true;
    b.found.v = b.hits;
    memset(&lists, 0, sizeof(lists));
    lookup_result = ERR_OK;
    *state = &b;
    return 0;
}

static inline int tear_down(void **state)
{
    struct bench *b = *state;
    arena_free(&b->arena);
    if (b->config.ruleset != NULL) {
        b->config.ruleset_free(&b->config.ruleset);
    }
    return 0;
}

static inline struct config_list *add_list(const char *name, double weight)
{
    size_t i = lists.n++;
    lists.reader[i].name = name;
    lists.config[i].weight = weight;
    lists.config[i].enabled = true;
    return &lists.config[i];
}

static inline void add_hit(struct bench *b, size_t list, uint16_t type,
                           const char *value)
{
    b->hits[b->found.n++] = (struct list_hit){.list = (uint16_t)list,
                                              .report_type = type,
                                              .answer = LIST_CONFIRMED,
                                              .value = slice_str(value)};
}

static inline void judge(struct bench *b)
{
    struct config_errors errors = {0, NULL};

    assert_int_equal(ruleset_compile(&b->config, &errors), ERR_OK);
    verdict_make(&b->config, b->features, &lists, &b->found, &b->context, b->arena,
                 &b->v);
}

static inline void has_symbol(const struct bench *b, size_t i, const char *name,
                              double score, const char *detail)
{
    assert_true(i < b->v.nsymbols);
    assert_string_equal(b->v.symbols[i].name, name);
    assert_true(fabs(b->v.symbols[i].score - score) < 1e-6);
    assert_int_equal(b->v.symbols[i].detail.n, strlen(detail));
    assert_memory_equal(b->v.symbols[i].detail.p, detail, strlen(detail));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
