#include "core/explain/explained_find.h"

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/verdict/journal/journal.h"

enum { US_PER_S = 1000000, CASE_MARGIN_S = 60, LOOK_AT_CLOCK = 256 };

/* One search on its way. */
struct seeking {
    const struct explained_search *s;
    uint64_t case_id; /* 0: the text is none */
    uint64_t message_id[KEYRING_MAX];
    unsigned nkeys;
    unsigned looked; /* records */
    bool is_found;
    bool is_late;
};

static bool is_sought(const struct seeking *k, const struct record *r)
{
    bool is = (k->case_id != 0 && r->case_id == k->case_id) ||
              slice_eq(r->queue_id, k->s->id);

    for (unsigned i = 0; i < k->nkeys; i++) {
        is = is || (r->message_id != 0 && r->message_id == k->message_id[i]);
    }
    return is;
}

static bool seek_record(void *context, const struct record *r,
                        const struct journal_names *names)
{
    struct seeking *k = context;

    if (k->s->until_us != 0 && ++k->looked % LOOK_AT_CLOCK == 0 &&
        clock_mono_us() > k->s->until_us) {
        k->is_late = true;
        return false;
    }
    if (r->kind != RECORD_MESSAGE || !is_sought(k, r)) {
        return k->s->number == 0; /* its place is known: it is here, or nowhere */
    }
    k->is_found = true;
    k->s->fn(k->s->context, r, names);
    return false;
}

static void read_id(const struct explained_search *s, struct seeking *ret)
{
    *ret = (struct seeking){.s = s, .nkeys = s->keys != NULL ? s->keys->n : 0};
    for (unsigned i = 0; i < ret->nkeys; i++) {
        ret->message_id[i] = journal_message_id(&s->keys->ring[i], s->id);
    }
    if (!case_id_read(s->id, &ret->case_id)) {
        ret->case_id = 0;
    }
}

enum err explained_find(const struct explained_search *s, struct journal_numbers *ret,
                        bool *retfound, struct errinfo *reterr)
{
    struct seeking k;
    struct journal_query q = {.state_dir = s->state_dir,
                              .newest_first = s->number == 0,
                              .after = s->number > 0 ? s->number - 1 : 0,
                              .fn = seek_record,
                              .context = &k};

    read_id(s, &k);
    const bool is_timed = k.case_id != 0 && s->number == 0;
    if (is_timed) { /* the id tells the second */
        const uint64_t at = case_id_time_s(k.case_id);
        q.since_us = (at - CASE_MARGIN_S) * US_PER_S;
        q.until_us = (at + CASE_MARGIN_S) * US_PER_S;
    }
    enum err e = journal_read(&q, ret, reterr);
    if (e == ERR_OK && !k.is_found && is_timed) { /* or a queue id of that form */
        q.since_us = 0;
        q.until_us = 0;
        e = journal_read(&q, ret, reterr);
    }
    *retfound = k.is_found;
    return e == ERR_OK && k.is_late
               ? errinfo_set(reterr, ERR_TIMEOUT, "", 0,
                             "it is not among the newest %llu messages, and the search "
                             "took too long; `gillnet explain` looks at all",
                             (unsigned long long)ret->records)
               : e;
}
