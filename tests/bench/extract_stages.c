#include "tests/bench/extract_stages.h"

#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/message/html/html.h"
#include "core/message/html/shown.h"
#include "core/message/text/charset.h"
#include "core/message/text/fold.h"
#include "core/message/url/find.h"
#include "core/message/url/find_number.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"

enum {
    PIECES_MAX = 4096,
    TEXT_CAP = 64 << 20,
    ARENA_CAP = 64 << 20,
    SCRATCH_CAP = 4 << 20,
    CHUNK = 65535
};

const char *const stage_names[STAGES] = {"mime", "charset", "html",
                                         "url",  "folding", "shingles"};

/* Pieces of text one behind the other. */
struct pieces {
    struct buf text;
    size_t ends[PIECES_MAX];
    unsigned kinds[PIECES_MAX];
    size_t n;
};

struct message {
    struct arena *arena;   /* of a run */
    struct arena *scratch; /* of a URL */
    const struct extract_limits *limits;
    struct slice raw;
    struct pieces parts; /* decoded; kind: it is HTML */
    struct slice charset[PIECES_MAX];
    struct arena *names;
    struct pieces utf8;  /* likewise */
    struct pieces shown; /* kind: it is a URL of an attribute */
    struct pieces words; /* kind: of the word */
    bool is_text;        /* the part that is open */
    size_t sink;
};

uint64_t bench_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void pieces_init(struct pieces *p)
{
    buf_init(&p->text, TEXT_CAP);
    p->n = 0;
}

static void pieces_end(struct pieces *p, unsigned kind)
{
    if (p->n < PIECES_MAX) {
        p->ends[p->n] = p->text.n;
        p->kinds[p->n++] = kind;
    }
}

static struct slice piece(const struct pieces *p, size_t i)
{
    size_t from = i > 0 ? p->ends[i - 1] : 0;

    return slice_of(p->text.p + from, p->ends[i] - from);
}

/* Callbacks that collect the input of each stage. */

static void take_part(void *context, const struct mail_part *part)
{
    struct message *m = context;

    m->is_text =
        !part->is_container && slice_has_prefix(part->type, SLICE_LIT("text/"));
    if (m->is_text && m->parts.n < PIECES_MAX) {
        m->charset[m->parts.n] = arena_copy(m->names, part->charset);
    }
}

static void take_data(void *context, const struct mail_part *part, struct slice bytes)
{
    struct message *m = context;

    (void)part;
    if (m->is_text) {
        buf_add(&m->parts.text, bytes);
    }
}

static void take_end(void *context, const struct mail_part *part)
{
    struct message *m = context;

    if (m->is_text) {
        pieces_end(&m->parts, slice_eq(part->type, SLICE_LIT("text/html")));
    }
    m->is_text = false;
}

static void ignore_header(void *context, const struct mail_part *part,
                          struct slice name, struct slice value)
{
    (void)context, (void)part, (void)name, (void)value;
}

static void ignore_part(void *context, const struct mail_part *part)
{
    (void)context, (void)part;
}

static void count_data(void *context, const struct mail_part *part, struct slice bytes)
{
    struct message *m = context;

    (void)part;
    m->sink += bytes.n;
}

static void count_body(void *context, struct slice bytes)
{
    count_data(context, NULL, bytes);
}

static void parse(struct message *m, const struct mail_events *events)
{
    struct mail *mail = mail_new(m->arena, &m->limits->mail, events, m);
    struct slice rest = m->raw;

    if (mail == NULL) {
        return;
    }
    while (rest.n > 0) {
        struct slice chunk = slice_head(rest, CHUNK);

        mail_raw(mail, chunk);
        rest = slice_from(rest, chunk.n);
    }
    mail_end(mail);
}

static void take_text(void *context, const struct shown_text *text)
{
    struct message *m = context;

    if (text->where == SHOWN_BODY) {
        buf_add(&m->shown.text, text->text);
        pieces_end(&m->shown, false);
    }
}

static void take_value(void *context, enum shown_value_kind kind, struct slice value)
{
    struct message *m = context;

    if (kind != SHOWN_VALUE_TEXT) {
        buf_add(&m->shown.text, value);
        pieces_end(&m->shown, true);
    }
}

static void count_text(void *context, const struct shown_text *text)
{
    count_body(context, text->text);
}

static void count_value(void *context, enum shown_value_kind kind, struct slice value)
{
    (void)kind;
    count_body(context, value);
}

static void on_token(void *context, const struct html_token *token)
{
    shown_take(context, token);
}

static void read_html(struct message *m, struct slice text,
                      const struct shown_events *events)
{
    struct shown *shown = shown_new(m->arena, events, m);
    struct html *html = shown != NULL ? html_new(m->arena, on_token, shown) : NULL;

    if (html != NULL) {
        html_feed(html, text);
        html_end(html);
        shown_end(shown);
    }
}

static void take_word(void *context, const struct fold_word *word)
{
    struct message *m = context;

    buf_add(&m->words.text, word->text);
    pieces_end(&m->words, (unsigned)word->kind);
}

static void count_word(void *context, const struct fold_word *word)
{
    count_body(context, word->text);
}

static void prepare(struct message *m)
{
    static const struct mail_events events = {.header = ignore_header,
                                              .part_begin = take_part,
                                              .part_data = take_data,
                                              .part_end = take_end,
                                              .body = count_body};
    static const struct shown_events shown_events = {.text = take_text,
                                                     .value = take_value};
    struct fold fold;

    parse(m, &events);
    for (size_t i = 0; i < m->parts.n; i++) {
        buf_add(&m->utf8.text,
                charset_to_utf8(m->arena, m->charset[i], piece(&m->parts, i), NULL));
        pieces_end(&m->utf8, m->parts.kinds[i]);
    }
    for (size_t i = 0; i < m->utf8.n; i++) {
        if (m->utf8.kinds[i] != 0) {
            read_html(m, piece(&m->utf8, i), &shown_events);
        } else {
            buf_add(&m->shown.text, piece(&m->utf8, i));
            pieces_end(&m->shown, false);
        }
    }
    fold_init(&fold, take_word, m);
    for (size_t i = 0; i < m->shown.n; i++) {
        if (m->shown.kinds[i] == 0) {
            fold_feed(&fold, piece(&m->shown, i));
            fold_break(&fold);
        }
    }
    static const char padding[FOLD_WORD_MAX];
    buf_add(&m->words.text, slice_of(padding, sizeof(padding))); /* see fold.h */
    arena_reset(m->arena);
}

/* The stages. */

static void run_mime(struct message *m)
{
    static const struct mail_events events = {.header = ignore_header,
                                              .part_begin = ignore_part,
                                              .part_data = count_data,
                                              .part_end = ignore_part,
                                              .body = count_body};

    parse(m, &events);
}

static void run_charset(struct message *m)
{
    for (size_t i = 0; i < m->parts.n; i++) {
        m->sink +=
            charset_to_utf8(m->arena, m->charset[i], piece(&m->parts, i), NULL).n;
    }
}

static void run_html(struct message *m)
{
    static const struct shown_events events = {.text = count_text,
                                               .value = count_value};

    for (size_t i = 0; i < m->utf8.n; i++) {
        if (m->utf8.kinds[i] != 0) {
            read_html(m, piece(&m->utf8, i), &events);
        }
    }
}

static void read_url(struct message *m, struct slice text)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    bool is_cut = false;
    struct url url;

    if (url_parse(m->scratch, text, &url) == ERR_OK) {
        m->sink += url.canonical.n + unwrap_url(m->scratch, text, targets, &is_cut);
    }
    arena_reset(m->scratch);
}

static void on_find(void *context, const struct find *find)
{
    if (find->kind == FIND_URL) {
        read_url(context, find->text);
    }
}

static void on_number(void *context, const struct find_number *number)
{
    count_body(context, number->text);
}

static void run_url(struct message *m)
{
    for (size_t i = 0; i < m->shown.n; i++) {
        struct slice text = piece(&m->shown, i);

        if (m->shown.kinds[i] != 0) {
            read_url(m, text);
        } else {
            find_in_text(text, FIND_IN_PROSE, on_find, m);
            find_numbers_in_text(text, on_number, m);
        }
    }
}

static void run_folding(struct message *m)
{
    struct fold fold;

    fold_init(&fold, count_word, m);
    for (size_t i = 0; i < m->shown.n; i++) {
        if (m->shown.kinds[i] == 0) {
            fold_feed(&fold, piece(&m->shown, i));
            fold_break(&fold);
        }
    }
}

static void run_shingles(struct message *m)
{
    const struct shingle_keys *keys = &m->limits->imprint.keys;
    struct sketch sketch;
    struct shingler shingler = {.keys = keys};
    struct wordsum sum = {.nwords = 0};
    uint64_t shingle = 0;
    uint64_t bands[SHINGLE_BANDS];

    sketch_init(&sketch);
    for (size_t i = 0; i < m->words.n; i++) {
        struct fold_word word = {.kind = (enum fold_kind)m->words.kinds[i],
                                 .text = piece(&m->words, i)};

        if (shingler_word(&shingler, &sum, &word, &shingle)) {
            sketch_add(&sketch, keys, NULL, &shingle, 1);
        }
    }
    for (unsigned epoch = 0; epoch < SHINGLE_EPOCHS; epoch++) {
        m->sink += sketch_bands(&sketch, keys, epoch, bands) ? 1 : 0;
    }
}

static uint64_t time_of(struct message *m, void (*run)(struct message *),
                        unsigned rounds)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < rounds; i++) {
        uint64_t from = bench_now_ns();
        uint64_t took = 0;

        run(m);
        took = bench_now_ns() - from;
        least = took < least ? took : least;
        arena_reset(m->arena);
    }
    return least;
}

static void measure(struct message *m, unsigned rounds, uint64_t retns[STAGES],
                    uint64_t retbytes[STAGES])
{
    static void (*const runs[STAGES])(struct message *) = {
        run_mime, run_charset, run_html, run_url, run_folding, run_shingles};
    size_t html = 0;

    for (size_t i = 0; i < m->utf8.n; i++) {
        html += m->utf8.kinds[i] != 0 ? piece(&m->utf8, i).n : 0;
    }
    retbytes[STAGE_MIME] += m->raw.n;
    retbytes[STAGE_CHARSET] += m->parts.text.n;
    retbytes[STAGE_HTML] += html;
    retbytes[STAGE_URL] += m->shown.text.n;
    retbytes[STAGE_FOLDING] += m->shown.text.n;
    retbytes[STAGE_SHINGLES] += m->words.text.n;
    for (unsigned i = 0; i < STAGES; i++) {
        retns[i] += time_of(m, runs[i], rounds);
    }
}

bool stages_run(struct slice message, const struct extract_limits *limits,
                unsigned rounds, uint64_t retns[STAGES], uint64_t retbytes[STAGES])
{
    static struct message m;
    bool good = false;

    memset(&m, 0, sizeof(m));
    m.raw = message;
    m.limits = limits;
    m.arena = arena_new(ARENA_CAP);
    m.scratch = arena_new(SCRATCH_CAP);
    m.names = arena_new(SCRATCH_CAP);
    pieces_init(&m.parts);
    pieces_init(&m.utf8);
    pieces_init(&m.shown);
    pieces_init(&m.words);
    good = m.arena != NULL && m.scratch != NULL && m.names != NULL;
    if (good) {
        prepare(&m);
        measure(&m, rounds, retns, retbytes);
    }
    buf_fini(&m.parts.text);
    buf_fini(&m.utf8.text);
    buf_fini(&m.shown.text);
    buf_fini(&m.words.text);
    arena_free(&m.arena);
    arena_free(&m.scratch);
    arena_free(&m.names);
    return good;
}
