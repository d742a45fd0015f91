/*
 * ruled - rules of a configuration text, evaluated on evidence made by hand: the fixture of this
 * room's tests.
 */
#ifndef TESTS_UNIT_RULE_RULED_H
#define TESTS_UNIT_RULE_RULED_H

#include <math.h>

#include "core/base/clock.h"
#include "core/verdict/rule/rule.h"

#include "tests/unit/config/confdir.h"

enum { RULED_SHOWN_MAX = 64 };

struct shown {
    char name[64];
    double score;
    char detail[500];
    bool is_of_counts;
    bool is_shadow;
    size_t rule;
};

struct ruled {
    struct config *config;
    struct arena *arena;
    struct featureset *features;
    struct rule_case c;
    struct extract_limits limits;
    struct rule_text *text;
    size_t nshown;
    struct shown shown[RULED_SHOWN_MAX];
    unsigned met; /* LIMIT_FLAG bits */
};

static struct ruled ruled;

static inline void ruled_on_symbol(void *context, const struct rule_symbol *s)
{
    struct ruled *r = context;
    struct shown *to = &r->shown[r->nshown++];

    assert_true(r->nshown < RULED_SHOWN_MAX);
    snprintf(to->name, sizeof(to->name), "%s%s", s->prefix, s->name);
    snprintf(to->detail, sizeof(to->detail), "%.*s", SLICE_ARGS(s->detail));
    to->score = s->score;
    to->is_of_counts = s->is_of_counts;
    to->is_shadow = s->is_shadow;
    to->rule = s->rule;
}

static inline bool ruled_is_exempt(const void *context, struct slice value)
{
    (void)context;
    return slice_eq(value, SLICE_LIT("exempt.example"));
}

/* Evidence of a new message. */
static inline void ruled_message(void)
{
    arena_reset(ruled.arena);
    ruled.features = featureset_new(ruled.arena, 10000);
    ruled.limits = (struct extract_limits){.on_text = NULL};
    ruled.text = rule_text_new(ruled.config->ruleset, ruled.arena, &ruled.limits);
    ruled.c = (struct rule_case){.config = ruled.config,
                                 .features = ruled.features,
                                 .text = ruled.text,
                                 .arena = ruled.arena,
                                 .on_symbol = ruled_on_symbol,
                                 .is_exempt = ruled_is_exempt,
                                 .context = &ruled};
}

static inline void ruled_end(void)
{
    config_release(&ruled.config);
    arena_free(&ruled.arena);
}

/* The shipped rules are left out. */
static inline void ruled_load(const char *text)
{
    struct config_errors errors = {0, NULL};
    struct buf file;

    ruled_end();
    buf_init(&file, 16 << 20);
    buf_add_str(&file, "shipped_rules = false;\n");
    buf_add_str(&file, text);
    if (ruleset_load(confdir_put("gillnet.conf", file.p), &ruled.config, &errors) !=
        ERR_OK) {
        fail_msg("%s", errors.v[0].text);
    }
    buf_fini(&file);
    ruled.arena = arena_new(64 << 20);
    ruled_message();
}

static inline void ruled_feature(enum feature_type type, const char *value)
{
    featureset_add(ruled.features, type, slice_str(value));
}

/* A part of the text, n bytes at a time; 0: at once. */
static inline void ruled_part(const char *text, size_t n)
{
    struct slice rest = slice_str(text);

    assert_non_null(ruled.limits.on_text);
    ruled.limits.on_text_part(ruled.limits.text_context);
    for (size_t step = n > 0 ? n : rest.n; rest.n > 0; rest = slice_from(rest, step)) {
        ruled.limits.on_text(ruled.limits.text_context, slice_head(rest, step));
    }
}

static inline void ruled_text(const char *text, size_t n)
{
    ruled_part(text, n);
    ruled.limits.on_text_end(ruled.limits.text_context);
}

static inline void ruled_judge(void)
{
    ruled.nshown = 0;
    ruled.met = ruleset_judge(&ruled.c);
}

static inline const struct shown *ruled_find(const char *name)
{
    for (size_t i = 0; i < ruled.nshown; i++) {
        if (strcmp(ruled.shown[i].name, name) == 0) {
            return &ruled.shown[i];
        }
    }
    return NULL;
}

/* Judges, and says whether the rule r holds. */
static inline bool ruled_holds(void)
{
    ruled_judge();
    return ruled_find("RULE_r") != NULL;
}

static inline int ruled_set_up(void **state)
{
    return confdir_setup(state);
}

static inline int ruled_tear_down(void **state)
{
    ruled_end();
    clock_unset_for_test();
    return confdir_teardown(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, ruled_set_up, ruled_tear_down)
#define RULE(k) "rules = ( { name = \"r\"; " k " } );"
#define ALL(c)  RULE("all = ( " c " );")
#define NONE(c) RULE("all = ( { direction = \"in\"; } ); none = ( " c " );")

#endif
