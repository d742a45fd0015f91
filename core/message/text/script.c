/* script - the tokens of a script: strings, names, operators, comments. */
#include "core/message/text/script.h"

#include "core/message/text/ascii.h"
#include "core/message/text/script_inside.h"

enum {
    BYTE_DIGITS = 2,
    UNIT_DIGITS = 4,
    BRACED_DIGITS_MAX = 6,
    OCTAL_DIGITS = 3,
    HIGH_SURROGATE = 0xd800,
    LOW_SURROGATE = 0xdc00,
    SURROGATE_END = 0xe000,
    SURROGATE_BITS = 10,
    BEYOND = 0x10000
};

struct script *script_new(struct arena *arena, script_fn *on_value, void *context)
{
    struct script *s = arena_alloc(arena, sizeof(*s));
    if (s != NULL) {
        s->on_value = on_value;
        s->context = context;
    }
    return s;
}

void script_begin(struct script *s, enum script_dialect dialect)
{
    script_fn *on_value = s->on_value;
    void *context = s->context;
    memset(s, 0, offsetof(struct script, value));
    for (size_t i = 0; i < SCRIPT_VARIABLES; i++) {
        s->variables[i].nname = 0;
    }
    s->on_value = on_value;
    s->context = context;
    s->dialect = dialect;
    s->wants_value = true;
    s->growth = SCRIPT_GROWTH_FREE;
}

static bool is_name_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '_' || c == '$' ||
           ((unsigned char)c & 0x80) != 0;
}

static struct slice script_name(const struct script *s)
{
    return slice_of(s->name, s->nname);
}

/* A name that no "(", "." or "=" follows is a variable, or a property of the value before. */
static void resolve(struct script *s)
{
    if (!s->has_name) {
        return;
    }
    s->has_name = false;
    s->is_of_codes = false;
    if (s->is_method) {
        s->is_method = false;
        script_forget_operand(s);
    } else {
        script_load(s);
    }
}

/* Words after which a value begins. */
static bool is_keyword(struct slice name)
{
    static const char *const words[] = {"return", "in",     "of",  "case",  "else",
                                        "typeof", "void",   "new", "await", "yield",
                                        "throw",  "delete", "then"};
    for (size_t i = 0; i < LENGTH(words); i++) {
        if (slice_eq(name, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

static void end_name(struct script *s)
{
    s->state = SCRIPT_CODE;
    s->has_name = true;
    if (!s->is_method && is_keyword(script_name(s))) {
        s->has_name = false;
        if (!s->wants_value) {
            script_other(s);
        }
    }
}

static void end_number(struct script *s)
{
    s->state = SCRIPT_CODE;
    script_operand(s);
    for (size_t i = 0; i < s->nname; i++) {
        script_put(s, s->name[i]);
    }
}

/* Of a name or a number that is too long nothing is kept. */
static void put_name(struct script *s, char c)
{
    bool is_long = s->nname == SCRIPT_NAME_MAX;
    s->nname = is_long ? 0 : s->nname;
    if (s->is_long || is_long) {
        s->is_long = true;
        return;
    }
    if (s->dialect != SCRIPT_JAVASCRIPT) {
        c = ASCII_LOWER(c);
    }
    s->name[s->nname++] = c;
}

static void begin_name(struct script *s, char c)
{
    resolve(s);
    s->state = ASCII_IS(c, ASCII_DIGIT) ? SCRIPT_NUMBER : SCRIPT_NAME;
    s->nname = 0;
    s->is_long = false;
    put_name(s, c);
}

static void open_parenthesis(struct script *s)
{
    enum script_call call = CALL_GROUP;
    if (s->has_name) {
        struct slice name = script_name(s);
        call = script_call_of(name, s->is_method);
        if (s->is_of_codes && call == CALL_OTHER) {
            call = CALL_CODES; /* String.fromCharCode.apply() */
        }
    }
    if (s->is_method ? call == CALL_OTHER : !s->has_name && !s->wants_value) {
        script_forget_operand(s);
        script_other(s);
        call = CALL_OTHER;
    }
    s->has_name = false;
    s->is_method = false;
    s->is_of_codes = false;
    script_open(s, call);
}

static void open_bracket(struct script *s)
{
    resolve(s);
    script_open(s, s->wants_value ? CALL_ARRAY : CALL_INDEX);
}

/* A point follows a value with a method, or the name of an object. */
static void point(struct script *s)
{
    if (s->has_name && !s->is_method && !script_knows(s)) {
        s->has_name = false;
        s->is_of_codes = slice_eq_nocase(script_name(s), SLICE_LIT("fromCharCode"));
        return;
    }
    resolve(s);
    s->is_method = !s->wants_value;
}

static void plus(struct script *s)
{
    resolve(s);
    bool is_sum = s->depth > 0 && s->frames[s->depth - 1].call == CALL_CODES;
    if (is_sum || (s->wants_value && s->after_plus)) {
        script_other(s);
    } else if (!s->wants_value) {
        s->wants_value = true;
        s->is_made = true;
        s->is_method = false;
        s->after_plus = true;
    } else {
        /* a sign */
    }
}

static void equals(struct script *s)
{
    if (s->after_plus && s->nloaded > 0 && s->depth == 0) {
        memcpy(s->target, s->loaded, s->nloaded); /* a += ... */
        s->ntarget = s->nloaded;
    } else if (s->has_name && !s->is_method && s->depth == 0 && s->deeper == 0) {
        s->has_name = false;
        script_flush(s);
        memcpy(s->target, s->name, s->nname);
        s->ntarget = s->nname;
    } else {
        resolve(s);
        script_other(s);
        s->ntarget = 0; /* "==" */
    }
}

static void close_brace(struct script *s)
{
    resolve(s);
    if (s->depth > 0 && s->deeper == 0 &&
        s->frames[s->depth - 1].call == CALL_TEMPLATE) {
        script_close(s);
        s->state = SCRIPT_STRING;
        s->quote = '`';
    } else {
        script_flush(s);
    }
}

static void punctuation(struct script *s, char c)
{
    switch (c) {
    case '(':
        open_parenthesis(s);
        break;
    case '[':
        open_bracket(s);
        break;
    case ')':
    case ']':
        resolve(s);
        script_close(s);
        break;
    case '.':
        point(s);
        break;
    case '+':
    case '&':
        plus(s);
        return;
    case '=':
        equals(s);
        break;
    case ',':
        resolve(s);
        script_next(s);
        break;
    case '}':
        close_brace(s);
        break;
    case '{':
    case ';':
        resolve(s);
        script_flush(s);
        break;
    default:
        resolve(s);
        script_other(s);
        break;
    }
    s->after_plus = false;
}

static bool is_quote(const struct script *s, char c)
{
    return c == '"' || (c == '\'' && s->dialect != SCRIPT_VBSCRIPT) ||
           (c == '`' && s->dialect == SCRIPT_JAVASCRIPT);
}

static bool is_comment(const struct script *s, char c)
{
    return (c == '\'' && s->dialect == SCRIPT_VBSCRIPT) ||
           (c == '#' && s->dialect == SCRIPT_POWERSHELL);
}

static void in_code(struct script *s, char c)
{
    if (ASCII_IS(c, ASCII_SPACE)) {
        /* VBScript goes on in the next line behind "_" */
        bool is_line_end = c == '\n' || c == '\r';
        if (is_line_end && s->has_name && slice_eq(script_name(s), SLICE_LIT("_"))) {
            s->has_name = false;
        }
    } else if (ASCII_IS(c, ASCII_DIGIT) || is_name_char(c)) {
        begin_name(s, c);
        s->after_plus = false;
    } else if (is_quote(s, c)) {
        resolve(s);
        script_operand(s);
        s->after_plus = false;
        s->state = SCRIPT_STRING;
        s->quote = c;
        s->high = 0;
    } else if (is_comment(s, c)) {
        s->state = SCRIPT_LINE_COMMENT;
    } else if (c == '/' && s->dialect == SCRIPT_JAVASCRIPT) {
        s->state = SCRIPT_SLASH;
    } else {
        punctuation(s, c);
    }
}

/* True: c was used up. */
static bool behind_slash(struct script *s, char c)
{
    if (c == '/' || c == '*') {
        s->state = c == '/' ? SCRIPT_LINE_COMMENT : SCRIPT_COMMENT;
        return true;
    }
    s->state = s->wants_value && !s->has_name ? SCRIPT_PATTERN : SCRIPT_CODE;
    if (s->state == SCRIPT_PATTERN) {
        script_operand(s);
        script_put(s, SCRIPT_UNKNOWN);
    } else {
        punctuation(s, '/');
    }
    return false;
}

static void in_pattern(struct script *s, char c)
{
    bool is_set = s->state == SCRIPT_PATTERN_SET;
    if (c == '\n' || (c == '/' && !is_set)) {
        s->state = SCRIPT_CODE;
    } else if (c == '\\') {
        s->state = is_set ? SCRIPT_PATTERN_SET_ESCAPE : SCRIPT_PATTERN_ESCAPE;
    } else if (c == '[') {
        s->state = SCRIPT_PATTERN_SET;
    } else if (c == ']') {
        s->state = SCRIPT_PATTERN;
    } else {
        /* of the pattern */
    }
}

/* Text of the string as it stands. */
static void put_literal(struct script *s, char c)
{
    if (c == SCRIPT_UNKNOWN || c == SCRIPT_NEXT) {
        c = SCRIPT_CONTROL;
    }
    script_put(s, c);
}

static char escape_char(const struct script *s)
{
    if (s->dialect == SCRIPT_JAVASCRIPT) {
        return '\\';
    }
    return s->dialect == SCRIPT_POWERSHELL && s->quote == '"' ? '`' : '\0';
}

static void in_string(struct script *s, char c)
{
    bool is_js = s->dialect == SCRIPT_JAVASCRIPT;
    if (c == s->quote) {
        s->state = is_js ? SCRIPT_CODE : SCRIPT_QUOTE;
    } else if (c == escape_char(s) && c != '\0') {
        s->state = SCRIPT_ESCAPE;
        s->is_made = true;
    } else if (c == '\n' && s->quote != '`' && s->dialect != SCRIPT_POWERSHELL) {
        s->state = SCRIPT_CODE; /* it has no end */
    } else if (c == '$' && is_js && s->quote == '`') {
        s->state = SCRIPT_DOLLAR;
    } else if (c == '$' && s->dialect == SCRIPT_POWERSHELL && s->quote == '"') {
        s->state = SCRIPT_INSERTED;
        s->is_made = true;
        script_put(s, SCRIPT_UNKNOWN);
    } else {
        put_literal(s, c);
    }
}

static void behind_dollar(struct script *s)
{
    s->is_made = true;
    s->wants_value = true;
    s->state = SCRIPT_CODE;
    script_open(s, CALL_TEMPLATE);
}

static void in_escape(struct script *s, char c)
{
    static const char from[] = "nrtbfv";
    static const char to[] = "\n\r\t\b\f\v";
    const char *known = c != '\0' ? strchr(from, c) : NULL;
    bool is_js = s->dialect == SCRIPT_JAVASCRIPT;
    s->state = SCRIPT_STRING;
    s->code = 0;
    s->ndigits = 0;
    if (is_js && (c == 'x' || c == 'u')) {
        s->digits = c == 'x' ? BYTE_DIGITS : UNIT_DIGITS;
        s->state = SCRIPT_ESCAPE_HEX;
    } else if (is_js && c >= '0' && c <= '7') {
        s->code = (unsigned)(c - '0');
        s->ndigits = 1;
        s->state = SCRIPT_ESCAPE_OCTAL;
    } else if (c == '\r') {
        s->state = SCRIPT_ESCAPE_CR;
    } else if (known != NULL) {
        script_put(s, to[known - from]);
    } else if (c != '\n') {
        put_literal(s, c);
    } else {
        /* the string goes on in the next line */
    }
}

static void end_escape(struct script *s)
{
    s->state = SCRIPT_STRING;
    if (s->code >= HIGH_SURROGATE && s->code < LOW_SURROGATE) {
        s->high = s->code;
        return;
    }
    if (s->high > 0 && s->code >= LOW_SURROGATE && s->code < SURROGATE_END) {
        s->code = BEYOND + ((s->high - HIGH_SURROGATE) << SURROGATE_BITS) +
                  (s->code - LOW_SURROGATE);
    }
    s->high = 0;
    script_put_code(s, s->code);
}

/* True: c was used up. */
static bool in_escape_hex(struct script *s, char c)
{
    bool is_braced = s->digits == 0;
    if (c == '{' && s->ndigits == 0 && s->digits == UNIT_DIGITS) {
        s->digits = 0;
    } else if (c == '}' && is_braced) {
        end_escape(s);
    } else if (ASCII_IS(c, ASCII_HEX) &&
               (!is_braced || s->ndigits < BRACED_DIGITS_MAX)) {
        s->code = s->code * 16 + ascii_hex[(unsigned char)c];
        if (++s->ndigits == s->digits) {
            end_escape(s);
        }
    } else {
        s->state = SCRIPT_STRING; /* broken */
        return false;
    }
    return true;
}

static bool in_escape_octal(struct script *s, char c)
{
    if (c >= '0' && c <= '7' && s->ndigits < OCTAL_DIGITS) {
        s->code = s->code * 8 + (unsigned)(c - '0');
        s->ndigits++;
        return true;
    }
    end_escape(s);
    return false;
}

/* True: c was used up; false: it is to be looked at again in the new state. */
static bool step_string(struct script *s, char c)
{
    switch (s->state) {
    case SCRIPT_ESCAPE:
        in_escape(s, c);
        return true;
    case SCRIPT_ESCAPE_CR:
        s->state = SCRIPT_STRING;
        return c == '\n';
    case SCRIPT_ESCAPE_HEX:
        return in_escape_hex(s, c);
    case SCRIPT_ESCAPE_OCTAL:
        return in_escape_octal(s, c);
    case SCRIPT_QUOTE: /* a doubled one stands for itself */
        s->state = c == s->quote ? SCRIPT_STRING : SCRIPT_CODE;
        if (c == s->quote) {
            s->is_made = true;
            script_put(s, c);
        }
        return c == s->quote;
    case SCRIPT_DOLLAR:
        if (c == '{') {
            behind_dollar(s);
            return true;
        }
        s->state = SCRIPT_STRING;
        script_put(s, '$');
        return false;
    case SCRIPT_INSERTED:
        if (is_name_char(c) || c == '{' || c == '}') {
            return true;
        }
        s->state = SCRIPT_STRING;
        return false;
    default:
        in_string(s, c);
        return true;
    }
}

static bool script_step(struct script *s, char c)
{
    switch (s->state) {
    case SCRIPT_CODE:
        in_code(s, c);
        return true;
    case SCRIPT_NAME:
    case SCRIPT_NUMBER:
        if (is_name_char(c) || (c == '.' && s->state == SCRIPT_NUMBER)) {
            put_name(s, c);
            return true;
        }
        if (s->state == SCRIPT_NAME) {
            end_name(s);
        } else {
            end_number(s);
        }
        return false;
    case SCRIPT_SLASH:
        return behind_slash(s, c);
    case SCRIPT_LINE_COMMENT:
        s->state = c == '\n' || c == '\r' ? SCRIPT_CODE : SCRIPT_LINE_COMMENT;
        return true;
    case SCRIPT_COMMENT:
    case SCRIPT_COMMENT_STAR:
        if (c == '/' && s->state == SCRIPT_COMMENT_STAR) {
            s->state = SCRIPT_CODE;
        } else {
            s->state = c == '*' ? SCRIPT_COMMENT_STAR : SCRIPT_COMMENT;
        }
        return true;
    case SCRIPT_PATTERN:
    case SCRIPT_PATTERN_SET:
        in_pattern(s, c);
        return true;
    case SCRIPT_PATTERN_ESCAPE:
        s->state = SCRIPT_PATTERN;
        return true;
    case SCRIPT_PATTERN_SET_ESCAPE:
        s->state = SCRIPT_PATTERN_SET;
        return true;
    default:
        return step_string(s, c);
    }
}

void script_feed(struct script *s, struct slice utf8)
{
    for (size_t i = 0; i < utf8.n; i++) {
        s->growth += SCRIPT_GROWTH; /* here, so that cuts make no difference */
        while (!script_step(s, utf8.p[i])) {
        }
    }
}

void script_end(struct script *s)
{
    if (s->state == SCRIPT_NAME) {
        end_name(s);
    } else if (s->state == SCRIPT_NUMBER) {
        end_number(s);
    } else {
        /* nothing waits */
    }
    s->state = SCRIPT_CODE;
    resolve(s);
    script_flush(s);
}
