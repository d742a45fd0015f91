#include "core/message/extract/structure.h"

static uint32_t name_hash(struct slice name)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */
    for (size_t i = 0; i < name.n; i++) {
        hash = (hash ^ (unsigned char)name.p[i]) * 0x01000193u;
    }
    return hash;
}

/* Adds the first n tags of the window to the checksum. */
static void add_tags(struct structure *s, size_t n)
{
    char bytes[STRUCTURE_WINDOW * 4];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 4; k++) {
            bytes[4 * i + k] = (char)(s->window[i] >> (8 * k));
        }
    }
    if (!s->has_sum) {
        s->has_sum = sha256_init(&s->sum) == ERR_OK;
    }
    if (s->has_sum) {
        sha256_add(&s->sum, slice_of(bytes, 4 * n));
    }
    memmove(s->window, s->window + n, (s->n - n) * sizeof(s->window[0]));
    s->n -= n;
}

void structure_tag(struct structure *s, struct slice name)
{
    uint32_t hash = name_hash(name);
    if (s->n == STRUCTURE_WINDOW) {
        add_tags(s, STRUCTURE_WINDOW - 2 * (size_t)STRUCTURE_PERIOD_MAX);
    }
    s->window[s->n++] = hash;
    s->ntags++;
    size_t repeated = 0;
    for (size_t period = 1; period <= STRUCTURE_PERIOD_MAX; period++) {
        bool is_same = s->n > period && s->window[s->n - 1 - period] == hash;
        s->run[period] = is_same ? (uint8_t)(s->run[period] + 1) : 0;
        if (repeated == 0 && s->run[period] == period) {
            repeated = period;
        }
    }
    if (repeated > 0) { /* the last row is the one before it again */
        s->n -= repeated;
        s->ntags -= repeated;
        memset(s->run, 0, sizeof(s->run));
    }
}

bool structure_end(struct structure *s, size_t min, char rethex[SHA256_HEX + 1])
{
    if (s->ntags < min) {
        structure_fini(s);
        return false;
    }
    add_tags(s, s->n);
    if (s->has_sum) {
        sha256_final_hex(&s->sum, rethex);
    }
    return s->has_sum;
}

void structure_fini(struct structure *s)
{
    sha256_fini(&s->sum);
}
