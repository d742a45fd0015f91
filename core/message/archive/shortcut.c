#include "core/message/archive/shortcut.h"

struct run {
    char text[SHORTCUT_STRING_MAX];
    size_t n;
};

static void tell(struct run *r, void (*string)(void *context, struct slice text),
                 void *context)
{
    if (r->n >= SHORTCUT_STRING_MIN) {
        string(context, slice_of(r->text, r->n));
    }
    r->n = 0;
}

static void cut(struct run *r, void (*string)(void *context, struct slice text),
                void *context)
{
    size_t end = r->n;
    while (end > r->n - SHORTCUT_KEPT_MAX && (unsigned char)r->text[end - 1] > ' ') {
        end--;
    }
    end = end > r->n - SHORTCUT_KEPT_MAX ? end : r->n;
    size_t kept = r->n - end;
    r->n = end;
    tell(r, string, context);
    memmove(r->text, r->text + end, kept);
    r->n = kept;
}

/* One character a `step` bytes. A blank counts: arguments are padded with any. */
static void read_runs(struct slice file, size_t step,
                      void (*string)(void *context, struct slice text), void *context)
{
    struct run r = {.n = 0};
    for (size_t i = 0; i + step <= file.n; i += step) {
        char c = file.p[i];
        bool is_text = (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
        if (!is_text || (step > 1 && file.p[i + 1] != '\0')) {
            tell(&r, string, context);
            continue;
        }
        r.text[r.n++] = c;
        if (r.n == sizeof(r.text)) {
            cut(&r, string, context);
        }
    }
    tell(&r, string, context);
}

void shortcut_read(struct slice file, void (*string)(void *context, struct slice text),
                   void *context)
{
    read_runs(file, 1, string, context);
    read_runs(file, 2, string, context);
    read_runs(slice_from(file, 1), 2, string, context);
}
