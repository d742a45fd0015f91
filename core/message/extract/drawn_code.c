/* drawn_code - codes that text and HTML draw: each becomes a file of the message. */
#include "core/message/extract/extract_internal.h"
#include "core/message/extract/read_file.h"

/* A run of at least this many bytes may be cut in the middle of a line. */
enum { RUN_WHOLE_MAX = SHOWN_RUN_MAX / 2 };

static void on_picture(void *context, struct slice pgm)
{
    extract_cpu_step(context, pgm.n);
    extract_file_picture(context, pgm);
}

bool extract_drawn_begin(struct extract *x)
{
    if (x->drawn == NULL && extract_may_read(x, FILE_PICTURE)) {
        x->drawn = drawn_new(x->arena, on_picture, x);
        return x->drawn != NULL;
    }
    return true;
}

void extract_drawn_text(struct extract *x, struct slice text)
{
    if (x->drawn != NULL) {
        drawn_text(x->drawn, text);
    }
}

void extract_drawn_token(struct extract *x, const struct html_token *token)
{
    if (x->drawn != NULL && token->kind != HTML_TAG_END) {
        drawn_token(x->drawn, token);
    }
}

void extract_drawn_end(struct extract *x)
{
    if (x->drawn != NULL) {
        drawn_end(x->drawn);
    }
}

void extract_drawn_run(struct extract *x, struct slice text)
{
    size_t i = 0;
    if (x->drawn == NULL) {
        return;
    }
    while (i < text.n && (unsigned char)text.p[i] <= ' ') {
        i++;
    }
    if (i == text.n) {
        return; /* white space between tags */
    }
    drawn_text(x->drawn, text);
    if (text.n <= RUN_WHOLE_MAX) {
        drawn_line_end(x->drawn);
    }
}
