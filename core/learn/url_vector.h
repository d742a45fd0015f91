/*
 * url_vector - a URL as hashed terms, for a model of URLs beside the model of messages.
 *
 * Terms of the host: its public suffix, character n-grams and words of the name before it, labels
 * below it, and its form (length, digits, hyphens, vowels, changes between letters and digits, an
 * address, a port). Terms of the path and query: words, extension, depth, lengths, names of
 * parameters, blobs, addresses and URLs inside. Host and path are two groups of the estimator, each
 * normalised by its length (core/learn/ftrl.h), so a long path cannot drown the host, and a host
 * alone teaches nothing about paths.
 * Nothing of a table of brands or hosters is in it: words are learnt.
 * To add a term: a call of add_term in the part that sees the property. Raise VECTOR_VERSION if a
 * term changes its hash or meaning.
 * Threads: pure.   Allocates: from the arena given.   Depends: base, text, url.   ADR 0076.
 */
#ifndef CORE_LEARN_URL_VECTOR_H
#define CORE_LEARN_URL_VECTOR_H

#include "core/learn/vector.h"

enum {
    URL_VECTOR_BITS = 16, /* of the hashes; fewer pages of memory than a message's */
    URL_VECTOR_HASHES = 1 << URL_VECTOR_BITS,
    URL_VECTOR_TERMS = 224,      /* in all */
    URL_VECTOR_HOST_BYTES = 128, /* of a host that are read, from its end */
    URL_VECTOR_PATH_BYTES = 512, /* of path and query, from their beginning */
    URL_VECTOR_BYTES = 768       /* of an encoded one, at most */
};

/* url: as a feature of type url has it, "host[:port][/path][?query]", of any bytes. The group is
 * that of its registrable domain. False: the arena is full. */
bool url_vector(struct arena *arena, struct slice url, struct vector *ret);
/* The host of such a URL, without its port. */
struct slice url_vector_host(struct slice url);
/* A major domain, a host below one, or a host that many strangers share. The model leaves out pages
 * of such hosts. */
bool url_vector_is_known(struct slice host);
/* Both names are below one registrable domain. */
bool url_vector_is_same_site(struct slice host, struct slice other);
/* The vectors of at most VECTOR_URLS URLs of a message, one of each registrable domain, without
 * known hosts. Returns their number. */
size_t url_vectors(struct arena *arena, const struct featureset *set,
                   struct vector ret[VECTOR_URLS]);

#endif
