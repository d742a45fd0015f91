/* script_value - the string in hand: operands, calls that wait for their ")", variables. */

#include "core/message/text/script_inside.h"

static struct script_frame *top(struct script *s)
{
    return s->depth > 0 ? &s->frames[s->depth - 1] : NULL;
}

/* Where the expression between the innermost parentheses begins. */
static size_t inner(const struct script *s)
{
    return s->depth > 0 ? s->frames[s->depth - 1].at : 0;
}

static bool may_grow(struct script *s, size_t n)
{
    if (s->growth < n) {
        return false;
    }
    s->growth -= n;
    return true;
}

static void tell_piece(struct script *s, size_t from, size_t to, bool left, bool right)
{
    struct script_value value = {slice_of(s->value + from, to - from), left, right};
    if (to > from) {
        s->on_value(s->context, &value);
    }
}

/* Reports value[from..to), divided at its unknown parts. */
static void report_values(struct script *s, size_t from, size_t to, bool is_cut)
{
    bool left = false;
    size_t begin = from;
    for (size_t i = from; i < to && s->is_made; i++) {
        char c = s->value[i];
        if (c == SCRIPT_UNKNOWN || c == SCRIPT_NEXT) {
            tell_piece(s, begin, i, left, c == SCRIPT_UNKNOWN);
            left = c == SCRIPT_UNKNOWN;
            begin = i + 1;
        }
    }
    if (s->is_made) {
        tell_piece(s, begin, to, left, is_cut);
    }
}

/* Decodes the argument of a decoding call, as far as it is complete. */
static void decode_argument(struct script *s, struct script_frame *f, bool is_last)
{
    size_t from = f->decoded;
    size_t to = s->n;
    size_t rest = is_last ? to : to + 1;
    size_t end = 0;
    if (f->call == CALL_UNESCAPE) {
        end = script_decode_escapes(s->value, from, to, &rest);
    } else if (f->call == CALL_BASE64) {
        end = script_decode_base64(s->value, from, to, &rest);
    } else if (f->call == CALL_CODES) {
        end = script_decode_codes(s->value, from, to, &rest);
    } else {
        return;
    }
    s->is_made = true;
    memmove(s->value + end, s->value + rest, to - rest);
    f->decoded = end;
    s->n = end + (to - rest);
}

/* Gives up what stands outside of the innermost parentheses, f. */
static void give_up_outside(struct script *s, struct script_frame *f)
{
    size_t at = f->at;
    memmove(s->value + 1, s->value + at, s->n - at);
    s->value[0] = SCRIPT_UNKNOWN;
    s->n = s->n - at + 1;
    f->decoded = f->decoded > at ? f->decoded - at + 1 : 1;
    for (unsigned i = 0; i < s->depth; i++) {
        s->frames[i].of = 0;
        s->frames[i].at = 1;
        s->frames[i].decoded = i + 1 < s->depth ? 1 : s->frames[i].decoded;
    }
    s->operand = 1;
}

static bool is_blank_or_quote(char c)
{
    return (unsigned char)c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>';
}

/* Makes room: reports the decoded value except its end, because more text may follow. */
static void spill(struct script *s)
{
    struct script_frame *f = top(s);
    if (f != NULL) {
        decode_argument(s, f, false);
        if (inner(s) > SCRIPT_VALUE_MAX / 2) {
            give_up_outside(s, f);
        }
    }
    size_t from = inner(s);
    bool is_decoded =
        f != NULL && f->decoded > from && s->n - f->decoded < SCRIPT_VALUE_MAX / 4;
    size_t to = is_decoded ? f->decoded : s->n;
    size_t keep = to;
    size_t lowest = to - from > SCRIPT_KEPT_MAX / 2 ? to - SCRIPT_KEPT_MAX / 2 : from;
    if (s->n <= SCRIPT_VALUE_MAX / 2) {
        return;
    }
    while (keep > lowest && !is_blank_or_quote(s->value[keep - 1])) {
        keep--;
    }
    bool is_cut = keep == lowest;
    keep = is_cut ? to : keep;
    report_values(s, from, keep, is_cut);
    s->value[from++] = SCRIPT_UNKNOWN;
    memmove(s->value + from, s->value + keep, s->n - keep);
    s->n = from + (s->n - keep);
    s->operand = inner(s);
    if (f != NULL) {
        f->decoded = from + (to - keep);
    }
}

void script_put(struct script *s, char c)
{
    if (s->n == SCRIPT_VALUE_MAX) {
        spill(s);
    }
    s->value[s->n++] = c;
}

void script_put_code(struct script *s, unsigned code)
{
    char utf8[4];
    size_t n = script_utf8(utf8, code);
    for (size_t i = 0; i < n; i++) {
        script_put(s, utf8[i]);
    }
}

static struct script_variable *find_variable(struct script *s, struct slice name)
{
    for (unsigned i = 0; i < SCRIPT_VARIABLES; i++) {
        struct script_variable *v = &s->variables[i];
        if (v->nname == name.n && memcmp(v->name, name.p, name.n) == 0) {
            return v;
        }
    }
    return NULL;
}

/* A long string is dropped: it was already reported. */
static void assign(struct script *s)
{
    struct slice name = slice_of(s->target, s->ntarget);
    struct script_variable *v = name.n > 0 ? find_variable(s, name) : NULL;
    if (name.n == 0 || (v == NULL && s->n > SCRIPT_VARIABLE_MAX)) {
        return;
    }
    if (v == NULL) {
        v = &s->variables[s->next_variable++ % SCRIPT_VARIABLES];
    }
    v->nname = (uint16_t)(s->n > SCRIPT_VARIABLE_MAX ? 0 : name.n);
    v->n = (uint16_t)(v->nname > 0 ? s->n : 0);
    memcpy(v->name, name.p, v->nname);
    memcpy(v->text, s->value, v->n);
}

void script_flush(struct script *s)
{
    report_values(s, inner(s), s->n, false);
    if (s->depth == 0 && !s->wants_value) {
        assign(s);
    }
    s->n = 0;
    s->operand = 0;
    s->depth = 0;
    s->deeper = 0;
    s->ntarget = 0;
    s->nloaded = 0;
    s->is_made = false;
    s->is_chars = false;
    s->is_method = false;
    s->wants_value = true;
}

void script_other(struct script *s)
{
    struct script_frame *f = top(s);
    if (f == NULL) {
        script_flush(s);
        return;
    }
    report_values(s, f->at, s->n, false);
    s->n = f->at;
    f->decoded = f->at;
    f->is_unknown = true;
    s->is_chars = false;
    s->is_method = false;
    s->wants_value = true;
}

void script_next(struct script *s)
{
    struct script_frame *f = top(s);
    if (f != NULL && s->deeper == 0 &&
        (f->call == CALL_ARRAY || f->call == CALL_CODES || f->call == CALL_CONCAT)) {
        script_put(s, SCRIPT_NEXT);
        s->wants_value = true;
        s->is_chars = false;
    } else {
        script_other(s);
    }
}

void script_operand(struct script *s)
{
    if (!s->wants_value) {
        script_other(s);
    }
    s->wants_value = false;
    s->is_chars = false;
    s->nloaded = 0;
    s->operand = s->n;
}

void script_forget_operand(struct script *s)
{
    s->n = s->operand > inner(s) ? s->operand : inner(s);
    script_put(s, SCRIPT_UNKNOWN);
    s->is_chars = false;
    s->wants_value = false;
}

bool script_knows(struct script *s)
{
    return s->nname > 0 && find_variable(s, slice_of(s->name, s->nname)) != NULL;
}

void script_load(struct script *s)
{
    struct slice name = slice_of(s->name, s->nname);
    struct script_variable *v = name.n > 0 ? find_variable(s, name) : NULL;
    script_operand(s);
    if (s->depth == 0 && s->n == 0) {
        memcpy(s->loaded, name.p, name.n);
        s->nloaded = name.n;
    }
    if (v == NULL || !may_grow(s, v->n)) {
        script_put(s, SCRIPT_UNKNOWN);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        script_put(s, v->text[i]);
    }
    s->is_made = true;
}

void script_open(struct script *s, enum script_call call)
{
    struct script_frame *f = top(s);
    bool is_of_value = call >= CALL_SPLIT || call == CALL_INDEX;
    if (!is_of_value) {
        script_operand(s);
    }
    if (s->depth == SCRIPT_DEPTH_MAX) {
        s->deeper++;
        f->is_unknown = true;
        s->wants_value = true;
        return;
    }
    if (f != NULL && f->call == CALL_CODES && call == CALL_ARRAY) {
        f->call = CALL_GROUP; /* apply(null, [...]) */
        call = CALL_CODES;
    }
    s->frames[s->depth++] = (struct script_frame){.call = call,
                                                  .of = is_of_value ? s->operand : s->n,
                                                  .at = s->n,
                                                  .decoded = s->n,
                                                  .is_chars = s->is_chars};
    s->wants_value = true;
}

static void reverse(char *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        char c = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = c;
    }
}

/* A list from its last element to its first: all its bytes, then those of each. */
static void reverse_list(char *p, size_t n, bool is_chars)
{
    size_t begin = 0;
    reverse(p, n);
    for (size_t i = 0; i <= n && !is_chars; i++) {
        if (i == n || p[i] == SCRIPT_NEXT) {
            reverse(p + begin, i - begin);
            begin = i + 1;
        }
    }
}

/* Puts `to` for each `from`, nothing when it is NUL. Returns the new length. */
static size_t replace_bytes(char *p, size_t n, char from, char to)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] != from) {
            p[out++] = p[i];
        } else if (to != '\0') {
            p[out++] = to;
        } else {
            /* dropped */
        }
    }
    return out;
}

/* The element of the list whose number is the argument. False: it is not known. */
static bool pick(struct script *s, const struct script_frame *f)
{
    unsigned index = script_number(slice_of(s->value + f->at, s->n - f->at));
    size_t begin = f->of;
    for (; begin < f->at && index > 0; begin++) {
        index -= s->value[begin] == SCRIPT_NEXT;
    }
    if (index > 0 || memchr(s->value + f->of, SCRIPT_NEXT, f->at - f->of) == NULL) {
        return false;
    }
    size_t n = slice_find(slice_of(s->value + begin, f->at - begin), SCRIPT_NEXT);
    memmove(s->value + f->of, s->value + begin, n);
    s->n = f->of + n;
    return true;
}

/* A method that divides the value before the point, or puts it together again. */
static bool rearrange(struct script *s, const struct script_frame *f)
{
    char *p = s->value + f->of;
    size_t n = f->at - f->of;
    size_t nargument = s->n - f->at;
    char argument = '\0';
    if (nargument > 0) {
        argument = s->value[f->at];
    }
    s->n = f->at;
    s->is_chars = f->is_chars;
    if (nargument > 1 || argument == SCRIPT_UNKNOWN) {
        return false;
    }
    if (f->call == CALL_REVERSE) {
        reverse_list(p, n, s->is_chars);
    } else if (f->call == CALL_SPLIT && nargument == 0) {
        s->is_chars = true;
    } else if (f->call == CALL_SPLIT) {
        s->n = f->of + replace_bytes(p, n, argument, SCRIPT_NEXT);
    } else if (!s->is_chars) {
        s->n = f->of + replace_bytes(p, n, SCRIPT_NEXT, argument);
    } else {
        return nargument == 0;
    }
    return true;
}

/* Replaces the arguments of a call by its result; false: the result is unknown. */
static bool finish_call(struct script *s, struct script_frame *f)
{
    char *p = s->value + f->at;
    size_t n = s->n - f->at;
    switch (f->call) {
    case CALL_GROUP:
    case CALL_ARRAY:
    case CALL_TEMPLATE:
        return true;
    case CALL_UNESCAPE:
    case CALL_BASE64:
    case CALL_CODES:
        decode_argument(s, f, true);
        return true;
    case CALL_REVERSED:
        reverse(p, n);
        return true;
    case CALL_CONCAT:
        s->n = f->at + replace_bytes(p, n, SCRIPT_NEXT, '\0');
        return true;
    case CALL_SAME:
        s->n = f->at;
        return true;
    case CALL_INDEX:
        return pick(s, f);
    case CALL_SPLIT:
    case CALL_REVERSE:
    case CALL_JOIN:
        return rearrange(s, f);
    case CALL_OTHER:
        break;
    }
    return false;
}

void script_close(struct script *s)
{
    if (s->deeper > 0) {
        s->deeper--;
        return;
    }
    if (s->depth == 0) {
        script_flush(s);
        return;
    }
    struct script_frame f = *top(s);
    s->is_chars = false;
    if (f.is_unknown || !may_grow(s, s->n - f.of) || !finish_call(s, &f)) {
        report_values(s, f.at < s->n ? f.at : s->n, s->n, false);
        s->n = f.of;
        script_put(s, SCRIPT_UNKNOWN);
        s->is_chars = false;
    }
    s->depth--;
    s->is_made = true;
    s->operand = f.of;
    s->wants_value = false;
}

enum script_call script_call_of(struct slice name, bool is_method)
{
    static const struct {
        const char *name;
        enum script_call call;
    } rows[] = {
        {"split", CALL_SPLIT},         {"reverse", CALL_REVERSE},
        {"join", CALL_JOIN},           {"concat", CALL_CONCAT},
        {"tostring", CALL_SAME},       {"valueof", CALL_SAME},
        {"trim", CALL_SAME},           {"unescape", CALL_UNESCAPE},
        {"decodeuri", CALL_UNESCAPE},  {"decodeuricomponent", CALL_UNESCAPE},
        {"atob", CALL_BASE64},         {"frombase64string", CALL_BASE64},
        {"getstring", CALL_GROUP}, /* [Text.Encoding]::UTF8.GetString(bytes) */
        {"string", CALL_GROUP},        {"fromcharcode", CALL_CODES},
        {"fromcodepoint", CALL_CODES}, {"chr", CALL_CODES},
        {"chrw", CALL_CODES},          {"chr$", CALL_CODES},
        {"char", CALL_CODES}, /* of worksheets */
        {"strreverse", CALL_REVERSED},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (is_method == (rows[i].call >= CALL_SPLIT) &&
            slice_eq_nocase(name, slice_str(rows[i].name))) {
            return rows[i].call;
        }
    }
    return CALL_OTHER;
}
