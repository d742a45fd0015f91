/*
 * bloom_split - deals keys out to the threads that build a filter together, by their lines.
 */
#include "core/lab/bloom_split.h"

#include "core/filter/bloom_probe.h"

/* floor(nlines * part / parts) without overflow. */
uint64_t bloom_part_first(const struct bloom *b, unsigned part, unsigned parts)
{
    __extension__ unsigned __int128 p = b->nlines;
    return (uint64_t)(p * part / parts);
}

static void all_to_all(const struct digest *d, size_t n, unsigned parts,
                       struct digest *const ret[], size_t *retcount)
{
    for (unsigned p = 0; p < parts; p++) {
        memcpy(ret[p] + retcount[p], d, n * sizeof(*d));
        retcount[p] += n;
    }
}

/* Comparing is cheaper than a division for the few threads of one machine. */
static unsigned part_of(const uint64_t *first, unsigned parts, uint64_t word)
{
    unsigned part = 0;
    for (unsigned p = 1; p < parts; p++) {
        part += word >= first[p] ? 1 : 0;
    }
    return part;
}

void bloom_split(const struct bloom *b, const struct digest *d, size_t n,
                 unsigned parts, struct digest *const ret[], size_t *retcount)
{
    const struct bloom shape = *b;
    uint64_t first[BLOOM_PARTS_MAX] = {0};
    struct digest *next[BLOOM_PARTS_MAX] = {NULL};
    if (b->layout != BLOOM_ONE_LINE && b->layout != BLOOM_TWO_LINES) {
        all_to_all(d, n, parts, ret, retcount);
        return;
    }
    unsigned p = 0;
    do { /* parts is never 0 */
        first[p] = bloom_part_first(b, p, parts) * LINE_WORDS;
        next[p] = ret[p] + retcount[p];
    } while (++p < parts);
    for (size_t i = 0; i < n; i++) {
        struct bloom_probe probe = bloom_probe_of(&shape, &d[i]);
        unsigned part = part_of(first, parts, probe.word);
        *next[part]++ = d[i];
        if (shape.layout == BLOOM_TWO_LINES) {
            probe = bloom_probe_second(&shape, &d[i], &probe);
            unsigned second = part_of(first, parts, probe.word);
            if (second != part) {
                *next[second]++ = d[i];
            }
        }
    }
    for (p = 0; p < parts; p++) {
        retcount[p] = (size_t)(next[p] - ret[p]);
    }
}
