#include "milter/replytext.h"

#include <math.h>

static bool is_printable(char c)
{
    return c >= 0x20 && c <= 0x7e;
}

/* A text of at most max bytes that grows by whole pieces; a piece that does not fit is left out. */
struct text {
    char *p;
    size_t n;
    size_t max;
};

static bool text_add(struct text *t, const char *s, size_t n)
{
    if (n > t->max - t->n) {
        return false;
    }
    memcpy(t->p + t->n, s, n);
    t->n += n;
    t->p[t->n] = '\0';
    return true;
}

static bool text_add_str(struct text *t, const char *s)
{
    return text_add(t, s, strlen(s));
}

/* Bytes that came with mail: brackets would end the detail they stand in. */
static void text_add_escaped(struct text *t, struct slice s)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool is_plain = is_printable(c) && c != '\\' && c != '[' && c != ']';
        unsigned char u = (unsigned char)c;
        char escape[4] = {'\\', 'x', hex[u >> 4], hex[u & 15]};
        if (!(is_plain ? text_add(t, &c, 1) : text_add(t, escape, sizeof(escape)))) {
            return;
        }
    }
}

void replytext_fold(const char *value, char *ret)
{
    size_t n = 0;
    size_t line = 0;  /* where the line began in ret */
    size_t space = 0; /* last space of the line in ret; 0: none */
    for (const char *p = value; *p && n < REPLYTEXT_HEADER_SIZE - 2; p++) {
        if (*p == ' ') {
            space = n;
        }
        ret[n++] = *p;
        if (n - line > REPLYTEXT_FOLD && space > line) {
            /* the space becomes LF TAB: one byte more */
            memmove(ret + space + 2, ret + space + 1, n - space - 1);
            ret[space] = '\n';
            ret[space + 1] = '\t';
            n++;
            line = space + 1;
            space = 0;
        }
    }
    ret[n] = '\0';
}

void replytext_limits(unsigned flags, char *ret, size_t size)
{
    struct text t = {.p = ret, .max = size - 1};
    ret[0] = '\0';
    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        if (!(flags & (1u << bit))) {
            continue;
        }
        size_t before = t.n;
        if ((before && !text_add(&t, ",", 1)) || !text_add_str(&t, limit_name(bit))) {
            ret[before] = '\0';
            return;
        }
    }
    if (t.n == 0) {
        text_add(&t, "-", 1);
    }
}

const char *replytext_required(double required, char ret[REPLYTEXT_NUMBER])
{
    if (isfinite(required)) {
        snprintf(ret, REPLYTEXT_NUMBER, "%.1f", required);
    } else {
        snprintf(ret, REPLYTEXT_NUMBER, "off");
    }
    return ret;
}

void replytext_status(const struct verdict *v, enum action done, double required,
                      const char *case_id, char *ret)
{
    char number[REPLYTEXT_NUMBER];
    char value[REPLYTEXT_VALUE_MAX + 1] = "";
    struct text t = {.p = value, .max = REPLYTEXT_VALUE_MAX};
    char part[64];
    snprintf(part, sizeof(part), "%s, action=%s score=%.1f",
             v->action == ACTION_ACCEPT ? "No" : "Yes", action_name(done), v->score);
    text_add_str(&t, part);
    snprintf(part, sizeof(part), " required=%s", replytext_required(required, number));
    text_add_str(&t, part);
    if (*case_id) {
        snprintf(part, sizeof(part), " case=%s", case_id);
        text_add_str(&t, part);
    }
    if (v->allow) {
        snprintf(part, sizeof(part), " allow=%s", v->allow);
        text_add_str(&t, part);
    }
    if (v->fault != LIST_FAULT_NONE) {
        snprintf(part, sizeof(part), " fault=%s", list_fault_name(v->fault));
        text_add_str(&t, part);
    }
    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        if (v->limits & (1u << bit)) {
            snprintf(part, sizeof(part), " limit=%s", limit_name(bit));
            text_add_str(&t, part);
        }
    }
    replytext_fold(value, ret);
}

void replytext_unchecked(const char *reason, const char *case_id, char *ret)
{
    snprintf(ret, REPLYTEXT_HEADER_SIZE, "unchecked, reason=%s case=%s", reason,
             case_id);
}

void replytext_score(const struct verdict *v, char *ret)
{
    snprintf(ret, REPLYTEXT_HEADER_SIZE, "%.1f", v->score);
}

/* One symbol. False: it does not fit. */
static bool add_symbol(struct text *t, const struct symbol *s)
{
    enum { DETAIL_MAX = 160 };
    char detail[DETAIL_MAX + 1] = "";
    char whole[VERDICT_SYMBOL_NAME + 32 + DETAIL_MAX];
    struct text d = {.p = detail, .max = DETAIL_MAX};
    text_add_escaped(&d, s->detail);
    snprintf(whole, sizeof(whole), "%s%s(%.1f)%s%s%s", t->n ? ", " : "", s->name,
             s->score, d.n ? "[" : "", detail, d.n ? "]" : "");
    return text_add_str(t, whole);
}

void replytext_symbols(const struct verdict *v, char *ret)
{
    enum { MORE = 32 }; /* kept free for the number of symbols left out */
    char value[REPLYTEXT_VALUE_MAX + 1] = "";
    struct text t = {.p = value, .max = REPLYTEXT_VALUE_MAX - MORE};
    const struct symbol *shown[VERDICT_SYMBOLS_MAX];
    size_t n = verdict_shown(v, shown);
    size_t i = 0;
    while (i < n && add_symbol(&t, shown[i])) {
        i++;
    }
    if (i < n) {
        char more[MORE];
        snprintf(more, sizeof(more), " (+%zu more)", n - i);
        t.max = REPLYTEXT_VALUE_MAX;
        text_add_str(&t, more);
    }
    if (n == 0) {
        text_add_str(&t, "-");
    }
    replytext_fold(value, ret);
}

void replytext_symbol_names(const struct verdict *v, char *ret, size_t size)
{
    struct text t = {.p = ret, .max = size - 1};
    const struct symbol *shown[VERDICT_SYMBOLS_MAX];
    size_t n = verdict_shown(v, shown);
    ret[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        char one[VERDICT_SYMBOL_NAME + 32];
        snprintf(one, sizeof(one), "%s%s(%.1f)", i ? "," : "", shown[i]->name,
                 shown[i]->score);
        if (!text_add_str(&t, one)) {
            break;
        }
    }
    if (t.n == 0) {
        text_add_str(&t, "-");
    }
}

/* The placeholder that p begins with, by its length; 0: none. */
static size_t placeholder(const char *p, const struct replytext_names *names,
                          const char *symbols, const char **retvalue)
{
    const struct {
        const char *word;
        const char *value;
    } all[] = {{"{id}", names->queue_id},
               {"{case}", *names->case_id ? names->case_id : "-"},
               {"{symbols}", symbols}};

    for (size_t i = 0; i < LENGTH(all); i++) {
        if (strncmp(p, all[i].word, strlen(all[i].word)) == 0) {
            *retvalue = all[i].value;
            return strlen(all[i].word);
        }
    }
    return 0;
}

void replytext_reply(const char *template, const struct replytext_names *names,
                     const struct verdict *v, char *ret)
{
    char plain[REPLYTEXT_REPLY_MAX + 1] = "";
    char symbols[256];
    struct text t = {.p = plain, .max = REPLYTEXT_REPLY_MAX};
    replytext_symbol_names(v, symbols, sizeof(symbols));
    for (const char *p = template; *p;) {
        const char *value = NULL;
        size_t skip = placeholder(p, names, symbols, &value);
        if (skip) {
            text_add(&t, value, strnlen(value, t.max - t.n));
            p += skip;
        } else {
            text_add(&t, p++, 1);
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        char c = plain[i];
        if (!is_printable(c)) {
            c = '?';
        }
        ret[n++] = c;
        if (plain[i] == '%') {
            ret[n++] = '%';
        }
    }
    ret[n] = '\0';
}
