/* progress - a bar on a terminal, nothing elsewhere. */
#include "core/cli/progress.h"

#include "core/base/clock.h"
#include "core/base/std.h"

enum { BAR = 40, REDRAW_US = 100000 };

void progress_init(struct progress *p)
{
    *p = (struct progress){.is_shown = isatty(STDERR_FILENO) == 1};
}

void progress_show(struct progress *p, const char *stage, double share)
{
    uint64_t now = clock_mono_us();
    char bar[BAR + 1];

    if (!p->is_shown || (p->is_dirty && now - p->last_us < REDRAW_US)) {
        return;
    }
    p->last_us = now;
    p->is_dirty = true;
    if (share < 0) {
        (void)fprintf(stderr, "\r\033[K%s ...", stage);
        return;
    }
    share = share > 1 ? 1 : share;
    for (int i = 0; i < BAR; i++) {
        bar[i] = i < (int)(share * BAR) ? '#' : '.';
    }
    bar[BAR] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %3.0f%% %s", bar, share * 100, stage);
}

void progress_clear(struct progress *p)
{
    if (p->is_dirty) {
        (void)fputs("\r\033[K", stderr);
        p->is_dirty = false;
    }
}
