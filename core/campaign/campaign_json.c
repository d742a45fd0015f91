#include "core/campaign/campaign_json.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/message/feature/feature_json.h"

enum { US_PER_S = 1000000, DIGEST_TEXT = 17 };

struct slice campaign_subject(const struct campaign *c, const struct config *config)
{
    return config->journal.subjects ? c->subject : SLICE_NONE;
}

struct slice campaign_sender(const struct campaign *c, const struct config *config)
{
    return config->journal.addresses ? c->sender : SLICE_NONE;
}

static json_t *text_or_null(struct slice text)
{
    return text.n > 0 ? json_text(text) : json_null();
}

static void add_votes(json_t *o, struct votes *votes, const struct campaign *c)
{
    struct votes_opinion v;

    if (votes == NULL) {
        (void)json_object_set_new(o, "standing", json_null());
        (void)json_object_set_new(o, "reported_spam", json_null());
        (void)json_object_set_new(o, "reported_ham", json_null());
        return;
    }
    campaign_judge(votes, c, clock_wall_us() / US_PER_S, &v);
    (void)json_object_set_new(o, "standing", json_string(standing_name(v.standing)));
    (void)json_object_set_new(o, "reported_spam", json_integer((json_int_t)v.nspam));
    (void)json_object_set_new(o, "reported_ham", json_integer((json_int_t)v.nham));
}

/* Bars behind the last message are left out. */
static json_t *picture_json(const struct campaign *c)
{
    json_t *bars = json_array();
    const uint64_t last = (c->last_s - c->first_s) / c->bar_s;

    for (unsigned i = 0; i < CAMPAIGN_BARS && i <= last; i++) {
        (void)json_array_append_new(bars, json_integer((json_int_t)c->bar[i]));
    }
    return json_pack("{s:I, s:o}", "step_s", (json_int_t)c->bar_s, "messages", bars);
}

json_t *campaign_json(const struct campaign *c, const struct config *config,
                      struct votes *votes)
{
    char id[CAMPAIGN_ID_SIZE];

    campaign_id_print(c->id, id);
    json_t *o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "id", id, "first",
                          (json_int_t)c->first_s, "last", (json_int_t)c->last_s,
                          "messages", (json_int_t)c->messages, "networks",
                          (json_int_t)c->networks, "senders", (json_int_t)c->senders);
    for (unsigned i = 0; i < CAMPAIGN_DONE_COUNT; i++) {
        (void)json_object_set_new(o, campaign_done_name((enum campaign_done)i),
                                  json_integer((json_int_t)c->done[i]));
    }
    (void)json_object_set_new(o, "score", json_real(round(c->score * 100) / 100));
    (void)json_object_set_new(o, "sender", text_or_null(campaign_sender(c, config)));
    (void)json_object_set_new(o, "subject", text_or_null(campaign_subject(c, config)));
    (void)json_object_set_new(o, "picture", picture_json(c));
    add_votes(o, votes, c);
    return o;
}

json_t *campaign_keys_json(const struct campaign *c)
{
    json_t *keys = json_array();
    char digest[DIGEST_TEXT];

    for (size_t i = 0; i < c->nitems; i++) {
        const struct campaign_item *k = &c->items[i];
        (void)snprintf(digest, sizeof(digest), "%016" PRIx64, k->digest);
        (void)json_array_append_new(
            keys, json_pack("{s:s, s:s, s:I}", "type", feature_type_name(k->type),
                            "digest", digest, "messages", (json_int_t)k->messages));
    }
    return keys;
}
