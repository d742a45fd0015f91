#include "tests/unit/milter/fake_smfi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

SMFICTX *fake_smfi(struct fake_ctx *f)
{
    return (SMFICTX *)(void *)f;
}

static struct fake_ctx *ctx_of(SMFICTX *ctx)
{
    return (struct fake_ctx *)(void *)ctx;
}

void fake_clear_log(struct fake_ctx *f)
{
    f->n = 0;
    f->log[0] = '\0';
}

__attribute__((format(printf, 2, 3))) static void note(SMFICTX *ctx, const char *format,
                                                       ...)
{
    struct fake_ctx *f = ctx_of(ctx);
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(f->log + f->n, sizeof(f->log) - f->n, format, ap);
    va_end(ap);
    f->n += n > 0 ? (size_t)n : 0;
    if (f->n >= sizeof(f->log)) {
        f->n = sizeof(f->log) - 1;
    }
}

void *smfi_getpriv(SMFICTX *ctx)
{
    return ctx_of(ctx)->priv;
}

int smfi_setpriv(SMFICTX *ctx, void *priv)
{
    if (ctx_of(ctx)->fails_setpriv) {
        return MI_FAILURE;
    }
    ctx_of(ctx)->priv = priv;
    return MI_SUCCESS;
}

char *smfi_getsymval(SMFICTX *ctx, char *name)
{
    struct fake_ctx *f = ctx_of(ctx);
    for (size_t i = 0; i < FAKE_MACROS_MAX; i++) {
        if (f->macros[i].name && strcmp(f->macros[i].name, name) == 0) {
            static char value[256];
            snprintf(value, sizeof(value), "%s", f->macros[i].value);
            return value;
        }
    }
    return NULL;
}

int smfi_setsymlist(SMFICTX *ctx, int stage, char *macros)
{
    note(ctx, "symbols %d %s\n", stage, macros);
    return MI_SUCCESS;
}

int smfi_setreply(SMFICTX *ctx, char *code, char *status, char *text)
{
    note(ctx, "reply %s %s %s\n", code, status, text);
    return MI_SUCCESS;
}

int smfi_chgheader(SMFICTX *ctx, char *name, int index, char *value)
{
    if (ctx_of(ctx)->fails_change) {
        return MI_FAILURE;
    }
    note(ctx, "chg %s %d %s\n", name, index, value ? value : "-");
    return MI_SUCCESS;
}

int smfi_insheader(SMFICTX *ctx, int index, char *name, char *value)
{
    if (ctx_of(ctx)->fails_insert) {
        return MI_FAILURE;
    }
    note(ctx, "ins %d %s: %s\n", index, name, value);
    return MI_SUCCESS;
}

int smfi_quarantine(SMFICTX *ctx, char *reason)
{
    if (ctx_of(ctx)->fails_quarantine) {
        return MI_FAILURE;
    }
    note(ctx, "quarantine %s\n", reason);
    return MI_SUCCESS;
}

int smfi_progress(SMFICTX *ctx)
{
    note(ctx, "progress\n");
    return MI_SUCCESS;
}

int smfi_register(struct smfiDesc description)
{
    (void)description;
    return MI_SUCCESS;
}

int smfi_setconn(char *connection)
{
    (void)connection;
    return MI_SUCCESS;
}

int smfi_opensocket(bool removes)
{
    (void)removes;
    return MI_SUCCESS;
}

int smfi_setbacklog(int n)
{
    (void)n;
    return MI_SUCCESS;
}
