/* find_canonical - the canonical form of each line of standard input, an empty line when it is no
 * URL. */
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/message/url/url.h"

enum { ARENA_BYTES = 4 << 20, LINE_BYTES = 1 << 16 };

int main(void)
{
    static char line[LINE_BYTES];
    struct arena *arena = arena_new(ARENA_BYTES);
    struct url url;

    while (arena != NULL && fgets(line, sizeof(line), stdin) != NULL) {
        struct slice text = slice_of(line, strcspn(line, "\n"));

        if (url_parse(arena, text, &url) == ERR_OK) {
            (void)fwrite(url.canonical.p, 1, url.canonical.n, stdout);
        }
        (void)putchar('\n');
        arena_reset(arena);
    }
    arena_free(&arena);
    return ferror(stdin) != 0 || ferror(stdout) != 0;
}
