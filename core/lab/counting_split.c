/*
 * counting_split - the high parts of a split filter: one small table of 64-bit slots a chunk.
 *
 * A slot is {index of the cell in its chunk, high part}; a high part is never 0, so 0 is empty.
 * Open addressing with linear steps; deletion moves the followers back. The first word of a
 * chunk's slots, its head, is the number in use. At 7/8 the table counts as full, so that a
 * search stays short. A cell whose high part found no place has its flag, all ones below and no
 * slot: it reads as the cap, and stays there.
 */
#include "core/filter/mix.h"
#include "core/lab/counting_cell.h"

/* 2^64 over the golden ratio: neighbours go far apart. Positions are keyed: nobody outside aims at
 * a slot. */
static const uint64_t spread = 0x9e3779b97f4a7c15;

struct table {
    uint64_t *head;
    uint64_t *slots;
    uint64_t n;
    unsigned high_bits;
};

static struct table table_of(const struct counting *c, uint64_t chunk)
{
    uint64_t *head = c->slots + chunk * c->slots_stride;
    return (struct table){head, head + 1, c->shape.chunk_slots, 64 - c->index_bits};
}

static uint64_t places_of(uint64_t nslots)
{
    return nslots - (nslots + 7) / 8;
}

static uint64_t home_of(const struct table *t, uint64_t index)
{
    return mix_scale(index * spread, t->n);
}

static uint64_t next_of(const struct table *t, uint64_t i)
{
    return i + 1 < t->n ? i + 1 : 0;
}

/* The slot of the index, or the empty one where it would go: places_of leaves one. */
static uint64_t find(const struct table *t, uint64_t index)
{
    uint64_t i = home_of(t, index);
    while (t->slots[i] != 0 && t->slots[i] >> t->high_bits != index) {
        i = next_of(t, i);
    }
    return i;
}

/* Steps from a to b, round the end. */
static uint64_t distance(const struct table *t, uint64_t a, uint64_t b)
{
    return b >= a ? b - a : b + t->n - a;
}

static void delete (const struct table *t, uint64_t hole)
{
    for (uint64_t i = next_of(t, hole); t->slots[i] != 0; i = next_of(t, i)) {
        uint64_t home = home_of(t, t->slots[i] >> t->high_bits);
        if (distance(t, home, i) >= distance(t, hole, i)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole] = 0;
    (*t->head)--;
}

/* False: no place. high 0 deletes. */
static bool put_high(const struct table *t, uint64_t index, uint64_t high)
{
    uint64_t i = find(t, index);
    bool is_new = t->slots[i] == 0;
    if (high == 0) {
        if (!is_new) {
            delete (t, i);
        }
        return true;
    }
    if (is_new) {
        if (*t->head >= places_of(t->n)) {
            return false;
        }
        (*t->head)++;
    }
    t->slots[i] = index << t->high_bits | high;
    return true;
}

static unsigned low_bits(const struct counting *c)
{
    return c->shape.cell_bits - 1;
}

/* The packed index without its chunk. */
static struct table table_at(const struct counting *c, uint64_t at, uint64_t *retindex)
{
    uint64_t chunk = c->shape.nchunks == 1 ? 0 : at / c->chunk_stride;
    *retindex = at - chunk * c->chunk_stride;
    return table_of(c, chunk);
}

uint64_t counting_split_load(const struct counting *c, uint64_t at)
{
    unsigned low = low_bits(c);
    uint64_t raw = counting_load(c->words, at, c->shape.cell_bits);
    if (raw >> low == 0) {
        return raw;
    }
    uint64_t index = 0;
    struct table t = table_at(c, at, &index);
    uint64_t slot = t.slots[find(&t, index)];
    if (slot == 0) {
        return c->cap;
    }
    return (slot & counting_mask(t.high_bits)) << low | (raw & counting_mask(low));
}

void counting_split_store(struct counting *c, uint64_t at, uint64_t value)
{
    unsigned bits = c->shape.cell_bits;
    unsigned low = low_bits(c);
    uint64_t high = value >> low;
    bool had_flag = counting_load(c->words, at, bits) >> low != 0;
    if (high == 0 && !had_flag) {
        counting_store(c->words, at, bits, value);
        return;
    }
    uint64_t index = 0;
    struct table t = table_at(c, at, &index);
    if (value >= c->cap || !put_high(&t, index, high)) {
        (void)put_high(&t, index, 0);
        counting_store(c->words, at, bits, counting_mask(bits));
        return;
    }
    uint64_t flag = high != 0 ? (uint64_t)1 << low : 0;
    counting_store(c->words, at, bits, flag | (value & counting_mask(low)));
}

double counting_table_load(const struct counting *c)
{
    uint64_t most = 0;
    if (!counting_is_split(c)) {
        return 0;
    }
    for (uint64_t i = 0; i < c->shape.nchunks; i++) {
        uint64_t used = *table_of(c, i).head;
        most = used > most ? used : most;
    }
    uint64_t places = places_of(c->shape.chunk_slots);
    return places > 0 ? (double)most / (double)places : 1;
}

enum err counting_split_copy(struct counting *dst, const struct counting *src)
{
    for (uint64_t chunk = 0; chunk < src->shape.nchunks; chunk++) {
        struct table from = table_of(src, chunk);
        struct table to = table_of(dst, chunk);
        for (uint64_t i = 0; i < from.n; i++) {
            uint64_t slot = from.slots[i];
            if (slot != 0 && !put_high(&to, slot >> from.high_bits,
                                       slot & counting_mask(from.high_bits))) {
                return ERR_NOSPACE;
            }
        }
    }
    return ERR_OK;
}
