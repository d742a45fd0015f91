#include "tests/bench/journal_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"

enum { DAY_S = 86400, WAIT_US = 10000 };

static uint64_t add(struct journal *j, const struct record *r)
{
    for (;;) {
        const uint64_t begin_us = clock_cpu_us();
        const bool is_kept = journal_add(j, r);
        const uint64_t us = clock_cpu_us() - begin_us;
        if (is_kept) {
            return us;
        }
        usleep(WAIT_US);
    }
}

uint64_t journal_write(const char *folder, uint64_t n, journal_fill *fill)
{
    static struct record r;
    struct prng p;
    struct errinfo why;
    struct journal *j = NULL;
    const struct hashkey key = {.id = 1};
    const struct journal_options options = {.state_dir = folder,
                                            .key = &key,
                                            .keep_s = 14 * DAY_S,
                                            .size_max = UINT64_C(1) << 40};
    uint64_t spent_us = 0;

    prng_init(&p, 1, 1);
    if (journal_open(&options, &j, &why) != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why.source, why.text);
        exit(EXIT_FAILURE);
    }
    for (uint64_t i = 0; i < n; i++) {
        fill(&r, &p, i);
        spent_us += add(j, &r);
    }
    journal_close(&j);
    return spent_us;
}
