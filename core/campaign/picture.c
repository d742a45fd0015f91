#include "core/campaign/picture.h"

enum { SCALE_MAX = 32, WIDTH_MAX = 32 };

/* Messages of one step of a bar. */
static uint64_t step_of(const struct picture *p)
{
    return UINT64_C(1) << (p->scale < SCALE_MAX ? p->scale : SCALE_MAX);
}

static void halve_counts(struct picture *p)
{
    for (unsigned i = 0; i < PICTURE_BARS; i++) {
        p->bar[i] = (uint8_t)((p->bar[i] + 1) / 2); /* what was seen stays visible */
    }
    p->scale++;
}

static void double_times(struct picture *p)
{
    bool is_full = false;

    for (unsigned i = 0; i < PICTURE_BARS; i += 2) {
        is_full = is_full || p->bar[i] + p->bar[i + 1] > UINT8_MAX;
    }
    if (is_full && p->scale < SCALE_MAX) {
        halve_counts(p);
    }
    for (size_t i = 0; i < PICTURE_BARS; i++) {
        int sum = i < PICTURE_BARS / 2 ? p->bar[2 * i] + p->bar[2 * i + 1] : 0;
        p->bar[i] = sum > UINT8_MAX ? UINT8_MAX : (uint8_t)sum;
    }
    p->width++;
}

void picture_add(struct picture *p, uint64_t age_s, uint64_t nth)
{
    while (age_s / picture_step_s(p) >= PICTURE_BARS && p->width < WIDTH_MAX) {
        double_times(p);
    }
    uint64_t at = age_s / picture_step_s(p);
    uint8_t *bar = &p->bar[at < PICTURE_BARS ? at : PICTURE_BARS - 1];

    if (*bar == UINT8_MAX && p->scale < SCALE_MAX) {
        halve_counts(p);
    }
    if (nth % step_of(p) == 0 && *bar < UINT8_MAX) {
        (*bar)++;
    }
}

uint64_t picture_messages(const struct picture *p, unsigned bar)
{
    return p->bar[bar] * step_of(p);
}

uint64_t picture_step_s(const struct picture *p)
{
    return (uint64_t)PICTURE_STEP_S << (p->width < WIDTH_MAX ? p->width : WIDTH_MAX);
}
