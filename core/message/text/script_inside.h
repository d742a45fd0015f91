/*
 * script_inside - declarations that script.c (tokens) and script_value.c (strings) share.
 */
#ifndef CORE_MESSAGE_TEXT_SCRIPT_INSIDE_H
#define CORE_MESSAGE_TEXT_SCRIPT_INSIDE_H

#include "core/message/text/script.h"

/* Marks in a string: an unknown part, and the end of an element of a list. If a script has one of
 * these bytes, it becomes SCRIPT_CONTROL. */
enum { SCRIPT_UNKNOWN = '\x01', SCRIPT_NEXT = '\x02', SCRIPT_CONTROL = '\x03' };

enum { SCRIPT_CODE_MAX = 0x10ffff }; /* of Unicode */

enum script_call {
    CALL_GROUP,    /* parentheses */
    CALL_ARRAY,    /* brackets */
    CALL_INDEX,    /* brackets behind a value */
    CALL_TEMPLATE, /* ${...} */
    CALL_OTHER,    /* of a function that is not known */
    CALL_UNESCAPE, /* also decodeURI, decodeURIComponent */
    CALL_BASE64,
    CALL_CODES, /* String.fromCharCode, Chr */
    CALL_REVERSED,
    /* methods of the value before the point */
    CALL_SPLIT,
    CALL_REVERSE,
    CALL_JOIN,
    CALL_CONCAT,
    CALL_SAME /* toString and the like */
};

struct script_frame {
    enum script_call call;
    size_t of;      /* where the value begins that a method is called of */
    size_t at;      /* where what stands inside begins */
    size_t decoded; /* what is before it is decoded already */
    bool is_chars;  /* the value is split into characters */
    bool is_unknown;
};

struct script_variable {
    char name[SCRIPT_NAME_MAX];
    char text[SCRIPT_VARIABLE_MAX];
    uint16_t nname; /* 0: free */
    uint16_t n;
};

enum script_state {
    SCRIPT_CODE,
    SCRIPT_NAME,
    SCRIPT_NUMBER,
    SCRIPT_SLASH, /* behind '/': a comment, a pattern or a division */
    SCRIPT_LINE_COMMENT,
    SCRIPT_COMMENT,
    SCRIPT_COMMENT_STAR,
    SCRIPT_PATTERN, /* a regular expression */
    SCRIPT_PATTERN_ESCAPE,
    SCRIPT_PATTERN_SET, /* [...] in it */
    SCRIPT_PATTERN_SET_ESCAPE,
    SCRIPT_STRING,
    SCRIPT_QUOTE, /* behind a quote that may be half of a doubled one */
    SCRIPT_ESCAPE,
    SCRIPT_ESCAPE_CR,
    SCRIPT_ESCAPE_HEX,
    SCRIPT_ESCAPE_OCTAL,
    SCRIPT_DOLLAR,  /* behind '$' in a string that names variables */
    SCRIPT_INSERTED /* the name of a variable in a string */
};

struct script {
    script_fn *on_value;
    void *context;
    enum script_dialect dialect;
    enum script_state state;
    char quote;
    unsigned code;    /* of an escape */
    unsigned ndigits; /* read of it */
    unsigned digits;  /* it has; 0: up to '}' */
    unsigned high;    /* first half of a surrogate pair */

    /* a name or number; a name waits for the token behind it */
    char name[SCRIPT_NAME_MAX];
    size_t nname;
    bool is_long; /* it did not fit: nothing is kept of it */
    bool has_name;
    bool is_of_codes;             /* a name behind "fromCharCode." */
    bool is_method;               /* a name behind a value and a point */
    bool wants_value;             /* an operator stands before, or nothing */
    bool after_plus;              /* the last token is '+' */
    bool is_made;                 /* the text does not have the string as it is */
    bool is_chars;                /* split("") */
    char target[SCRIPT_NAME_MAX]; /* variable that the string is assigned to */
    size_t ntarget;
    char loaded[SCRIPT_NAME_MAX]; /* variable that the string consists of */
    size_t nloaded;

    size_t n;       /* bytes of value */
    size_t operand; /* where the last operand begins */
    struct script_frame frames[SCRIPT_DEPTH_MAX];
    unsigned depth;
    unsigned deeper; /* that found no place on the stack */
    unsigned next_variable;
    uint64_t growth; /* bytes that may still be added to the text's own */
    /* not cleared for a new text */
    char value[SCRIPT_VALUE_MAX];
    struct script_variable variables[SCRIPT_VARIABLES];
};

/* script_decode.c */
/* Writes a code point to dst as UTF-8, at most 4 bytes: nothing for NUL, U+FFFD for a number past
 * Unicode. Returns the length. */
size_t script_utf8(char *dst, unsigned code);
/* The number in an element of a list; SCRIPT_CODE_MAX + 1: it is not a code point. */
unsigned script_number(struct slice text);
/* Each decodes value[from..to) in place and returns the end of its text. On entry *rest is `to` if
 * the text is complete. It becomes the place where undecoded text begins. */
size_t script_decode_escapes(char *value, size_t from, size_t to, size_t *rest);
size_t script_decode_base64(char *value, size_t from, size_t to, size_t *rest);
size_t script_decode_codes(char *value, size_t from, size_t to, size_t *rest);

/* script_value.c */
void script_put(struct script *s, char c);
void script_put_code(struct script *s, unsigned code); /* as UTF-8 */
/* Begins a new operand. */
void script_operand(struct script *s);
/* Ends the expression: reports its value and assigns it to its variable, if it has one. */
void script_flush(struct script *s);
/* As much as ends at a comma, or at an operator that is not followed. */
void script_next(struct script *s);
void script_other(struct script *s);
bool script_knows(struct script *s); /* the variable s->name */
void script_load(struct script *s);  /* that */
void script_open(struct script *s, enum script_call call);
void script_close(struct script *s);
/* The call of a function or method by its name. */
enum script_call script_call_of(struct slice name, bool is_method);
/* The operand turned out to be something else. */
void script_forget_operand(struct script *s);

#endif
