#include "core/verdict/user/user_verdict.h"

#include <math.h>

#include "core/verdict/user/user_settings.h"

enum { DETAIL_MAX = 160 };

/* What the message comes to for one recipient. */
struct opinion {
    enum action action;
    double score;
    double required;
    enum user_sender sender;
};

struct judging {
    const struct user_case *c;
    const struct verdict *v; /* of the site */
    struct users_view *view; /* NULL: no table */
    struct allow_case message;
    bool is_unknown; /* the settings of a recipient are not known */
    size_t nown;     /* recipients with settings of their own */
    size_t nsite;    /* and without */
    bool disagrees;
    struct opinion first;
    enum action mildest;           /* of all opinions so far */
    struct user_settings settings; /* of the recipient at hand */
    struct user_settings of_first;
};

/* ---- one recipient ---- */

static enum action action_at(const double threshold[ACTION_COUNT], double score)
{
    enum action ret = ACTION_ACCEPT;

    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        ret = score >= threshold[a] ? (enum action)a : ret;
    }
    return ret;
}

static enum action milder(enum action a, enum action b)
{
    return a < b ? a : b;
}

static enum action harsher(enum action a, enum action b)
{
    return a > b ? a : b;
}

/* As for the site: bulk rules alone lead to bulk_alone at most, and values that lack a quorum of
 * peers to a header. */
static enum action judge_score(const struct config *config,
                               const struct user_settings *s,
                               const double part[SYMBOL_KINDS], double *retscore)
{
    double firm = part[SYMBOL_FIRM];
    double with_bulk = firm + part[SYMBOL_BULK];
    double all = with_bulk + part[SYMBOL_UNSURE];
    enum action ret = action_at(s->threshold, firm);

    ret = harsher(ret, milder(action_at(s->threshold, with_bulk), config->bulk_alone));
    *retscore = all;
    return harsher(ret, milder(action_at(s->threshold, all), ACTION_HEADER));
}

static double required_for(const struct user_settings *s, enum action action)
{
    double ret = action == ACTION_ACCEPT ? HUGE_VAL : s->threshold[action];

    for (unsigned a = ACTION_HEADER; action == ACTION_ACCEPT && a < ACTION_COUNT; a++) {
        ret = fmin(ret, s->threshold[a]);
    }
    return ret;
}

static struct opinion opinion_of(const struct judging *j, const struct user_settings *s)
{
    struct opinion o = {.sender = s->sender};
    double part[SYMBOL_KINDS] = {0};

    for (size_t i = 0; i < j->v->nsymbols && s->sender != USER_SENDER_ALLOWED; i++) {
        const struct symbol *symbol = &j->v->symbols[i];
        part[symbol->kind] += user_settings_score(s, j->c->config, symbol);
    }
    if (s->sender == USER_SENDER_BLOCKED) {
        part[SYMBOL_FIRM] += j->c->config->block_score;
    }
    o.action = judge_score(j->c->config, s, part, &o.score);
    if (s->sender == USER_SENDER_ALLOWED ||
        (j->v->allow != NULL && s->sender == USER_SENDER_NEUTRAL)) {
        o.action = ACTION_ACCEPT;
        o.score = 0;
    }
    o.required = required_for(s, o.action);
    return o;
}

static struct opinion site_opinion(const struct judging *j)
{
    return (struct opinion){.action = j->v->action,
                            .score = j->v->score,
                            .required = verdict_required(j->c->config, j->v->action)};
}

/* ---- settings of one recipient ---- */

static const struct config_strings *set_of(const struct config *config,
                                           struct slice name)
{
    for (size_t i = 0; i < config->nusers; i++) {
        if (slice_eq(slice_str(config->users[i].name), name)) {
            return &config->users[i].set;
        }
    }
    return NULL;
}

/* One level, by its name. False: nothing is set there. */
static bool take_level(struct judging *j, struct slice name)
{
    const struct config_strings *set = set_of(j->c->config, name);
    struct slice words = SLICE_NONE;
    enum err e = j->view == NULL ? ERR_NOT_FOUND : users_find(j->view, name, &words);

    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        j->settings.is_damaged = true;
    }
    if (e == ERR_NOT_FOUND && set == NULL) {
        return false;
    }
    user_settings_take(&j->settings, &j->message, e == ERR_OK ? words : SLICE_NONE,
                       set);
    return true;
}

/* Domain, then user. False: the site's settings apply. */
static bool settings_of(struct judging *j, struct slice rcpt)
{
    char name[USER_NAME_MAX + 1];

    if (user_name_tidy(rcpt, name) != NULL) {
        return false; /* no name that could have settings */
    }
    const char *domain = strrchr(name, '@');
    bool has_own = take_level(j, slice_str(domain));
    bool is_user = domain != name && take_level(j, slice_str(name));

    if (!is_user && user_name_drop_extension(name)) {
        is_user = take_level(j, slice_str(name));
    }
    user_settings_end(&j->settings);
    return has_own || is_user || j->settings.is_damaged;
}

/* ---- all recipients ---- */

static bool is_same(const struct opinion *a, const struct opinion *b)
{
    return a->action == b->action && a->score == b->score &&
           (a->required == b->required) && a->sender == b->sender;
}

static void hear(struct judging *j, struct opinion o, const struct user_settings *s)
{
    if (j->nown + j->nsite == 0) {
        j->first = o;
        j->mildest = o.action;
        if (s != NULL) {
            j->of_first = *s;
        }
    }
    j->disagrees = j->disagrees || !is_same(&o, &j->first);
    j->mildest = milder(j->mildest, o.action);
}

static void hear_recipient(struct judging *j, struct slice rcpt)
{
    if (j->nown == USER_RECIPIENTS_MAX) {
        j->is_unknown = true;
        return;
    }
    user_settings_begin(&j->settings, j->c->config);
    if (!settings_of(j, rcpt)) {
        if (j->nsite == 0) {
            hear(j, site_opinion(j), NULL);
        }
        j->nsite++;
        return;
    }
    j->is_unknown = j->is_unknown || j->settings.is_damaged;
    hear(j, opinion_of(j, &j->settings), &j->settings);
    j->nown++;
}

/* ---- the verdict ---- */

static void add_sender_symbol(const struct judging *j, struct verdict *v)
{
    const struct user_settings *s = &j->of_first;

    if (s->sender == USER_SENDER_BLOCKED) {
        verdict_add_symbol(v, "BLOCK", "", j->c->config->block_score,
                           arena_copy(j->c->arena, slice_head(s->value, DETAIL_MAX)));
    } else if (s->sender == USER_SENDER_ALLOWED && v->allow == NULL) {
        v->allow = "recipient";
        verdict_add_word(v, "ALLOW_", v->allow,
                         arena_copy(j->c->arena, slice_head(s->value, DETAIL_MAX)));
    }
}

/* All recipients with settings agree, and nobody is without. */
static void take_first(const struct judging *j, struct verdict *v)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        struct symbol *s = &v->symbols[i];
        s->score = j->first.sender == USER_SENDER_ALLOWED
                       ? 0
                       : user_settings_score(&j->of_first, j->c->config, s);
    }
    add_sender_symbol(j, v);
    v->action = j->first.action;
    v->score = j->first.score;
    v->required = j->first.required;
}

/* The mildest action that loses or delays mail; else the mark of the site. */
static void take_mildest(const struct judging *j, struct verdict *v)
{
    char text[DETAIL_MAX];
    enum action site = v->action;

    v->action = j->is_unknown ? ACTION_ACCEPT : j->mildest;
    if (v->action <= ACTION_HEADER) {
        v->action = milder(site, ACTION_HEADER);
    }
    (void)snprintf(
        text, sizeof(text),
        "%zu recipients with settings of their own; by those of the site: %s", j->nown,
        action_name(site));
    verdict_add_word(v, "RECIPIENTS_DISAGREE", "",
                     arena_copy(j->c->arena, slice_str(text)));
}

void users_judge(const struct user_case *c, struct verdict *v)
{
    struct judging j = {
        .c = c, .v = v, .message = {c->config, c->features, c->context}};

    j.view = users_acquire(c->users);
    if (j.view == NULL && c->config->nusers == 0) {
        return;
    }
    for (size_t i = 0; i < c->nrcpt; i++) {
        hear_recipient(&j, c->rcpt[i]);
    }
    j.is_unknown = j.is_unknown || c->nall > EXTRACT_RECIPIENTS ||
                   (v->limits & LIMIT_FLAG(memory)) != 0;
    if (j.is_unknown || j.disagrees) {
        take_mildest(&j, v);
    } else if (j.nown > 0) {
        take_first(&j, v);
    }
    users_release(c->users, &j.view);
}

void users_thresholds(const struct config *config, struct users *users,
                      struct slice name, double ret[ACTION_COUNT])
{
    struct arena *arena = arena_new(1 << 12);
    struct featureset *nothing = arena == NULL ? NULL : featureset_new(arena, 1);
    const struct verdict_context context = {.auth = NULL};
    const struct user_case c = {.config = config, .users = users};
    struct judging j = {.c = &c, .message = {config, nothing, &context}};

    user_settings_begin(&j.settings, config);
    if (nothing != NULL) {
        j.view = users_acquire(users);
        (void)settings_of(&j, name);
        users_release(users, &j.view);
    }
    memcpy(ret, j.settings.threshold, sizeof(j.settings.threshold));
    arena_free(&arena);
}
