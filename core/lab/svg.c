/* svg - pictures by hand: a few elements and one sheet of styles. */
#include "core/lab/svg.h"

#include "core/base/file.h"
#include "core/base/markup.h"

enum { FILE_MODE = 0644 };

void svg_text(struct buf *b, const char *text)
{
    markup_add(b, slice_str(text));
}

void svg_head(struct buf *b, const char *title, int width, int height, int left)
{
    buf_printf(b,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
               "width=\"%d\" height=\"%d\" role=\"img\" "
               "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<title>",
               width, height, width, height);
    svg_text(b, title);
    buf_add_str(b, "</title>\n<style>\n"
                   ".paper{fill:#fff}.grid{stroke:#e3e6ea}.axis{stroke:#6b7280}\n"
                   "text{fill:#1f2933}.quiet{fill:#5a6572}\n"
                   ".curve{fill:none;stroke-width:2.2}\n"
                   ".l1{stroke:#0072b2}.l2{stroke:#00835f}.l3{stroke:#c2410c}"
                   ".l4{stroke:#b0507f;stroke-dasharray:7 5}.l5{stroke:#b07d00}\n"
                   ".point{fill:#fff;stroke:#1f2933;stroke-width:2.4}\n"
                   ".guide{stroke:#1f2933;stroke-dasharray:3 4;opacity:.55}\n"
                   "@media (prefers-color-scheme:dark){\n"
                   ".paper{fill:#14181d}.grid{stroke:#2a313a}.axis{stroke:#8a94a0}\n"
                   "text{fill:#e6e9ed}.quiet{fill:#a3adb8}\n"
                   ".l1{stroke:#56b4e9}.l2{stroke:#3ddc97}.l3{stroke:#ff8a5c}"
                   ".l4{stroke:#e79bc4}.l5{stroke:#f0c24b}\n"
                   ".point{fill:#14181d;stroke:#e6e9ed}.guide{stroke:#e6e9ed}\n}\n"
                   "</style>\n");
    buf_printf(b, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width,
               height);
    buf_printf(b, "<text x=\"%d\" y=\"30\" font-size=\"18\" font-weight=\"600\">",
               left);
    svg_text(b, title);
    buf_add_str(b, "</text>\n");
}

void svg_line(struct buf *b, const char *class, double x1, double y1, double x2,
              double y2)
{
    buf_printf(b,
               "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               class, x1, y1, x2, y2);
}

enum err svg_write(struct buf *b, const char *path, struct errinfo *reterr)
{
    buf_add_str(b, "</svg>\n");
    if (buf_failed(b)) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "out of memory");
    }
    return file_write_atomic(path, buf_slice(b), FILE_MODE, reterr);
}
