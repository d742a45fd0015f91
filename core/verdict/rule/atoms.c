#include "core/verdict/rule/atoms.h"

#include <stdarg.h>

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/nearest.h"

enum { TEXT_MAX = 16 << 20, WHY_MAX = ERRINFO_TEXT_MAX, SLOTS_EACH = 2 };

static const char *const identity_names[] = {
#define IDENTITY(name, help) #name,
#include "core/verdict/identity/identity.def"
#undef IDENTITY
};

static bool is_identity(struct slice name)
{
    return name_index(name, identity_names, LENGTH(identity_names)) >= 0;
}

const struct config_types *rule_config_types(void)
{
    static const struct config_types types = {.is_sought = feature_is_sought,
                                              .is_counted = feature_is_counted,
                                              .is_trait = trait_is_known,
                                              .is_feature = feature_is_of_message,
                                              .is_identity = is_identity};

    return &types;
}

static bool has_condition(const struct config_conditions *c,
                          const struct config_condition *v)
{
    return c->n > 0 && (uintptr_t)v >= (uintptr_t)c->v &&
           (uintptr_t)v < (uintptr_t)(c->v + c->n);
}

/* The rule that has the condition. */
static const char *rule_name(const struct atoms *a, const struct config_condition *v)
{
    for (size_t i = 0; i < a->config->nrules; i++) {
        const struct config_rule *r = &a->config->rules[i];
        const struct config_condition *brief = &a->set->brief[2 * i];

        if (v == brief || v == brief + 1 || has_condition(&r->all, v) ||
            has_condition(&r->any, v) || has_condition(&r->none, v)) {
            return r->name;
        }
    }
    return "";
}

void atoms_refuse(struct atoms *a, const struct config_condition *v, const char *format,
                  ...)
{
    char text[WHY_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    config_refuse(a->config, a->errors, v->file, v->line,
                  "rules.%s: %s = \"%.80s\": %s", rule_name(a, v),
                  condition_kind_name(v->kind),
                  v->word != NULL      ? v->word
                  : v->pattern != NULL ? v->pattern
                                       : "",
                  text);
}

bool atoms_refuse_nomem(struct atoms *a)
{
    config_refuse(a->config, a->errors, 0, 0, "out of memory");
    return false;
}

bool atoms_begin(struct atoms *a, size_t most)
{
    struct ruleset *s = a->set;

    for (a->nslots = 16; a->nslots < SLOTS_EACH * most;) {
        a->nslots *= 2;
    }
    a->slots = malloc(a->nslots * sizeof(a->slots[0]));
    a->hashes = calloc(most + 1, sizeof(a->hashes[0]));
    s->atoms = calloc(most + 1, sizeof(s->atoms[0]));
    if (a->slots == NULL || a->hashes == NULL || s->atoms == NULL) {
        return atoms_refuse_nomem(a);
    }
    memset(a->slots, 0xff, a->nslots * sizeof(a->slots[0]));
    for (size_t i = 0; i < VALUE_TABLE_TYPES; i++) {
        s->presence[i] = RULE_NONE;
    }
    return true;
}

void atoms_fini(struct atoms *a)
{
    free(a->tests);
    free(a->slots);
    free(a->hashes);
}

/* ---- tests of values ---- */

static bool is_host_like(const struct feature_info *info)
{
    static const char *const names[] = {"url_shortener", "url_redirector", "form_host",
                                        "text_address"};
    struct slice name = slice_str(info->name);

    return info->lookup == FEATURE_LOOKUP_HOST ||
           info->lookup == FEATURE_LOOKUP_ADDRESS ||
           slice_has_suffix_nocase(name, SLICE_LIT("_domain")) ||
           name_index(name, names, LENGTH(names)) >= 0;
}

/* The number of a new test of the atom; RULE_NONE without memory. */
static uint32_t add_test(struct atoms *a, uint32_t atom, const char *pattern)
{
    size_t n = a->set->ntests;

    if (!array_room(&a->tests, &a->tests_room, n + 1, RULE_NONE - 1,
                    sizeof(a->tests[0]))) {
        (void)atoms_refuse_nomem(a);
        return RULE_NONE;
    }
    a->tests[n] = (struct atom_test){atom, pattern};
    a->set->ntests++;
    a->set->atoms[atom].ntests++;
    return (uint32_t)n;
}

static bool index_value(struct atoms *a, uint16_t type, struct slice value,
                        bool is_suffix, uint32_t test)
{
    if (test == RULE_NONE) {
        return false;
    }
    return value_table_add(&a->set->values, type, value, is_suffix, test) ||
           atoms_refuse_nomem(a);
}

static bool add_values(struct atoms *a, uint32_t atom,
                       const struct config_strings *values, bool is_suffix)
{
    uint32_t test = values->n > 0 ? add_test(a, atom, NULL) : RULE_NONE;
    bool ok = true;

    for (size_t i = 0; i < values->n && ok; i++) {
        ok = index_value(a, a->set->atoms[atom].type, slice_str(values->v[i]),
                         is_suffix, test);
    }
    return ok;
}

/* The lines of a set's file. */
static bool add_file(struct atoms *a, size_t set, uint16_t type, uint32_t test)
{
    struct buf text;
    struct errinfo why = {.code = ERR_OK};
    const struct config_value_set *v = &a->config->value_sets[set];
    unsigned file = 0;
    unsigned line = 0;
    unsigned number = 0;
    bool ok = true;

    config_set_place(a->config, set, &file, &line);
    buf_init(&text, RULE_SET_FILE_MAX);
    if (file_read(v->file, &text, &why) != ERR_OK) {
        config_refuse(a->config, a->errors, file, line,
                      "value_sets.%s.file: %.200s: %.200s; a set has at most 16 MiB",
                      v->name, v->file, why.text);
        ok = false;
    }
    for (struct slice rest = buf_slice(&text); ok && rest.n > 0;) {
        struct slice value = slice_trim(slice_cut(&rest, '\n'));

        number++;
        if (value.n > RULE_SET_VALUE_MAX) {
            config_refuse(
                a->config, a->errors, file, line,
                "value_sets.%s.file: line %u of %.200s is longer than 255 bytes; "
                "write one value a line",
                v->name, number, v->file);
            ok = false;
        } else if (value.n > 0 && *value.p != '#') {
            ok = index_value(a, type, value, false, test);
        }
    }
    buf_fini(&text);
    return ok;
}

static bool add_set(struct atoms *a, uint32_t atom, const struct config_condition *v)
{
    const struct config *c = a->config;
    const char *names[256];
    size_t n = 0;
    uint32_t test = RULE_NONE;
    bool ok = true;

    for (size_t i = 0; i < c->nvalue_sets; i++) {
        const struct config_value_set *set = &c->value_sets[i];

        if (strcmp(set->name, v->set) != 0) {
            names[n < LENGTH(names) ? n++ : 0] = set->name;
            continue;
        }
        test = add_test(a, atom, NULL);
        for (size_t k = 0; k < set->values.n && ok; k++) {
            ok = index_value(a, a->set->atoms[atom].type, slice_str(set->values.v[k]),
                             false, test);
        }
        return ok && (set->file == NULL || *set->file == '\0' ||
                      add_file(a, i, a->set->atoms[atom].type, test));
    }
    const char *near = nearest_name(slice_str(v->set), names, n);
    atoms_refuse(a, v, "there is no value set \"%.40s\"%s%s%s", v->set,
                 near != NULL ? "; did you mean \"" : "; write it into value_sets",
                 near != NULL ? near : "", near != NULL ? "\"?" : "");
    return false;
}

static bool add_tests(struct atoms *a, uint32_t atom, const struct config_condition *v)
{
    bool ok = true;

    if (v->kind == CONDITION_TRAIT) {
        return index_value(a, FEATURE_trait, slice_str(v->word), false,
                           add_test(a, atom, NULL));
    }
    ok = add_values(a, atom, &v->values, false) &&
         add_values(a, atom, &v->suffixes, true);
    if (ok && v->set != NULL) {
        ok = add_set(a, atom, v);
    }
    if (ok && v->pattern != NULL) {
        ok = add_test(a, atom, v->pattern) != RULE_NONE;
    }
    if (ok && a->set->atoms[atom].ntests == 0) {
        uint16_t type = a->set->atoms[atom].type;

        a->set->atoms[atom].next_presence = a->set->presence[type];
        a->set->presence[type] = atom;
    }
    return ok;
}

/* ---- atoms ---- */

static bool has_values(enum condition_kind kind)
{
    return kind == CONDITION_FEATURE || kind == CONDITION_TRAIT;
}

static uint32_t make_atom(struct atoms *a, const struct config_condition *v,
                          uint32_t of_rule)
{
    struct ruleset *s = a->set;
    uint32_t i = (uint32_t)s->natoms;
    struct atom *atom = &s->atoms[i];
    const struct feature_info *info = NULL;
    int word = v->word != NULL && v->kind == CONDITION_IDENTITY
                   ? name_index(slice_str(v->word), identity_names, IDENTITY_WORDS)
                   : 0;

    *atom = (struct atom){.from = v,
                          .kind = v->kind,
                          .of_rule = of_rule,
                          .word = word < 0 ? 0 : (unsigned)word,
                          .next_presence = RULE_NONE};
    if (v->kind == CONDITION_FEATURE || condition_is_counted(v->kind)) {
        info = feature_info_by_name(slice_str(v->word));
        if (info == NULL) {
            atoms_refuse(a, v, "this is not a feature type");
            return RULE_NONE;
        }
        atom->type = (uint16_t)info->type;
        s->values.plans[info->type].is_host = is_host_like(info);
    }
    s->natoms++;
    if (v->kind == CONDITION_TRAIT) {
        atom->type = FEATURE_trait;
    }
    return has_values(v->kind) && !add_tests(a, i, v) ? RULE_NONE : i;
}

/* References to a rule differ where one may see a shadow rule and the other not. */
static uint64_t hash_of(const struct config_condition *v, uint32_t of_rule)
{
    struct buf text;
    uint64_t h = 0;

    buf_init(&text, TEXT_MAX);
    condition_text(v, &text);
    buf_printf(&text, " %u", (unsigned)of_rule);
    h = checksum64(buf_slice(&text));
    buf_fini(&text);
    return h;
}

uint32_t atoms_of(struct atoms *a, const struct config_condition *v, uint32_t of_rule)
{
    uint64_t h = hash_of(v, of_rule);
    size_t slot = h & (a->nslots - 1);
    uint32_t made = RULE_NONE;

    for (; a->slots[slot] != RULE_NONE; slot = (slot + 1) & (a->nslots - 1)) {
        if (a->hashes[a->slots[slot]] == h) {
            return a->slots[slot];
        }
    }
    made = make_atom(a, v, of_rule);
    if (made != RULE_NONE) {
        a->slots[slot] = made;
        a->hashes[made] = h;
    }
    return made;
}

/* ---- patterns ---- */

/* Sources of one type, or of the text, and the atom of each. */
struct sources {
    struct atoms *a;
    struct pattern_cache *cache; /* NULL: not read yet, or none */
    bool is_read;
    size_t n;
    struct pattern_source *v;
    uint32_t *atoms;
};

static void on_refused(void *context, size_t i, const char *why)
{
    const struct sources *s = context;
    const struct config_condition *v = s->a->set->atoms[s->atoms[i]].from;

    config_refuse(s->a->config, s->a->errors, v->file, v->line,
                  "rules.%s: %s = \"%.80s\": %s", rule_name(s->a, v),
                  v->kind == CONDITION_TEXT ? "text" : "pattern", v->pattern, why);
}

static bool compile_sources(struct sources *s, bool is_text, struct pattern_set **ret)
{
    struct ruleset_stat *stat = &s->a->set->stat;
    size_t fast = 0;
    size_t slow = 0;

    if (s->n == 0) {
        return true;
    }
    if (!s->is_read) {
        s->cache = pattern_cache_read(s->a->config->state_dir);
        s->is_read = true;
    }
    *ret = pattern_set_new(s->v, s->n, is_text, s->cache, on_refused, s);
    if (*ret == NULL) {
        return false;
    }
    stat->is_cached = stat->is_cached && pattern_set_is_cached(*ret);
    pattern_set_counts(*ret, &fast, &slow);
    stat->patterns += fast;
    stat->slow_patterns += slow;
    return pattern_work_grow(s->a->set->model, *ret) || atoms_refuse_nomem(s->a);
}

static void add_source(struct sources *s, const char *text, uint32_t id, uint32_t atom)
{
    s->v[s->n] = (struct pattern_source){text, id};
    s->atoms[s->n++] = atom;
}

static bool compile_type(struct sources *s, uint16_t type)
{
    const struct atoms *a = s->a;

    s->n = 0;
    for (size_t i = 0; i < a->set->ntests; i++) {
        if (a->tests[i].pattern != NULL &&
            a->set->atoms[a->tests[i].atom].type == type) {
            add_source(s, a->tests[i].pattern, (uint32_t)i, a->tests[i].atom);
        }
    }
    return compile_sources(s, false, &a->set->patterns[type]);
}

static bool compile_text(struct sources *s)
{
    s->n = 0;
    for (size_t i = 0; i < s->a->set->natoms; i++) {
        const struct atom *atom = &s->a->set->atoms[i];

        if (atom->kind == CONDITION_TEXT) {
            add_source(s, atom->from->pattern, (uint32_t)i, (uint32_t)i);
        }
    }
    return compile_sources(s, true, &s->a->set->text);
}

static bool has_patterns(const struct atoms *a, uint16_t type)
{
    for (size_t i = 0; i < a->set->ntests; i++) {
        if (a->tests[i].pattern != NULL &&
            a->set->atoms[a->tests[i].atom].type == type) {
            return true;
        }
    }
    return false;
}

static bool compile_patterns(struct atoms *a)
{
    size_t most = a->set->ntests + a->set->natoms + 1;
    struct sources s = {.a = a,
                        .v = calloc(most, sizeof(s.v[0])),
                        .atoms = calloc(most, sizeof(s.atoms[0]))};
    bool ok = s.v != NULL && s.atoms != NULL;

    if (!ok) {
        (void)atoms_refuse_nomem(a);
    }
    for (uint16_t type = 0; s.v != NULL && s.atoms != NULL && type < VALUE_TABLE_TYPES;
         type++) {
        ok = (!has_patterns(a, type) || compile_type(&s, type)) && ok;
    }
    ok = s.v != NULL && s.atoms != NULL && compile_text(&s) && ok;
    pattern_cache_free(&s.cache);
    free(s.v);
    free(s.atoms);
    return ok;
}

/* Sets the states of a message without features, and lists the atoms to look at in each one. */
static void sort_atoms(struct ruleset *s)
{
    for (uint32_t i = 0; i < s->natoms; i++) {
        const struct atom *atom = &s->atoms[i];

        if (atom->kind == CONDITION_COUNTED) {
            s->counts_type[atom->type] = true;
        }
        if (has_values(atom->kind)) {
            s->initial[i] = atom->from->least == 0 ? IS_TRUE : IS_FALSE;
        } else if (atom->kind != CONDITION_TEXT) {
            s->facts[s->nfacts++] = i;
        }
    }
}

bool atoms_end(struct atoms *a)
{
    struct ruleset *s = a->set;
    size_t npatterns = 0;

    s->tests = calloc(s->ntests + 1, sizeof(s->tests[0]));
    s->initial = calloc(s->natoms + 1, sizeof(s->initial[0]));
    s->facts = calloc(s->natoms + 1, sizeof(s->facts[0]));
    if (s->tests == NULL || s->initial == NULL || s->facts == NULL ||
        !value_table_end(&s->values)) {
        return atoms_refuse_nomem(a);
    }
    sort_atoms(s);
    for (size_t i = 0; i < s->ntests; i++) {
        s->tests[i] = a->tests[i].atom;
        npatterns += a->tests[i].pattern != NULL;
    }
    if (npatterns > RULE_PATTERNS_MAX) {
        config_refuse(
            a->config, a->errors, 0, 0,
            "rules: more than 10000 patterns; put fixed values into value_sets");
        return false;
    }
    s->stat.atoms = s->natoms;
    s->stat.is_cached = true;
    return compile_patterns(a);
}
