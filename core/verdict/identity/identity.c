#include "core/verdict/identity/identity.h"

#include "core/verdict/identity/proof.h"

static const char *const names[IDENTITY_WORDS] = {
#define IDENTITY(name, help) [IDENTITY_##name] = #name,
#include "core/verdict/identity/identity.def"
#undef IDENTITY
};

const char *identity_name(unsigned word)
{
    return word < IDENTITY_WORDS ? names[word] : NULL;
}

static void say(struct identity *i, enum identity_word word, bool is_so)
{
    i->words |= is_so ? UINT64_C(1) << word : 0;
}

/* ---- results ---- */

static void say_results(const struct extract_auth *a, struct identity *ret)
{
    say(ret, IDENTITY_results, a->has_results);
    say(ret, IDENTITY_spf_pass, a->spf == AUTH_PASS);
    say(ret, IDENTITY_spf_fail, a->spf == AUTH_FAIL || a->spf == AUTH_SOFTFAIL);
    say(ret, IDENTITY_dkim_pass, a->dkim == AUTH_PASS);
    say(ret, IDENTITY_dkim_fail,
        a->dkim == AUTH_FAIL || a->dkim == AUTH_NEUTRAL || a->dkim == AUTH_POLICY ||
            a->dkim == AUTH_PERMERROR);
    say(ret, IDENTITY_dmarc_pass, a->dmarc == AUTH_PASS);
    say(ret, IDENTITY_dmarc_fail, a->dmarc == AUTH_FAIL);
    say(ret, IDENTITY_arc_pass, a->arc == AUTH_PASS);
}

/* The address in From when there is one, or NULL. */
static const struct feature *only_from(const struct featureset *set)
{
    return featureset_count_type(set, FEATURE_from) == 1
               ? featureset_first(set, FEATURE_from)
               : NULL;
}

static void say_proof(const struct identity_case *c, struct identity *ret)
{
    const struct feature *from = featureset_first(c->features, FEATURE_from);
    const struct feature *domain = featureset_first(c->features, FEATURE_from_domain);

    say(ret, IDENTITY_aligned, proof_is_aligned(c->features, c->auth));
    if (from == NULL || domain == NULL ||
        !proof_covers(c->features, c->auth, proof_domain_of(from->text))) {
        return;
    }
    say(ret, IDENTITY_proved, true);
    ret->domain = domain->text;
}

/* ---- the store ---- */

static bool is_answer(const struct identity_case *c, struct slice from)
{
    const struct extract_conversation *v = c->conversation;

    for (unsigned i = 0; i < v->nreferences; i++) {
        if (contacts_sent_id(c->contacts, v->reference[i], from)) {
            return true;
        }
    }
    return false;
}

static bool is_correspondent(const struct identity_case *c, struct slice from)
{
    for (size_t i = 0; i < c->nrcpt; i++) {
        if (contacts_wrote(c->contacts, c->rcpt[i], from)) {
            return true;
        }
    }
    return false;
}

static void say_contacts(const struct identity_case *c, struct identity *ret)
{
    const struct feature *from = only_from(c->features);
    const struct feature *domain = featureset_first(c->features, FEATURE_from_domain);

    if (c->contacts == NULL) {
        return;
    }
    if (domain != NULL) {
        say(ret, IDENTITY_first_contact,
            !contacts_has_domain(c->contacts, domain->text));
    }
    if (from != NULL) {
        say(ret, IDENTITY_correspondent, is_correspondent(c, from->text));
        say(ret, IDENTITY_answer, is_answer(c, from->text));
    }
}

/* ---- the kind of mail ---- */

/* By the sketch, which hardly ever counts too few senders: a text of several is never taken for the
 * text of one. */
static bool has_own_text(const struct message_counts *counts)
{
    bool has_text = false;

    for (size_t i = 0; counts != NULL && i < counts->n; i++) {
        const struct counted *v = &counts->v[i];
        if (v->feature->type != FEATURE_text || !v->has_distinct) {
            continue;
        }
        if (v->distinct[DISTINCT_SENDER] > 1) {
            return false;
        }
        has_text = true;
    }
    return has_text;
}

static void say_kind(const struct identity_case *c, struct identity *ret)
{
    const struct extract_conversation *v = c->conversation;

    say(ret, IDENTITY_bounce, c->has_empty_sender);
    say(ret, IDENTITY_automatic, v->is_automatic || v->is_list || c->has_empty_sender);
    say(ret, IDENTITY_newsletter,
        identity_has(ret, IDENTITY_proved) && v->has_unsubscribe &&
            has_own_text(c->counts));
}

void identity_make(const struct identity_case *c, struct identity *ret)
{
    *ret = (struct identity){.words = 0};
    say_results(c->auth, ret);
    say_proof(c, ret);
    say_contacts(c, ret);
    say_kind(c, ret);
}

/* ---- learning ---- */

/* Whether a signature of the list's own domain was good: anybody can write List-Post. */
static bool is_own_list(const struct identity_case *c)
{
    const struct slice domain = proof_domain_of(c->conversation->list_post);

    for (unsigned i = 0; domain.n > 0 && i < c->auth->nsigners; i++) {
        if (slice_is_at_or_below(domain, c->auth->signer[i])) {
            return true;
        }
    }
    return false;
}

void identity_learn(const struct identity_case *c)
{
    const struct feature *domain = featureset_first(c->features, FEATURE_from_domain);

    if (c->contacts == NULL) {
        return;
    }
    if (domain != NULL &&
        featureset_count_type(c->features, FEATURE_from_domain) == 1) {
        (void)contacts_learn_domain(c->contacts, domain->text);
    }
    if (is_own_list(c)) {
        (void)contacts_learn_list(c->contacts, c->conversation->list_post);
    }
}
