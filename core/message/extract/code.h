/*
 * code - inside of core/message/extract: links in text for programs (scripts, event attributes,
 * shortcuts).
 *
 * There are two passes. The first finds URLs with a scheme or "www." in the text as it stands. The
 * second reads the strings that the literals make (core/message/text/script.h). Half a link is not
 * a link. A URL that continues in an unknown part gives only its host, and only if the host is
 * complete. In text with paths that programs open, a host behind two backslashes is a link, too.
 */
#ifndef CORE_MESSAGE_EXTRACT_CODE_H
#define CORE_MESSAGE_EXTRACT_CODE_H

#include "core/message/html/html.h"
#include "core/message/text/script.h"

struct extract;
struct find;

struct extract_code {
    struct script *script; /* allocated with the first text */
    enum script_dialect dialect;
    bool is_open;
    bool is_html; /* dialect belongs to the open <script> */
};

enum { EXTRACT_UNC_MAX = 1024 }; /* bytes of a path that are read */

/* True if the name or the type is that of a script. The name matters: systems open files by it. */
bool extract_is_script(struct slice type, struct slice name);
/* These read a text that comes in windows, each from its offset. */
void extract_code_begin(struct extract *x);
void extract_code_text(struct extract *x, struct slice text, size_t at);
void extract_code_end(struct extract *x);
/* Reads a piece of the <script> whose tag was the last token. */
void extract_code_piece(struct extract *x, struct slice text);
/* Finds the language and the end of a <script> from the tokens. */
void extract_code_token(struct extract *x, const struct html_token *token);
/* Reads a text that comes as a whole, of an attribute, a shortcut or a formula. */
void extract_code_value(struct extract *x, struct slice text,
                        enum script_dialect dialect);
/* Reads the script of a URL. Escapes of "javascript:" are decoded first. */
void extract_code_url(struct extract *x, struct slice url);
/* Finds hosts behind two backslashes: \\host\share, \\host@SSL\share. */
void extract_unc(struct extract *x, struct slice text);
/* Reads the target of a document's link: a URL with a scheme or "www.", or such a path. */
void extract_target(struct extract *x, struct slice target);

/* link.c: takes a find of a text; x->place names the place of the text. */
void extract_found(struct extract *x, const struct find *find);
/* Takes the host of a URL that continues in an unknown part, if the host itself is complete. */
void extract_found_host(struct extract *x, struct slice text);

#endif
