#include "core/message/extract/extract.h"

#include "core/base/clock.h"
#include "core/message/extract/check.h"
#include "core/message/extract/extract_internal.h"
#include "core/message/url/host.h"

enum { LINE_ENDS_AT_ONCE = 64 };

static const uint64_t day_us = UINT64_C(86400) * 1000000;

/* Obeys the last reading of the clock. */
static void obey_clock(struct extract *x)
{
    if (shares_leaf_is_over(&x->shares) && !x->stopped) {
        x->stopped = true;
        x->was_stopped = true;
        featureset_set_limit(x->set, LIMIT_FLAG(cpu));
    }
    if (shares_all_is_over(&x->shares) && !x->is_over) {
        x->stopped = true;
        x->is_over = true;
        x->was_stopped = true;
        featureset_set_limit(x->set, LIMIT_FLAG(cpu));
        mail_skip_rest(x->mail);
    }
}

static void cpu_end(struct extract *x)
{
    shares_end(&x->shares);
    obey_clock(x);
}

void extract_cpu_step(struct extract *x, size_t bytes)
{
    shares_step(&x->shares, bytes);
    if (x->shares.bytes == 0) {
        obey_clock(x);
    }
}

void extract_spend_on(struct extract *x, enum share share)
{
    shares_spend_on(&x->shares, share);
    x->stopped = false;
    x->is_over = false;
    obey_clock(x);
}

/* Adds line ends that turned out not to be the last. */
static void add_line_ends(struct extract *x)
{
    static const char line_ends[LINE_ENDS_AT_ONCE * 2 + 1] =
        "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
        "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
        "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
        "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n";
    while (x->body_line_ends > 0) {
        size_t n = x->body_line_ends < LINE_ENDS_AT_ONCE ? (size_t)x->body_line_ends
                                                         : LINE_ENDS_AT_ONCE;
        sha256_add(&x->body_sum, slice_of(line_ends, n * 2));
        x->body_line_ends -= n;
    }
}

static void on_body(void *context, struct slice bytes)
{
    struct extract *x = context;
    size_t n = bytes.n;
    uint64_t line_ends = 0;
    while (n > 0 && (bytes.p[n - 1] == '\n' || bytes.p[n - 1] == '\r')) {
        line_ends += bytes.p[n - 1] == '\n';
        n--;
    }
    if (n > 0) {
        add_line_ends(x);
        sha256_add(&x->body_sum, slice_head(bytes, n));
        x->body_has_text = true;
    }
    x->body_line_ends += line_ends;
    extract_cpu_step(x, bytes.n); /* structure costs time too */
}

static const struct mail_events events = {
    .header = extract_on_header,
    .part_begin = extract_on_part_begin,
    .part_data = extract_on_part_data,
    .part_end = extract_on_part_end,
    .is_text = extract_is_text,
    .body = on_body,
};

/* Of a file that is unpacked. */
static bool has_time(void *context, size_t bytes)
{
    struct extract *x = context;
    extract_cpu_step(x, bytes);
    return !x->stopped;
}

static void take_limits(struct extract *x, const struct extract_limits *limits)
{
    struct extract_limits *l = &x->limits;

    *l = *limits;
    l->features = l->features > 0 ? l->features : EXTRACT_FEATURES;
    l->addresses = l->addresses > 0 ? l->addresses : EXTRACT_ADDRESSES;
    l->attachment_bytes =
        l->attachment_bytes > 0 ? l->attachment_bytes : EXTRACT_ATTACHMENT_BYTES;
    l->archive_depth = l->archive_depth > 0 ? l->archive_depth : EXTRACT_ARCHIVE_DEPTH;
    x->reader_us = l->reader_us;
    password_finder_init(&x->passwords);
    x->archive = archive_budget_start();
    x->archive.entries =
        l->archive_entries > 0 ? l->archive_entries : x->archive.entries;
    x->archive.inflated = l->archive_bytes > 0 ? l->archive_bytes : x->archive.inflated;
    x->archive.ratio = l->archive_ratio > 0 ? l->archive_ratio : x->archive.ratio;
    x->archive.has_time = has_time;
    x->archive.context = x;
}

struct extract *extract_new(struct arena *arena, const struct extract_limits *limits,
                            char *const *trusted_authserv, size_t ntrusted)
{
    struct extract *x = arena_alloc(arena, sizeof(*x));
    if (x == NULL) {
        return NULL;
    }
    x->arena = arena;
    x->trusted = trusted_authserv;
    x->ntrusted = ntrusted;
    take_limits(x, limits);
    shares_init(&x->shares, limits->cpu_us);
    x->set = featureset_new(arena, x->limits.features);
    x->mail = mail_new(arena, &limits->mail, &events, x);
    if (x->set == NULL || x->mail == NULL) {
        return NULL;
    }
    overflow_init(&x->overflow, x->set, limits->listed, limits->listed_context);
    x->scratch = arena_new(EXTRACT_SCRATCH);
    x->text = arena_new(EXTRACT_SCRATCH);
    if (x->scratch == NULL || x->text == NULL || sha256_init(&x->body_sum) != ERR_OK) {
        extract_drop(x);
        return NULL;
    }
    return x;
}

void extract_drop(struct extract *x)
{
    if (x == NULL) {
        return;
    }
    extract_shown_finish(x);
    fingerprint_drop(x->imprint);
    fingerprint_drop(x->document.imprint);
    overflow_fini(&x->overflow);
    arena_free(&x->scratch);
    arena_free(&x->text);
    extract_files_drop(x);
    charset_stream_free(&x->stream);
    sha256_fini(&x->body_sum);
    sha256_fini(&x->part_sum);
    x->finished = true;
}

void extract_add_address(struct extract *x, enum feature_type type,
                         enum feature_type domain_type, struct slice address,
                         struct slice domain)
{
    featureset_add(x->set, type, address);
    featureset_add(x->set, domain_type, host_registrable(domain));
}

void extract_trait(struct extract *x, enum trait trait)
{
    if (!traits_has(&x->traits, trait)) {
        traits_add(&x->traits, trait);
        featureset_add(x->set, FEATURE_trait, slice_str(trait_name(trait)));
    }
}

void extract_traits(struct extract *x, const struct traits *found)
{
    for (size_t i = 0; i < TRAIT_WORDS; i++) {
        uint64_t bits = found->bits[i] & ~x->traits.bits[i];
        for (; bits != 0; bits &= bits - 1) {
            extract_trait(x, (enum trait)(64 * i + (size_t)__builtin_ctzll(bits)));
        }
    }
}

void extract_header(struct extract *x, struct slice name, struct slice value)
{
    if (x->finished) {
        return;
    }
    x->bytes += name.n + value.n + sizeof ": \r\n" - 1;
    shares_begin(&x->shares, value.n);
    mail_header(x->mail, name, value);
    cpu_end(x);
}

void extract_end_of_headers(struct extract *x)
{
    if (!x->finished) {
        x->bytes += sizeof "\r\n" - 1;
        mail_end_of_headers(x->mail);
    }
}

void extract_body(struct extract *x, struct slice chunk)
{
    if (x->finished) {
        return;
    }
    x->bytes += chunk.n;
    shares_begin(&x->shares, chunk.n);
    mail_body(x->mail, chunk);
    cpu_end(x);
}

void extract_raw(struct extract *x, struct slice chunk)
{
    if (x->finished) {
        return;
    }
    x->is_raw = true;
    x->bytes += chunk.n;
    shares_begin(&x->shares, chunk.n);
    mail_raw(x->mail, chunk);
    cpu_end(x);
}

static void add_body_digest(struct extract *x)
{
    char hex[SHA256_HEX + 1];
    if (!x->body_has_text) {
        return;
    }
    /* The last line has its end, whether the message had it or not. */
    sha256_add(&x->body_sum, SLICE_LIT("\r\n"));
    sha256_final_hex(&x->body_sum, hex);
    featureset_add(x->set, FEATURE_body, slice_str(hex));
}

void extract_add_mail_limits(struct extract *x, unsigned met)
{
    static const struct {
        unsigned mail;
        unsigned flag;
    } rows[] = {
        {MAIL_LIMIT_MESSAGE_BYTES, LIMIT_FLAG(message_bytes)},
        {MAIL_LIMIT_DECODED_BYTES, LIMIT_FLAG(decoded_bytes)},
        {MAIL_LIMIT_HEADERS, LIMIT_FLAG(headers)},
        {MAIL_LIMIT_HEADER_BYTES, LIMIT_FLAG(header_bytes)},
        {MAIL_LIMIT_HEADER_FIELD, LIMIT_FLAG(header_field)},
        {MAIL_LIMIT_PARTS, LIMIT_FLAG(parts)},
        {MAIL_LIMIT_DEPTH, LIMIT_FLAG(mime_depth)},
        {MAIL_LIMIT_BOUNDARY, LIMIT_FLAG(boundary)},
        {MAIL_LIMIT_MEMORY, LIMIT_FLAG(memory)},
        {MAIL_LIMIT_READINGS, LIMIT_FLAG(readings)},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if ((met & rows[i].mail) != 0) {
            featureset_set_limit(x->set, rows[i].flag);
        }
    }
}

static void on_check(void *context, enum trait trait)
{
    extract_trait(context, trait);
}

static void add_limit_traits(struct extract *x)
{
    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        if ((featureset_limits(x->set) & (1U << bit)) != 0) {
            extract_trait(x, (enum trait)(TRAIT_limit_message_bytes + bit));
        }
    }
}

/* The From domain when it is one and was proved, or NULL: under a name that anybody can write a
 * campaign would make its own text common. */
static const struct feature *proved_sender(const struct extract *x)
{
    const struct feature *from = featureset_first(x->set, FEATURE_from_domain);
    const struct extract_auth *auth = &x->auth;
    if (from == NULL || featureset_count_type(x->set, FEATURE_from_domain) > 1) {
        return NULL;
    }
    bool is_proved =
        (auth->dmarc_pass && slice_is_at_or_below(auth->dmarc_domain, from->text)) ||
        (auth->dkim_pass && slice_is_at_or_below(auth->dkim_domain, from->text));
    return is_proved ? from : NULL;
}

static void teach(const struct extract *x)
{
    const struct feature *from = proved_sender(x);
    if (!x->was_stopped) {
        fingerprint_teach(x->imprint, from != NULL ? hash_local(from->text) : 0,
                          clock_wall_us() / day_us);
    }
}

struct featureset *extract_finish(struct extract *x)
{
    if (x->finished) {
        return x->set;
    }
    shares_begin(&x->shares, 0);
    mail_end(x->mail);
    extract_late_run(x);
    cpu_end(x);
    extract_place(x, NULL, SLICE_NONE);
    featureset_raise_max(x->set, EXTRACT_FEATURES_LAST);
    add_body_digest(x);
    if (x->imprint != NULL) {
        x->facts.texts_differ = fingerprint_texts_differ(x->imprint);
        x->facts.nwords = fingerprint_words(x->imprint);
        fingerprint_finish(x->imprint, x->set, x->scratch,
                           mailing_list_key(&x->list, x->set), x->was_stopped);
        teach(x);
    }
    extract_note_fields_end(x);
    facts_close(&x->facts, x->set);
    x->facts.recipients = x->nkept > 0 ? x->recipients : x->facts.named;
    x->facts.nrecipients = x->nkept > 0 ? x->nkept : x->facts.nnamed;
    check_all(&x->facts, on_check, x);
    overflow_ask(&x->overflow);
    extract_add_mail_limits(x, mail_limits_met(x->mail));
    if (arena_is_full(x->arena)) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    add_limit_traits(x);
    extract_drop(x);
    return x->set;
}

const struct extract_auth *extract_auth(const struct extract *x)
{
    return &x->auth;
}

const struct extract_conversation *extract_conversation(const struct extract *x)
{
    return &x->conversation;
}

struct slice extract_message_id(const struct extract *x)
{
    return x->message_id;
}

uint64_t extract_message_bytes(const struct extract *x)
{
    return x->bytes;
}

uint64_t extract_time_us(const struct extract *x)
{
    return x->shares.wall_us;
}
