#include "core/campaign/campaign_evidence.h"

#include "core/base/le.h"

/* Weight of the keys of a type. */
struct weight {
    enum feature_type type;
    uint8_t weight;
    bool is_of_short; /* used only where the text has no near-duplicate keys */
};
static const struct weight weights[] = {
    {FEATURE_text_band, 4, false},       {FEATURE_text, 14, false},
    {FEATURE_link_set, 8, false},        {FEATURE_attachment, 8, false},
    {FEATURE_html_structure, 4, false},  {FEATURE_subject_skeleton, 4, false},
    {FEATURE_template_sender, 10, true}, {FEATURE_body, 10, true},
};

static const struct weight *weight_of_type(uint16_t type)
{
    for (size_t i = 0; i < LENGTH(weights); i++) {
        if (weights[i].type == type) {
            return &weights[i];
        }
    }
    return NULL;
}

unsigned evidence_weight(uint16_t type)
{
    const struct weight *w = weight_of_type(type);

    return w != NULL ? w->weight : 0;
}

/* The epoch of a near-duplicate key, "EPOCH.BAND.VALUE" in hexadecimal digits. */
static uint64_t epoch_of(struct slice text)
{
    uint64_t epoch = 0;
    (void)slice_to_u64(slice_cut(&text, '.'), 16, UINT32_MAX, &epoch);
    return epoch;
}

static uint64_t newest_epoch(const struct featureset *features)
{
    size_t n = featureset_count(features);
    uint64_t newest = 0;

    for (size_t i = 0; i < n; i++) {
        const struct feature *f = featureset_at(features, i);
        uint64_t epoch = f->type == FEATURE_text_band ? epoch_of(f->text) : 0;
        newest = epoch > newest ? epoch : newest;
    }
    return newest;
}

/* Evidence under way. */
struct making {
    uint64_t epoch; /* 0: no near-duplicate keys */
    unsigned nattachments;
    struct evidence *ret;
};

static void add_key(struct making *m, const struct feature *f, uint64_t digest)
{
    const struct weight *w = weight_of_type(f->type);

    if (w == NULL || (w->is_of_short && m->epoch != 0) || m->ret->n == EVIDENCE_MAX ||
        (f->type == FEATURE_attachment && m->nattachments++ >= EVIDENCE_ATTACHMENTS)) {
        return;
    }
    enum evidence_epoch epoch = f->type != FEATURE_text_band    ? EVIDENCE_ALWAYS
                                : epoch_of(f->text) == m->epoch ? EVIDENCE_NEW
                                                                : EVIDENCE_OLD;
    m->ret->v[m->ret->n++] = (struct evidence_key){.digest = digest,
                                                   .type = (uint8_t)f->type,
                                                   .weight = w->weight,
                                                   .epoch = (uint8_t)epoch};
}

/* Takes a feature of a message with its digest. */
static void take(struct making *m, const struct feature *f, uint64_t digest)
{
    struct evidence *e = m->ret;

    switch (f->type) {
    case FEATURE_client_net:
        e->network = digest;
        break;
    case FEATURE_from_domain:
    case FEATURE_envelope_domain:
        e->domain =
            e->domain == 0 || f->type == FEATURE_from_domain ? digest : e->domain;
        break;
    default:
        add_key(m, f, digest);
    }
}

static uint64_t beginning(const struct digest *d)
{
    return le_get(d->b, sizeof(uint64_t));
}

static bool is_taken(uint16_t type)
{
    return type == FEATURE_client_net || type == FEATURE_from_domain ||
           type == FEATURE_envelope_domain || weight_of_type(type) != NULL;
}

void evidence_make(const struct evidence_case *c, struct evidence *ret)
{
    const struct feature *subject = featureset_first(c->features, FEATURE_subject);
    const struct feature *from = featureset_first(c->features, FEATURE_from);
    struct making m = {.epoch = newest_epoch(c->features), .ret = ret};
    size_t ncounted = c->counts != NULL ? c->counts->n : 0;
    size_t n = ncounted == 0 ? featureset_count(c->features) : 0;

    from = from != NULL ? from : featureset_first(c->features, FEATURE_envelope_from);
    ret->n = 0;
    ret->network = 0;
    ret->domain = 0;
    ret->subject = subject != NULL ? subject->text : SLICE_NONE;
    ret->sender = from != NULL ? from->text : SLICE_NONE;
    for (size_t i = 0; i < ncounted; i++) {
        const struct counted *k = &c->counts->v[i];
        if (is_taken(k->feature->type)) {
            take(&m, k->feature, beginning(&k->digest[0]));
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct feature *f = featureset_at(c->features, i);
        struct digest d[KEYRING_MAX];
        if (is_taken(f->type)) {
            count_digest(c->keys, c->config, f->type, f->text, d);
            take(&m, f, beginning(&d[0]));
        }
    }
}
