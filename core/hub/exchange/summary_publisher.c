#include "core/hub/exchange/summary_publisher.h"

#include "core/base/clock.h"
#include "core/hub/exchange/record_publisher.h"

enum { US_PER_S = 1000000 };

struct summary_publisher {
    struct node *node;
    uint64_t due_s; /* monotonic */
    struct summary summary;
};

struct summary_publisher *summary_publisher_new(struct node *node)
{
    struct summary_publisher *x = calloc(1, sizeof(*x));

    if (x != NULL) {
        x->node = node;
    }
    return x;
}

void summary_publisher_free(struct summary_publisher **x)
{
    free(*x);
    *x = NULL;
}

static bool is_other_state(const struct headline *a, const struct headline *b)
{
    return headline_state(a) != headline_state(b) || a->needs != b->needs ||
           a->nalerts != b->nalerts ||
           memcmp(a->alert, b->alert, sizeof(a->alert)) != 0;
}

/* Without its pages gillnetd has no messages yet. */
static void fill_summary(struct summary *s, const char *state_dir,
                         const struct headline *h)
{
    s->headline = *h;
    (void)period_read(state_dir, PERIOD_DAY, h->at_s, &s->day, NULL);
    (void)period_read(state_dir, PERIOD_MONTH, h->at_s, &s->month, NULL);
    (void)period_read(state_dir, PERIOD_YEARS, h->at_s, &s->years, NULL);
}

static enum err publish(struct summary_publisher *x, const struct headline *h,
                        struct errinfo *reterr)
{
    struct mirror_entry *v = calloc(SUMMARY_RECORDS_MAX, sizeof(*v));
    struct records_wanted wanted = {LIST_SUMMARY, v, 0};
    bool again = false;
    enum err e = ERR_NOMEM;

    if (v != NULL && sync_has_one_owner(x->node->sync)) {
        fill_summary(&x->summary, x->node->state_dir, h);
        wanted.n = summary_print(&x->summary, v);
    }
    e = v != NULL ? records_publish(x->node->sync, &wanted, &again, reterr)
                  : errinfo_nomem(reterr, "summary");
    free(v);
    return e;
}

enum err summary_publisher_tick(struct summary_publisher *x, const struct headline *h,
                                struct errinfo *reterr)
{
    uint64_t mono_s = clock_mono_us() / US_PER_S;

    if (x == NULL || h->at_s == 0 ||
        (mono_s < x->due_s && !is_other_state(h, &x->summary.headline)) ||
        sync_is_busy_with(x->node->sync, LIST_SUMMARY)) {
        return ERR_OK;
    }
    x->due_s = mono_s + SUMMARY_EVERY_S;
    enum err e = publish(x, h, reterr);
    if (e == ERR_EXISTS) { /* an object that was signed before went first */
        x->due_s = 0;
        e = ERR_OK;
    }
    return e;
}
