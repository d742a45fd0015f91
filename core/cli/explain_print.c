#include "core/cli/explain_print.h"

#include <arpa/inet.h>
#include <math.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/cli/print.h"
#include "core/list/rating_input.h"
#include "core/verdict/journal/message_row.h"
#include "core/verdict/verdict.h"

enum { US_PER_S = 1000000, SENTENCE_SYMBOLS = 4, NOTE = 400 };

/* ---- where entries came from ---- */

static struct query_list query_list_of(const struct state_lists *lists, size_t i)
{
    const struct rating_sources voices = {.config = lists->config, .view = lists->hits};
    const struct list_reader *r = lists->v[i];
    const char *origin = i < lists->nown ? NULL : lists->origin[i];

    return (struct query_list){
        .reader = r,
        .origin = origin,
        .share = ask_share(lists->config, slice_str(list_reader_name(r)), origin),
        .may_revoke = origin != NULL && lists->is_same_owner[i],
        .voice = rating_input_of(&voices, r)};
}

void explain_sources_open(struct cli *cli, struct explain_sources *ret)
{
    char *none[] = {NULL};

    *ret = (struct explain_sources){.cli = cli};
    int status = state_open_lists(cli, none, &ret->lists);
    THEN(status, state_open_peers(cli, &ret->lists));
    ret->batch = query_new();
    ret->v = calloc(ret->lists.n + 1, sizeof(*ret->v));
    ret->is_open = status == 0 && ret->batch != NULL && ret->v != NULL;
    for (size_t i = 0; ret->is_open && i < ret->lists.n; i++) {
        ret->v[i] = query_list_of(&ret->lists, i);
    }
    ret->query = (struct query_lists){.v = ret->v,
                                      .n = ret->lists.n,
                                      .nown = ret->lists.nown,
                                      .nlists = ret->lists.nlists,
                                      .config = ret->lists.config,
                                      .derived = ret->lists.derived};
}

void explain_sources_close(struct explain_sources *s)
{
    query_free(&s->batch);
    free(s->v);
    state_close_lists(&s->lists);
}

/* Looks the hit's entry up in its list as it is now. False: the list no longer has it. */
static bool find_entry(struct explain_sources *s, const struct record_hit *h,
                       struct list_provenance *ret)
{
    struct query_result r = {.n = 0};

    if (!s->is_open || h->value.n == 0) {
        return false;
    }
    query_begin(s->batch, &s->query);
    if (query_add(s->batch, h->value, FEATURE_NONE, NULL) != ERR_OK) {
        return false;
    }
    query_test(s->batch);
    if (query_answer(s->batch, 0, clock_wall_us() / US_PER_S, &r) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < r.n; i++) {
        const struct query_list *list = &s->v[r.v[i].list];
        if (r.v[i].answer == LIST_CONFIRMED &&
            slice_eq(slice_str(list_reader_name(list->reader)), h->list) &&
            slice_eq(slice_str(list->origin), h->origin)) {
            *ret = r.v[i].from;
            return true;
        }
    }
    return false;
}

/* "listed since 2026-11-20T10:00:00Z, source feed phish" */
static void print_entry(struct explain_sources *s, const struct record_hit *h,
                        struct buf *ret)
{
    struct list_provenance from;
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    if (h->answer != LIST_CONFIRMED) {
        return;
    }
    if (!find_entry(s, h, &from)) {
        buf_add_str(ret, "no longer listed");
    } else if (from.is_member) {
        buf_add_str(ret, "known from a peer's filter alone");
    } else {
        buf_printf(ret, "listed since %s, expires %s, source %s",
                   text_time(from.first_seen_s, first),
                   text_time(from.expiry_s, expiry),
                   *from.source == '\0' ? "unknown" : from.source);
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
static void add_cause(struct explain_sources *s, const struct record *r,
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
            print_entry(s, h, ret);
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

static void make_sentence(struct explain_sources *s, const struct record *r,
                          struct buf *ret)
{
    bool is_held = explain_is_embargoed(r);
    /* the record has no threshold of embargo: that of the configuration */
    double required = is_held ? s->cli->config->embargo.threshold : required_of(r);
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
            add_cause(s, r, symbol, ret);
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

/* ---- text ---- */

static const char *opinion_name(enum report_opinion o)
{
    return o == REPORT_SPAM ? "spam" : o == REPORT_HAM ? "ham" : NULL;
}

static const char *address_of(const struct record *r, char ret[INET6_ADDRSTRLEN])
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

static void print_text(const char *what, struct slice s)
{
    if (s.n > 0) {
        (void)fputs(what, stdout);
        text_print(stdout, s, EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
}

static void print_envelope(const struct explained *e)
{
    const struct record *r = e->record;
    char when[TEXT_TIME_MAX];
    char id[CASE_ID_SIZE];
    char address[INET6_ADDRSTRLEN];

    if (e->file.n == 0) {
        printf("  case %s at %s, queue id ", case_id_print(r->case_id, id),
               text_time(r->time_us / US_PER_S, when));
        text_print(stdout, r->queue_id, EVIDENCE_SHOWN);
        printf(", %" PRIu64 " us\n", r->us);
    }
    printf("  client %s, %s%s, %" PRIu64 " bytes, %u recipient%s\n",
           address_of(r, address), r->is_outgoing ? "outgoing" : "incoming",
           r->is_authenticated ? ", logged in" : "", r->bytes, (unsigned)r->nrcpt,
           r->nrcpt == 1 ? "" : "s");
    print_text("  envelope sender ", r->from);
    print_text("  From ", r->header_from);
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        print_text("  recipient ", r->rcpt[i]);
    }
    print_text("  subject ", r->subject);
    if (r->is_erased) {
        puts("  some texts were erased by `gillnet journal forget`");
    }
    if (!r->has_texts) {
        puts("  its texts are damaged");
    }
}

static void print_hits(struct explain_sources *s, const struct explained *e)
{
    const struct record *r = e->record;

    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        struct slice answer = journal_name(e->names, JOURNAL_ANSWER, h->answer);
        struct slice silence = journal_name(e->names, JOURNAL_SILENCE, h->silence);
        struct buf entry;

        buf_init(&entry, NOTE);
        print_entry(s, h, &entry);
        printf("  list %.*s%s%.*s: %s ", SLICE_ARGS(h->list),
               h->origin.n > 0 ? " of " : "", SLICE_ARGS(h->origin),
               feature_type_name(h->type));
        text_print(stdout, h->value, EVIDENCE_SHOWN);
        printf(" %.*s%s%.*s, category %.*s, weight %g", SLICE_ARGS(answer),
               silence.n > 0 ? ", " : "", SLICE_ARGS(silence), SLICE_ARGS(h->category),
               h->weight * h->factor);
        if (entry.n > 0) {
            (void)fputs("; ", stdout);
            text_print(stdout, buf_slice(&entry), NOTE);
        }
        (void)putchar('\n');
        buf_fini(&entry);
    }
}

static void print_words(const struct explained *e)
{
    const struct record *r = e->record;

    for (size_t i = 0; i < r->ntraits; i++) {
        print_text("  trait ", journal_name(e->names, JOURNAL_TRAIT, r->trait[i]));
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        if ((r->identity >> bit & 1) != 0) {
            print_text("  identity ", journal_name(e->names, JOURNAL_IDENTITY, bit));
        }
        if ((r->limits >> bit & 1) != 0) {
            print_text("  limit ", journal_name(e->names, JOURNAL_LIMIT, bit));
        }
    }
}

static void print_record_counts(const struct record *r)
{
    for (size_t i = 0; i < r->ncounts; i++) {
        const struct record_count *c = &r->count[i];
        printf("  count %s %08x ", feature_type_name(c->type), (unsigned)c->digest);
        counted_print_windows(c->w);
        for (unsigned kind = 0; c->has_distinct && kind < RECORD_DISTINCTS; kind++) {
            printf(", %" PRIu64 " %s", c->distinct[kind], count_distinct_name(kind));
        }
        (void)putchar('\n');
    }
}

static void print_change(void *context, const char *what)
{
    (void)context;
    printf("  %s\n", what);
}

static void print_explained(struct explain_sources *s, const struct explained *e)
{
    const struct record *r = e->record;
    struct buf sentence;

    buf_init(&sentence, TEXT_LINE_MAX);
    make_sentence(s, r, &sentence);
    if (e->file.n > 0) {
        text_print(stdout, e->file, FILENAME_MAX);
        (void)fputs(": ", stdout);
    }
    text_print(stdout, buf_slice(&sentence), TEXT_LINE_MAX);
    (void)putchar('\n');
    buf_fini(&sentence);
    print_envelope(e);
    if (opinion_name(e->reported) != NULL) {
        printf("  reported as %s\n", opinion_name(e->reported));
    }
    puts("evidence:");
    for (size_t i = 0; i < r->nsymbols; i++) {
        printf("  %.*s %g ", SLICE_ARGS(r->symbol[i].name), r->symbol[i].score);
        text_print(stdout, r->symbol[i].detail, EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
    print_hits(s, e);
    print_words(e);
    print_record_counts(r);
    if (r->is_cut) {
        puts("  more evidence than a record holds");
    }
    if (r->unjudged.n == 0) {
        puts("what would change the verdict:");
        explain_each_change(s, r, print_change, NULL);
    }
}

/* ---- JSON ---- */

static json_t *symbols_json(const struct record *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        (void)json_array_append_new(
            array, json_pack("{s:o, s:f, s:o}", "name", json_text(s->name), "score",
                             s->score, "detail", json_text(s->detail)));
    }
    return array;
}

static json_t *record_hits_json(struct explain_sources *s, const struct explained *e)
{
    json_t *array = json_array();

    for (size_t i = 0; i < e->record->nhits; i++) {
        const struct record_hit *h = &e->record->hit[i];
        struct list_provenance from = {.first_seen_s = 0};
        char first[TEXT_TIME_MAX];
        bool is_there = find_entry(s, h, &from);
        (void)json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:f, s:b, s:s*, s:o*}", "list",
                      json_text(h->list), "origin", json_text(h->origin), "category",
                      json_text(h->category), "type", feature_type_name(h->type),
                      "value", json_text(h->value), "status",
                      json_text(journal_name(e->names, JOURNAL_ANSWER, h->answer)),
                      "weight", h->weight * h->factor, "listed_now", (int)is_there,
                      "first_seen",
                      is_there ? text_time(from.first_seen_s, first) : NULL, "source",
                      is_there ? json_text(slice_str(from.source)) : NULL));
    }
    return array;
}

static json_t *bits_json(const struct explained *e, enum journal_name kind,
                         uint64_t bits)
{
    json_t *array = json_array();

    for (unsigned bit = 0; bit < 64; bit++) {
        if ((bits >> bit & 1) != 0) {
            (void)json_array_append_new(array,
                                        json_text(journal_name(e->names, kind, bit)));
        }
    }
    return array;
}

static json_t *traits_json(const struct explained *e)
{
    json_t *array = json_array();

    for (size_t i = 0; i < e->record->ntraits; i++) {
        (void)json_array_append_new(
            array,
            json_text(journal_name(e->names, JOURNAL_TRAIT, e->record->trait[i])));
    }
    return array;
}

static json_t *counts_json(const struct record *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->ncounts; i++) {
        const struct record_count *c = &r->count[i];
        (void)json_array_append_new(
            array,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "type",
                      feature_type_name(c->type), "digest", (json_int_t)c->digest,
                      "w10m", (json_int_t)c->w[0], "w1h", (json_int_t)c->w[1], "w1d",
                      (json_int_t)c->w[2], "w14d", (json_int_t)c->w[3]));
    }
    return array;
}

static void change_json(void *context, const char *what)
{
    (void)json_array_append_new(context, json_string(what));
}

static json_t *explained_json(struct explain_sources *s, const struct explained *e)
{
    const struct record *r = e->record;
    struct buf sentence;
    char id[CASE_ID_SIZE];
    char when[TEXT_TIME_MAX];
    char address[INET6_ADDRSTRLEN];
    json_t *changes = json_array();
    json_t *rcpt = json_array();

    buf_init(&sentence, TEXT_LINE_MAX);
    make_sentence(s, r, &sentence);
    explain_each_change(s, r, change_json, changes);
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        (void)json_array_append_new(rcpt, json_text(r->rcpt[i]));
    }
    json_t *o = json_pack(
        "{s:o, s:s, s:s, s:f, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:s*}",
        "sentence", json_text(buf_slice(&sentence)), "action",
        action_name((enum action)r->done), "wanted",
        action_name((enum action)r->wanted), "score", r->score, "case",
        case_id_print(r->case_id, id), "time", text_time(r->time_us / US_PER_S, when),
        "client", address_of(r, address), "queue_id", json_text(r->queue_id), "from",
        json_text(r->from), "header_from", json_text(r->header_from), "subject",
        json_text(r->subject), "to", rcpt, "bytes", (json_int_t)r->bytes, "reported",
        opinion_name(e->reported));
    buf_fini(&sentence);
    return json_with(o, json_pack("{s:o, s:o, s:b, s:o*, s:o, s:o, s:o, s:o, s:o}",
                                  "symbols", symbols_json(r), "lists",
                                  record_hits_json(s, e), "outgoing",
                                  (int)r->is_outgoing, "reason",
                                  r->unjudged.n > 0 ? json_text(r->unjudged) : NULL,
                                  "traits", traits_json(e), "identity",
                                  bits_json(e, JOURNAL_IDENTITY, r->identity), "limits",
                                  bits_json(e, JOURNAL_LIMIT, r->limits), "counts",
                                  counts_json(r), "changes", changes));
}

int explain_print(struct explain_sources *s, const struct explained *e)
{
    if (s->cli->json) {
        return json_status(explained_json(s, e));
    }
    print_explained(s, e);
    return CLI_CLEAN;
}
