/*
 * script - the strings that the literals of a script make.
 *
 * Reads JavaScript, VBScript and PowerShell as tokens, and reports each string that is made of
 * literals: joined by "+", "&", join or concat, written with escapes, decoded by unescape,
 * decodeURIComponent, atob or FromBase64String, made of character codes, reversed, picked out of an
 * array, or stored in a variable in between. A part that only a run of the script would show cuts
 * the string; is_cut_left and is_cut_right mark the cut. A single literal without escapes is not
 * reported, because a scan of the text finds it.
 *
 * This is no interpreter: a condition, a loop and a function's body are read once, from top to
 * bottom. The text comes in pieces cut anywhere. Linear: variables and functions add at most
 * SCRIPT_GROWTH times the text. No recursion: parentheses are frames on a bounded stack. Values in
 * deeper parentheses are unknown.
 * Threads: one at a time.   Allocates: one block from the arena.
 * Source: ECMA-262 12.9 and B.2.1, MS-VBAL 3.3, PowerShell's about_Quoting_Rules.
 */
#ifndef CORE_MESSAGE_TEXT_SCRIPT_H
#define CORE_MESSAGE_TEXT_SCRIPT_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum {
    SCRIPT_VALUE_MAX = 8192, /* bytes of a string; a longer one is reported in pieces */
    SCRIPT_KEPT_MAX =
        4096,             /* bytes that end a piece and begin the next, up to a blank */
    SCRIPT_NAME_MAX = 40, /* bytes of a name; longer ones are unknown */
    SCRIPT_DEPTH_MAX = 24,     /* parentheses and brackets in one another */
    SCRIPT_VARIABLES = 32,     /* known at a time; the oldest is dropped */
    SCRIPT_VARIABLE_MAX = 512, /* bytes of a variable; a longer one is unknown */
    SCRIPT_GROWTH = 8,
    SCRIPT_GROWTH_FREE = 65536 /* bytes beyond that */
};

enum script_dialect { SCRIPT_JAVASCRIPT, SCRIPT_VBSCRIPT, SCRIPT_POWERSHELL };

/* Valid during the call only. */
struct script_value {
    struct slice text;
    bool is_cut_left;  /* an unknown part stands before text */
    bool is_cut_right; /* an unknown part stands behind text */
};
typedef void script_fn(void *context, const struct script_value *value);

struct script;
/* NULL when the arena is full. */
struct script *script_new(struct arena *arena, script_fn *on_value, void *context);
/* Begins a new text; all variables are dropped. */
void script_begin(struct script *s, enum script_dialect dialect);
void script_feed(struct script *s, struct slice utf8);
void script_end(struct script *s);

#endif
