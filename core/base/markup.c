#include "core/base/markup.h"

void markup_add(struct buf *b, struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '&':
            buf_add_str(b, "&amp;");
            break;
        case '<':
            buf_add_str(b, "&lt;");
            break;
        case '>':
            buf_add_str(b, "&gt;");
            break;
        case '"':
            buf_add_str(b, "&quot;");
            break;
        case '\'':
            buf_add_str(b, "&#39;");
            break;
        default:
            buf_add_char(b, text.p[i]);
            break;
        }
    }
}
