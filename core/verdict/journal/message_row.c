#include "core/verdict/journal/message_row.h"

#include <arpa/inet.h>
#include <math.h>
#include <time.h>

#include "core/base/case_id.h"
#include "core/message/feature/feature_json.h"

enum { US_PER_S = 1000000, TIME_TEXT = 32 };

void message_row_of(const struct record *r, struct message_row *ret)
{
    *ret = (struct message_row){.time_us = r->time_us,
                                .case_id = r->case_id,
                                .message_id = r->message_id,
                                .queue_id = r->queue_id,
                                .from = r->from,
                                .header_from = r->header_from,
                                .subject = r->subject,
                                .to = r->rcpt,
                                .nto = r->ntexts_rcpt,
                                .nrcpt = r->nrcpt,
                                .has_addr = r->has_addr,
                                .is_outgoing = r->is_outgoing,
                                .unjudged = r->unjudged,
                                .action = (enum action)r->done,
                                .score = r->score,
                                .size = r->bytes,
                                .symbol = r->symbol,
                                .nsymbols = r->nsymbols};
    memcpy(ret->addr, r->addr, sizeof(ret->addr));
}

const char *message_row_client(const struct message_row *row,
                               char ret[INET6_ADDRSTRLEN])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool is_v4 = memcmp(row->addr, mapped, sizeof(mapped)) == 0;

    if (!row->has_addr || inet_ntop(is_v4 ? AF_INET : AF_INET6,
                                    is_v4 ? row->addr + sizeof(mapped) : row->addr, ret,
                                    INET6_ADDRSTRLEN) == NULL) {
        *ret = '\0';
    }
    return ret;
}

const struct record_symbol *message_row_symbol(const struct record_symbol *v, size_t n,
                                               size_t rank)
{
    const struct record_symbol *found = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t above = 0;
        for (size_t k = 0; k < n; k++) {
            double other = fabs(v[k].score);
            above += other > fabs(v[i].score) || (other == fabs(v[i].score) && k < i);
        }
        if (above == rank && v[i].score != 0) {
            found = &v[i];
        }
    }
    return found;
}

/* ---- JSON ---- */

static json_t *row_symbols_json(const struct message_row *row)
{
    json_t *array = json_array();

    for (size_t i = 0; i < row->nsymbols; i++) {
        const struct record_symbol *s = &row->symbol[i];
        (void)json_array_append_new(
            array,
            json_pack("{s:o, s:f}", "name", json_text(s->name), "score", s->score));
    }
    return array;
}

static json_t *recipients_json(const struct message_row *row)
{
    json_t *array = json_array();

    for (size_t i = 0; i < row->nto; i++) {
        (void)json_array_append_new(array, json_text(row->to[i]));
    }
    return array;
}

/* NULL, which a member "o*" leaves out, for an empty text. */
static json_t *optional_text(struct slice text)
{
    return text.n > 0 ? json_text(text) : NULL;
}

json_t *message_row_json(const struct message_row *row)
{
    char id[CASE_ID_SIZE];
    char client[INET6_ADDRSTRLEN];
    char when[TIME_TEXT] = "";
    time_t at = (time_t)(row->time_us / US_PER_S);
    struct tm utc = {.tm_mday = 1};

    (void)gmtime_r(&at, &utc);
    (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void)message_row_client(row, client);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o*, s:o, s:I, s:{s:s*}, s:o*, s:I, s:s, s:o, s:b, s:o*, "
        "s:o}",
        "time", when, "case", case_id_print(row->case_id, id), "id",
        json_text(row->queue_id), "from", json_text(row->from), "header_from",
        optional_text(row->header_from), "to", recipients_json(row), "recipients",
        (json_int_t)row->nrcpt, "client", "address", *client == '\0' ? NULL : client,
        "subject", optional_text(row->subject), "size", (json_int_t)row->size, "action",
        action_name(row->action), "score",
        row->unjudged.n > 0 ? json_null() : json_real(row->score), "outgoing",
        (int)row->is_outgoing, "reason", optional_text(row->unjudged), "symbols",
        row_symbols_json(row));
}
