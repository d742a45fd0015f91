#include "core/hub/api/page.h"

const struct page_file *page_find(const char *path)
{
    for (const struct page_file *f = page_files; f->path != NULL; f++) {
        if (strcmp(f->path, path) == 0) {
            return f;
        }
    }
    return NULL;
}
