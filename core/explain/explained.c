#include "core/explain/explained.h"

#include <arpa/inet.h>
#include <math.h>

#include "core/base/clock.h"
#include "core/verdict/journal/message_row.h"
#include "core/verdict/verdict.h"

enum { US_PER_S = 1000000, SENTENCE_SYMBOLS = 4 };
_Static_assert((int)EXPLAINED_ADDRESS_MAX >= (int)INET6_ADDRSTRLEN, "any address fits");

/* ---- where entries came from ---- */

bool explained_find_entry(const struct explain_lists *l, const struct record_hit *h,
                          struct explained_entry *ret)
{
    struct query_result r = {.n = 0};

    if (l->lists == NULL || h->value.n == 0) {
        return false;
    }
    query_begin(l->batch, l->lists);
    if (query_add(l->batch, h->value, FEATURE_NONE, NULL) != ERR_OK) {
        return false;
    }
    query_test(l->batch);
    if (query_answer(l->batch, 0, clock_wall_us() / US_PER_S, &r) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < r.n; i++) {
        const struct query_list *list = &l->lists->v[r.v[i].list];
        if (r.v[i].answer == LIST_CONFIRMED &&
            slice_eq(slice_str(list_reader_name(list->reader)), h->list) &&
            slice_eq(slice_str(list->origin), h->origin)) {
            *ret = (struct explained_entry){r.v[i].from, r.result.rating};
            return true;
        }
    }
    return false;
}

void explained_add_entry(const struct explain_lists *l, const struct record_hit *h,
                         struct buf *ret)
{
    struct explained_entry now;
    char first[CLOCK_TEXT_MAX];
    char expiry[CLOCK_TEXT_MAX];

    if (h->answer != LIST_CONFIRMED) {
        return;
    }
    if (!explained_find_entry(l, h, &now)) {
        buf_add_str(ret, "no longer listed");
    } else if (now.from.is_member) {
        buf_add_str(ret, "known from a peer's filter alone");
    } else {
        buf_printf(ret, "listed since %s, expires %s, source %s",
                   clock_text(now.from.first_seen_s, first),
                   clock_text(now.from.expiry_s, expiry),
                   *now.from.source == '\0' ? "unknown" : now.from.source);
    }
}

/* ---- the sentence ---- */

static const char *past_of(unsigned action)
{
    static const char *const words[ACTION_COUNT] = {
        "Accepted", "Marked", "Quarantined", "Deferred", "Rejected", "Discarded"};
    return action < ACTION_COUNT ? words[action] : "Judged";
}

/* The score that its action needs, or the mildest action for an accepted message. */
static double required_of(const struct record *r)
{
    double required = r->threshold[r->wanted];

    for (unsigned a = ACTION_HEADER; r->wanted == ACTION_ACCEPT && a < ACTION_COUNT;
         a++) {
        required =
            a == ACTION_HEADER ? r->threshold[a] : fmin(required, r->threshold[a]);
    }
    return required;
}

/* "list phish", or "BULK_REPLICA" */
static void add_cause(const struct explain_lists *l, const struct record *r,
                      const struct record_symbol *symbol, struct buf *ret)
{
    struct slice name = symbol->name;

    buf_printf(ret, "%.1f from %.*s", symbol->score, SLICE_ARGS(name));
    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        struct slice rest = slice_from(name, strlen("LIST_"));
        if (slice_has_prefix(name, SLICE_LIT("LIST_")) &&
            slice_eq_nocase(rest, h->list) && h->answer == LIST_CONFIRMED) {
            ret->n -= name.n;
            buf_printf(ret, "list %.*s (%s %.*s, ", SLICE_ARGS(h->list),
                       feature_type_name(h->type), SLICE_ARGS(h->value));
            explained_add_entry(l, h, ret);
            buf_add_char(ret, ')');
            return;
        }
    }
    if (symbol->detail.n > 0) {
        buf_printf(ret, " (%.*s)", SLICE_ARGS(symbol->detail));
    }
}

/* Why a message has no score. */
static void add_unjudged(const struct record *r, struct buf *ret)
{
    const char *whose =
        r->is_authenticated ? "of a login" : "from a network of trusted_networks";

    if (r->is_outgoing) {
        buf_printf(ret, "outgoing mail %s is never judged", whose);
    } else if (slice_eq(r->unjudged, SLICE_LIT("sessions"))) {
        buf_add_str(ret, "it was not examined, because limits.sessions was met");
    } else if (r->is_authenticated || slice_eq(r->unjudged, SLICE_LIT("network"))) {
        buf_printf(ret, "mail %s is not examined (outgoing = false)", whose);
    } else {
        buf_printf(ret, "it was not examined (%.*s), so on_error decided",
                   SLICE_ARGS(r->unjudged));
    }
    if (r->wanted > ACTION_ACCEPT && r->is_outgoing) {
        buf_add_str(ret, "; the login wrote to more strangers than account.recipients");
    }
    if (r->done != r->wanted) {
        buf_printf(ret, "; the MTA could not %s", action_name((enum action)r->wanted));
    }
}

void explained_sentence(const struct explain_lists *l, const struct record *r,
                        struct buf *ret)
{
    bool is_held = explained_is_embargoed(r);
    /* the record has no threshold of embargo: that of the configuration */
    double required = is_held ? l->config->embargo.threshold : required_of(r);
    const struct record_symbol *symbol = NULL;

    buf_printf(ret, "%s: ", is_held ? "Embargoed" : past_of(r->done));
    if (r->unjudged.n > 0) {
        add_unjudged(r, ret);
        return;
    }
    if (r->allow.n > 0) {
        buf_printf(ret, "let through by allow (%.*s); its score does not count",
                   SLICE_ARGS(r->allow));
        return;
    }
    if (isfinite(required)) {
        buf_printf(ret, "%.1f of %.1f", r->score, required);
    } else {
        buf_printf(ret, "%.1f, and no threshold is set", r->score);
    }
    for (size_t i = 0; i < SENTENCE_SYMBOLS; i++) {
        symbol = message_row_symbol(r->symbol, r->nsymbols, i);
        if (symbol != NULL) {
            buf_add_str(ret, i == 0 ? "; " : ", ");
            add_cause(l, r, symbol, ret);
        }
    }
    if (message_row_symbol(r->symbol, r->nsymbols, SENTENCE_SYMBOLS) != NULL) {
        buf_add_str(ret, ", and more");
    }
    if (message_row_symbol(r->symbol, r->nsymbols, 0) == NULL) {
        buf_add_str(ret, "; nothing scored");
    }
    if (r->done != r->wanted && !is_held) {
        buf_printf(ret, "; the MTA could not %s", action_name((enum action)r->wanted));
    }
}

/* ---- words ---- */

const char *explained_opinion(enum report_opinion o)
{
    return o == REPORT_SPAM ? "spam" : o == REPORT_HAM ? "ham" : NULL;
}

const char *explained_client(const struct record *r, char ret[EXPLAINED_ADDRESS_MAX])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_v4 = memcmp(r->addr, mapped, sizeof(mapped)) == 0;

    if (!r->has_addr || inet_ntop(is_v4 ? AF_INET : AF_INET6,
                                  is_v4 ? r->addr + sizeof(mapped) : r->addr, ret,
                                  INET6_ADDRSTRLEN) == NULL) {
        (void)snprintf(ret, INET6_ADDRSTRLEN, "unknown");
    }
    return ret;
}
