#include <arpa/inet.h>

#include "core/base/clock.h"
#include "core/count/message.h"
#include "core/list/listed.h"
#include "core/message/feature/feature_json.h"
#include "core/report/reports.h"
#include "core/telemetry/stats.h"
#include "core/verdict/explain.h"
#include "core/verdict/user/user_verdict.h"

#include "milter/arenapool.h"
#include "milter/file_reader.h"
#include "milter/learn.h"
#include "milter/scan.h"
#include "milter/service.h"

enum { PIECE = 64 * 1024, US_PER_S = 1000000 };

/* A message being judged. */
struct judging {
    const struct scan_request *line;
    struct config *config;
    struct arena *arena;
    struct extract *x;
    struct listed listed;
    const struct rule_text *text;
    struct vector_reader *reader;
    bool has_addr;
    uint8_t addr[16];
    uint64_t begin_us;
};

static bool read_client(struct judging *j)
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN + 1] = "";
    struct slice client = j->line->client;

    if (client.n == 0) {
        return true;
    }
    if (client.n >= sizeof(text)) {
        return false;
    }
    memcpy(text, client.p, client.n);
    memcpy(j->addr, v4, sizeof(v4));
    j->has_addr = inet_pton(AF_INET, text, j->addr + sizeof(v4)) == 1 ||
                  inet_pton(AF_INET6, text, j->addr) == 1;
    return j->has_addr;
}

static bool is_trusted(const struct judging *j)
{
    for (size_t i = 0; j->has_addr && i < j->config->ntrusted_networks; i++) {
        if (ipnet_contains(&j->config->trusted_networks[i], j->addr)) {
            return true;
        }
    }
    return false;
}

static struct featureset *read_features(struct judging *j, struct slice bytes)
{
    struct extract_limits limits;

    verdict_extract_limits(j->config, &limits);
    file_reader_offer(&limits);
    service_imprint(&limits.imprint);
    limits.imprint.learner = NULL;
    listed_init(&j->listed, service_lists());
    limits.listed = listed_find;
    limits.listed_context = &j->listed;
    j->text = verdict_read_text(j->config, j->arena, &limits);
    j->reader = learn_reader(j->config, j->arena, &limits);
    j->x = extract_new(j->arena, &limits, j->config->trusted_authserv.v,
                       j->config->trusted_authserv.n);
    if (j->x == NULL) {
        return NULL;
    }
    if (j->has_addr) {
        extract_client(j->x, j->addr, SLICE_NONE);
    }
    if (j->line->helo.n > 0) {
        extract_helo(j->x, j->line->helo);
    }
    if (j->line->from.n > 0) {
        extract_mail_from(j->x, j->line->from);
    }
    for (size_t i = 0; i < j->line->nrcpt; i++) {
        extract_rcpt_to(j->x, j->line->rcpt[i]);
    }
    for (; bytes.n > 0; bytes = slice_from(bytes, PIECE)) {
        extract_raw(j->x, slice_head(bytes, PIECE));
    }
    return extract_finish(j->x);
}

static void read_counts(const struct judging *j, const struct featureset *features,
                        struct message_counts *ret)
{
    const struct keyring *keys;
    const struct count_port *port = service_counts(&keys);
    struct message_facts facts = {.ndeliveries =
                                      j->line->nrcpt > 0 ? j->line->nrcpt : 1};

    facts.nrcpt = extract_recipients(j->x, &facts.rcpt);
    count_message(port, keys, j->config, features, &facts, !j->line->is_counting,
                  j->arena, ret);
}

static void identify(const struct judging *j, const struct featureset *features,
                     const struct message_counts *counts, struct identity *ret)
{
    struct identity_case c = {.features = features,
                              .auth = extract_auth(j->x),
                              .conversation = extract_conversation(j->x),
                              .counts = counts,
                              .contacts = service_contacts(),
                              .has_empty_sender =
                                  slice_eq(j->line->from, SLICE_LIT("<>"))};

    c.nrcpt = extract_recipients(j->x, &c.rcpt);
    identity_make(&c, ret);
}

/* The verdict and its JSON, in one snapshot of the lists. */
static char *verdict_json(const struct judging *j, struct featureset *features,
                          const struct message_counts *counts)
{
    struct verdict verdict;
    struct list_hits hits;
    struct rating_sources voices;
    struct identity identity;
    const struct keyring *vote_keys;
    struct votes *votes = reports_votes(service_reports(&vote_keys));
    struct vector vector;
    struct model_answer answer;
    const struct verdict_context context = {
        .is_trusted_network = is_trusted(j),
        .is_authenticated = j->line->is_authenticated,
        .client_addr = j->has_addr ? j->addr : NULL,
        .auth = extract_auth(j->x),
        .counts = counts,
        .identity = &identity,
        .votes = votes,
        .vote_keys = vote_keys,
        .is_emergency = emergency_is_on(service_emergency()),
        .trusts_filters = emergency_trusts_filters(service_emergency(), j->config),
        .evidence = emergency_add_symbols,
        .evidence_context = service_emergency(),
        .model = learn_judge(j->config, j->reader, j->x, features, &vector, &answer),
        .text = j->text,
        .bytes = extract_message_bytes(j->x)};
    identify(j, features, counts, &identity);
    const struct listset *lists = list_manager_acquire(service_lists());

    verdict_evaluate(j->config, lists, features, &context,
                     j->begin_us + j->config->deadline_us, j->arena, &verdict, &hits);
    stats_add(STAT_urls_checked, featureset_count_type(features, FEATURE_url));
    emergency_note(service_emergency(), j->config, features, lists, &hits,
                   clock_wall_us() / US_PER_S);
    judged_add(j->config, counts, verdict_judgements(j->config, &verdict, &context));
    struct user_case users = {.config = j->config,
                              .users = service_users(),
                              .features = features,
                              .context = &context,
                              .nall = j->line->nrcpt,
                              .arena = j->arena};
    users.nrcpt = extract_recipients(j->x, &users.rcpt);
    users_judge(&users, &verdict);
    service_voices(j->config, &voices);
    json_t *object =
        explain_json(&(struct explain_case){.file = SLICE_LIT("-"),
                                            .verdict = &verdict,
                                            .features = features,
                                            .lists = lists,
                                            .hits = &hits,
                                            .voices = &voices,
                                            .counts = counts,
                                            .identity = &identity,
                                            .time_us = clock_mono_us() - j->begin_us});
    list_manager_release(service_lists(), &lists);
    char *text = json_dumps(object, JSON_LINE);
    json_decref(object);
    return text;
}

static char *judge_bytes(struct judging *j, struct slice bytes, struct errinfo *reterr)
{
    struct message_counts counts;

    if (!read_client(j)) {
        (void)errinfo_set(reterr, ERR_SYNTAX, "scan", 0, "client is no IP address");
        return NULL;
    }
    j->arena = arenapool_take((size_t)j->config->limits.memory);
    struct featureset *features = j->arena == NULL ? NULL : read_features(j, bytes);
    char *text = NULL;
    if (features != NULL) {
        read_counts(j, features, &counts);
        text = verdict_json(j, features, &counts);
    }
    if (text == NULL) {
        (void)errinfo_set(reterr, ERR_NOMEM, "scan", 0, "out of memory");
    }
    return text;
}

char *scan_message(const struct scan_request *line, struct slice bytes,
                   struct errinfo *reterr)
{
    uint64_t generation;
    struct judging j = {.line = line,
                        .config = service_config(&generation),
                        .begin_us = clock_mono_us()};
    size_t cap_bytes = (size_t)j.config->limits.memory;
    char *text = judge_bytes(&j, bytes, reterr);

    extract_drop(j.x);
    listed_fini(&j.listed);
    arenapool_give(&j.arena, cap_bytes);
    config_release(&j.config);
    return text;
}
