/*
 * page - the files of the status page, as the build put them into the program
 * (contrib/cmake/Embed.cmake).
 *
 * The page asks the HTTP API of this hub and nothing else; the policy sees to it.
 * Depends: base.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_HUB_API_PAGE_H
#define CORE_HUB_API_PAGE_H

#include "core/base/slice.h"

/* Content-Security-Policy of each of them. The answer also needs nosniff, no-referrer and
 * no-cache. */
#define PAGE_POLICY                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; "                   \
    "frame-ancestors 'none'; require-trusted-types-for 'script'"

struct page_file {
    const char *path; /* "/" or "/NAME" */
    const char *type; /* value of Content-Type */
    const char *etag; /* value of ETag, with its quotes: of the SHA-256 */
    struct slice bytes;
};

/* path: of the request, without query. NULL: no file of the page. */
const struct page_file *page_find(const char *path);

/* Made by the build; ends with a row whose path is NULL. */
extern const struct page_file page_files[];

#endif
