/* api_scan - forwards a message to gillnetd without parsing it. */

#include "core/hub/api/api_handlers.h"

/* The field for a name of the query; NULL: unknown name. */
static const char **field_for(struct api_envelope *e, struct slice name)
{
    if (slice_eq(name, SLICE_LIT("client"))) {
        return &e->client;
    }
    if (slice_eq(name, SLICE_LIT("helo"))) {
        return &e->helo;
    }
    if (slice_eq(name, SLICE_LIT("from"))) {
        return &e->from;
    }
    return slice_eq(name, SLICE_LIT("rcpt")) && e->nrcpt < API_RECIPIENTS_MAX
               ? &e->rcpt[e->nrcpt++]
               : NULL;
}

/* False: the query cannot be read. */
static bool read_envelope(struct api_call *call, struct api_envelope *ret)
{
    struct slice rest = call->request.query;
    char value[API_VALUE_MAX];
    struct slice name;
    bool is_bad = false;

    *ret = (struct api_envelope){.nrcpt = 0};
    while (http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        const char **place = field_for(ret, name);
        struct slice copy = arena_copy(call->arena, slice_str(value));

        if (place == NULL || *place != NULL || copy.p == NULL) {
            return false;
        }
        *place = copy.p;
    }
    return !is_bad;
}

bool api_judge(struct api_call *call, const struct api_envelope *envelope)
{
    const struct api_hooks *h = &call->api->hooks;
    struct errinfo why = {.text = ""};

    if (h->scan == NULL) {
        api_refuse(call, 404, "messages are not scanned here");
        return false;
    }
    enum err e = h->scan(h->context, call->body, envelope, &call->answer.body, &why);

    if (e == ERR_OK) {
        return true;
    }
    api_refuse(call,
               e == ERR_TIMEOUT                    ? 504
               : e == ERR_SYNTAX || e == ERR_RANGE ? 422
                                                   : 503,
               "%s", why.text[0] != '\0' ? why.text : err_text(e));
    call->answer.retry_s = call->answer.status == 503 ? 5 : 0;
    return false;
}

void api_v1_scan(struct api_call *call)
{
    struct api_envelope envelope;

    if (!read_envelope(call, &envelope)) {
        api_refuse(call, 422,
                   "the query is made of client, helo, from (once each) and rcpt");
    } else if (api_judge(call, &envelope)) {
        call->answer.status = 200;
    }
}
