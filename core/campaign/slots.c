/* slots - the campaigns in the mapped file: which slot a new one gets, and which one ends. */
#include "core/campaign/campaign_page.h"

enum {
    WEAK_CANDIDATES = 32,
    DOUBLING_S = CAMPAIGN_DAY_S /* a campaign twice as large may be a day older */
};

void slot_begin(struct campaign_slot *s)
{
    uint32_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);

    /* the exchange keeps later stores behind it */
    (void)atomic_exchange_explicit(&s->seq, seq | 1U, memory_order_acq_rel);
}

void slot_end(struct campaign_slot *s)
{
    uint32_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);

    atomic_store_explicit(&s->seq, (seq | 1U) + 1, memory_order_release);
}

bool slot_is_alive(const struct campaign_slot *s, uint64_t now_s)
{
    return s->id != 0 && now_s < (uint64_t)s->last_s + CAMPAIGN_LIFE_S;
}

void slot_free(struct campaign_page *p, struct campaign_slot *s)
{
    uint16_t generation = (uint16_t)(s->generation + 1);

    if (s->id != 0 && s->messages > 1 && p->shown > 0) {
        p->shown--;
    }
    slot_begin(s);
    memset((char *)s + sizeof(s->seq), 0, sizeof(*s) - sizeof(s->seq));
    p->picture[s - p->slot] = (struct picture){.scale = 0};
    s->generation = generation;
    slot_end(s);
}

struct campaign_slot *slot_take(struct campaign_page *p, uint64_t now_s)
{
    struct campaign_slot *s = NULL;

    /* at most half of the slots are shown, so a few steps are enough */
    for (unsigned i = 0; i < CAMPAIGN_SLOTS; i++) {
        s = &p->slot[p->hand++ % CAMPAIGN_SLOTS];
        if (!slot_is_alive(s, now_s) || s->messages < 2) {
            break;
        }
    }
    slot_free(p, s);
    return s;
}

/* The lower, the sooner it ends. */
static uint64_t strength(const struct campaign_slot *s)
{
    unsigned doublings = 31 - (unsigned)__builtin_clz(s->messages | 1U);

    return s->last_s + (uint64_t)doublings * DOUBLING_S;
}

void slot_show(struct campaign_page *p, const struct campaign_slot *s, uint64_t now_s)
{
    struct campaign_slot *weakest = NULL;
    unsigned nseen = 0;

    p->shown++;
    for (unsigned i = 0;
         p->shown > CAMPAIGNS_MAX && i < CAMPAIGN_SLOTS && nseen < WEAK_CANDIDATES;
         i++) {
        struct campaign_slot *at = &p->slot[p->weak++ % CAMPAIGN_SLOTS];
        if (at == s || at->id == 0 || at->messages < 2) {
            continue;
        }
        nseen++;
        if (!slot_is_alive(at, now_s)) {
            slot_free(p, at);
        } else if (weakest == NULL || strength(at) < strength(weakest)) {
            weakest = at;
        }
    }
    if (p->shown > CAMPAIGNS_MAX && weakest != NULL) {
        slot_free(p, weakest);
    }
}

void slots_sweep(struct campaign_page *p, unsigned n, uint64_t now_s)
{
    for (unsigned i = 0; i < n; i++) {
        struct campaign_slot *s = &p->slot[p->swept_slot++ % CAMPAIGN_SLOTS];
        if (s->id != 0 && !slot_is_alive(s, now_s)) {
            slot_free(p, s);
        }
    }
}

void slots_mend(struct campaign_page *p)
{
    p->shown = 0;
    for (unsigned i = 0; i < CAMPAIGN_SLOTS; i++) {
        struct campaign_slot *s = &p->slot[i];
        if (atomic_load_explicit(&s->seq, memory_order_relaxed) % 2 != 0 ||
            s->nsubject > sizeof(s->subject) || s->nsender > sizeof(s->sender) ||
            p->shown == CAMPAIGNS_MAX) {
            slot_free(p, s);
        }
        p->shown += s->id != 0 && s->messages > 1;
    }
}
