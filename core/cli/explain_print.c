#include "core/cli/explain_print.h"

#include "core/base/case_id.h"
#include "core/cli/print.h"
#include "core/list/rating_input.h"

enum { US_PER_S = 1000000, NOTE = 400 };

/* ---- the lists ---- */

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
    const bool is_open = status == 0 && ret->batch != NULL && ret->v != NULL;
    for (size_t i = 0; is_open && i < ret->lists.n; i++) {
        ret->v[i] = query_list_of(&ret->lists, i);
    }
    ret->query = (struct query_lists){.v = ret->v,
                                      .n = ret->lists.n,
                                      .nown = ret->lists.nown,
                                      .nlists = ret->lists.nlists,
                                      .config = ret->lists.config,
                                      .derived = ret->lists.derived};
    ret->ask = (struct explain_lists){.config = cli->config,
                                      .lists = is_open ? &ret->query : NULL,
                                      .batch = ret->batch};
}

void explain_sources_close(struct explain_sources *s)
{
    query_free(&s->batch);
    free(s->v);
    state_close_lists(&s->lists);
}

/* ---- text ---- */

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
    char address[EXPLAINED_ADDRESS_MAX];

    if (e->file.n == 0) {
        printf("  case %s at %s, queue id ", case_id_print(r->case_id, id),
               text_time(r->time_us / US_PER_S, when));
        text_print(stdout, r->queue_id, EVIDENCE_SHOWN);
        printf(", %" PRIu64 " us\n", r->us);
    }
    printf("  client %s, %s%s, %" PRIu64 " bytes, %u recipient%s\n",
           explained_client(r, address), r->is_outgoing ? "outgoing" : "incoming",
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

static void print_hits(const struct explain_lists *l, const struct explained *e)
{
    const struct record *r = e->record;

    for (size_t i = 0; i < r->nhits; i++) {
        const struct record_hit *h = &r->hit[i];
        struct slice answer = journal_name(e->names, JOURNAL_ANSWER, h->answer);
        struct slice silence = journal_name(e->names, JOURNAL_SILENCE, h->silence);
        struct buf entry;

        buf_init(&entry, NOTE);
        explained_add_entry(l, h, &entry);
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

static void print_explained(const struct explain_lists *l, const struct explained *e)
{
    const struct record *r = e->record;
    struct buf sentence;

    buf_init(&sentence, EXPLAINED_SENTENCE_MAX);
    explained_sentence(l, r, &sentence);
    if (e->file.n > 0) {
        text_print(stdout, e->file, FILENAME_MAX);
        (void)fputs(": ", stdout);
    }
    text_print(stdout, buf_slice(&sentence), EXPLAINED_SENTENCE_MAX);
    (void)putchar('\n');
    buf_fini(&sentence);
    print_envelope(e);
    if (explained_opinion(e->reported) != NULL) {
        printf("  reported as %s\n", explained_opinion(e->reported));
    }
    puts("evidence:");
    for (size_t i = 0; i < r->nsymbols; i++) {
        printf("  %.*s %g ", SLICE_ARGS(r->symbol[i].name), r->symbol[i].score);
        text_print(stdout, r->symbol[i].detail, EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
    print_hits(l, e);
    print_words(e);
    print_record_counts(r);
    if (r->is_cut) {
        puts("  more evidence than a record holds");
    }
    if (r->unjudged.n == 0) {
        puts("what would change the verdict:");
        explained_each_change(l->config, r, print_change, NULL);
    }
}

int explain_print(const struct explain_sources *s, const struct explained *e)
{
    if (s->cli->json) {
        return json_status(explained_json(&s->ask, e));
    }
    print_explained(&s->ask, e);
    return CLI_CLEAN;
}
