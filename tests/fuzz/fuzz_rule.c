/*
 * fuzz_rule - any text as a configuration of rules, judged on any message.
 *
 * A configuration is refused with a reason for each error, or it is compiled. Then the conditions
 * of each rule, printed, are read as the same conditions. A message gives the same symbols however
 * it was cut, and no group exceeds its cap.
 *
 * Input: the configuration, a form feed, the message.
 */
#include <math.h>
#include <sys/mman.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/config/condition.h"
#include "core/verdict/rule/rule.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 24, SYMBOLS_MAX = 1024, GROUPS_MAX = 64, PATH_BYTES = 64 };

/* Symbols of one evaluation. */
struct found {
    const struct config *config;
    size_t n;
    struct {
        const char *name;
        double score;
        struct slice detail;
    } v[SYMBOLS_MAX];
    double group[GROUPS_MAX];
};

static const struct extract_limits limits_here = {.mail = {.message_bytes = 1 << 20,
                                                           .decoded_bytes = 1 << 18,
                                                           .headers = 100,
                                                           .header_bytes = 1 << 14,
                                                           .header_field = 1 << 12,
                                                           .parts = 40,
                                                           .depth = 6},
                                                  .urls = 50,
                                                  .recipients = 10};

/* libconfig 1.5 forgets the text at which it meets a syntax error. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): LeakSanitizer's name */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* ---- the configuration ---- */

static enum err load(struct slice text, struct config **ret,
                     struct config_errors *errors)
{
    static int fd = -1;
    char path[PATH_BYTES];
    struct buf file;

    if (fd < 0) {
        FUZZ_CHECK(base_init() == ERR_OK);
        log_set_level(LOG_LEVEL_ERROR);
        fd = memfd_create("rules", MFD_CLOEXEC);
        FUZZ_CHECK(fd >= 0);
    }
    buf_init(&file, SIZE_MAX);
    buf_add_str(&file, "shipped_rules = false; state_dir = \"/nowhere\";\n");
    buf_add(&file, text);
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && file_write_at(fd, 0, buf_slice(&file)));
    buf_fini(&file);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return ruleset_load(path, ret, errors);
}

static void check_refused(const struct config *c, const struct config_errors *errors)
{
    FUZZ_CHECK(c == NULL && errors->n > 0);
    for (size_t i = 0; i < errors->n; i++) {
        FUZZ_CHECK(errors->v[i].text[0] != '\0' && errors->v[i].source[0] != '\0');
    }
}

/* Whether these conditions make a rule without anything else of the configuration. */
static bool stands_alone(const struct config_conditions *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const enum condition_kind kind = c->v[i].kind;
        if (kind == CONDITION_COUNTED || kind == CONDITION_RULE ||
            c->v[i].set != NULL) {
            return false;
        }
    }
    return c->n > 0;
}

static void check_printed(const struct config_conditions *conditions)
{
    struct config *again = NULL;
    struct config_errors errors = {0, NULL};
    struct buf text;
    struct buf first;
    struct buf second;

    if (!stands_alone(conditions)) {
        return;
    }
    buf_init(&text, SIZE_MAX);
    buf_init(&first, SIZE_MAX);
    buf_init(&second, SIZE_MAX);
    conditions_text(conditions, &first);
    if (strstr(first.p, "\\u") != NULL) { /* bytes that can only be shown */
        buf_fini(&first);
        return;
    }
    buf_printf(&text, "rules = ( { name = \"r\"; all = %.*s; } );",
               SLICE_ARGS(buf_slice(&first)));
    if (load(buf_slice(&text), &again, &errors) != ERR_OK) {
        (void)fprintf(stderr, "%s\n%s\n", text.p, errors.v[0].text);
    }
    FUZZ_CHECK(again != NULL && again->nrules == 1);
    conditions_text(&again->rules[0].all, &second);
    FUZZ_CHECK(slice_eq(buf_slice(&first), buf_slice(&second)));
    config_release(&again);
    config_errors_free(&errors);
    buf_fini(&text);
    buf_fini(&first);
    buf_fini(&second);
}

/* ---- the message ---- */

static size_t group_of(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->nrule_groups && i < GROUPS_MAX; i++) {
        if (strcmp(c->rule_groups[i].name, name) == 0) {
            return i;
        }
    }
    return GROUPS_MAX;
}

static void on_symbol(void *context, const struct rule_symbol *s)
{
    struct found *found = context;
    const struct config *c = found->config;

    FUZZ_CHECK(isfinite(s->score) && s->name[0] != '\0');
    if (s->rule != SIZE_MAX) {
        FUZZ_CHECK(s->rule < c->nrules && c->rules[s->rule].enabled);
        FUZZ_CHECK(!s->is_shadow || s->score == 0);
        const size_t group = group_of(c, c->rules[s->rule].group);
        if (group < GROUPS_MAX) {
            found->group[group] += s->score;
        }
    }
    if (found->n < SYMBOLS_MAX) {
        found->v[found->n].name = s->name;
        found->v[found->n].score = s->score;
        found->v[found->n++].detail = s->detail;
    }
}

/* Judges the message, which is read in pieces of step bytes. */
static unsigned judge(const struct config *c, struct arena *arena, struct slice text,
                      size_t step, struct found *ret)
{
    struct extract_limits limits = limits_here;
    struct rule_text *shown = rule_text_new(c->ruleset, arena, &limits);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    const uint64_t bytes = text.n;

    FUZZ_CHECK(x != NULL);
    *ret = (struct found){.config = c};
    while (text.n > 0) {
        const struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    const struct rule_case rules = {.config = c,
                                    .features = extract_finish(x),
                                    .text = shown,
                                    .bytes = bytes,
                                    .arena = arena,
                                    .on_symbol = on_symbol,
                                    .context = ret};
    return ruleset_judge(&rules);
}

static void check_message(const struct config *c, struct slice message)
{
    static struct found whole;
    static struct found cut;
    struct arena *one = arena_new(ARENA);
    struct arena *two = arena_new(ARENA);

    FUZZ_CHECK(one != NULL && two != NULL);
    const unsigned met = judge(c, one, message, message.n + 1, &whole);
    FUZZ_CHECK(judge(c, two, message, message.n % 17 + 1, &cut) == met);
    FUZZ_CHECK(whole.n == cut.n);
    for (size_t i = 0; i < whole.n; i++) {
        FUZZ_CHECK(strcmp(whole.v[i].name, cut.v[i].name) == 0);
        FUZZ_CHECK(whole.v[i].score == cut.v[i].score);
        FUZZ_CHECK(slice_eq(whole.v[i].detail, cut.v[i].detail));
    }
    for (size_t i = 0; i < c->nrule_groups && i < GROUPS_MAX; i++) {
        FUZZ_CHECK(whole.group[i] <= c->rule_groups[i].cap + 1e-6);
    }
    arena_free(&one);
    arena_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice message = slice_of((const char *)data, size);
    const struct slice text = slice_cut(&message, '\f');
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};

    if (load(text, &c, &errors) != ERR_OK) {
        check_refused(c, &errors);
        config_errors_free(&errors);
        return 0;
    }
    for (size_t i = 0; i < c->nrules; i++) {
        check_printed(&c->rules[i].all);
        check_printed(&c->rules[i].any);
        check_printed(&c->rules[i].none);
    }
    check_message(c, message);
    config_release(&c);
    return 0;
}
