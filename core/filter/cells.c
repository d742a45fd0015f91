/* cells - lines of small cells that count a running bucket and the windows it belongs to. */
#include "core/filter/cells.h"

#include "core/base/prng.h"
#include "core/base/std.h"
#include "core/filter/mix.h"

#define CHAIN_END UINT32_MAX

enum { PIECE_BITS = 16, PIECE_MASK = (1 << PIECE_BITS) - 1 };

/* The line and the cells of a key. */
struct place {
    uint64_t line;
    unsigned cell[CELLS_OF_KEY];
};

/* Unlike what other structures make of the same hash: keys that one takes for each other must not
 * share their cells too. */
static uint64_t own_hash(uint64_t hash)
{
    return prng_mix(hash ^ UINT64_C(0x63656c6c73));
}

static uint64_t line_of(const struct cells *c, uint64_t own)
{
    return mix_scale(own, c->nlines);
}

/* Different cells, each set of them equally likely: the one drawn of those still free is found by
 * stepping over the taken ones, which are kept in order. */
static struct place key_place(const struct cells *c, uint64_t hash)
{
    struct place p;
    uint64_t own = own_hash(hash);
    uint64_t draw = prng_mix(own);

    p.line = line_of(c, own);
    for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
        unsigned cell =
            (unsigned)((draw & PIECE_MASK) * (CELLS_OF_LINE - i) >> PIECE_BITS);
        unsigned at = i;
        for (unsigned j = 0; j < i; j++) {
            cell += cell >= p.cell[j] ? 1 : 0;
        }
        for (; at > 0 && p.cell[at - 1] > cell; at--) {
            p.cell[at] = p.cell[at - 1];
        }
        p.cell[at] = cell;
        draw >>= PIECE_BITS;
    }
    return p;
}

/* The cell's key in the table of large counts; not 0. */
static uint64_t cell_name(uint64_t line, unsigned cell, enum cells_column column)
{
    return (line * CELLS_OF_LINE + cell) * CELLS_COLUMNS + column + 1;
}

static unsigned raw_of(const struct cells_line *l, unsigned cell,
                       enum cells_column column)
{
    switch (column) {
    case CELLS_RUNNING:
        return l->running[cell];
    case CELLS_HOUR:
        return l->hour[cell];
    case CELLS_DAY:
        return l->day[cell];
    case CELLS_FORTNIGHT:
        return l->fortnight[cell];
    case CELLS_COLUMNS:
        break;
    }
    return 0;
}

static void set_raw(struct cells_line *l, unsigned cell, enum cells_column column,
                    unsigned v)
{
    switch (column) {
    case CELLS_RUNNING:
        l->running[cell] = (uint8_t)v;
        break;
    case CELLS_HOUR:
        l->hour[cell] = (uint8_t)v;
        break;
    case CELLS_DAY:
        l->day[cell] = (uint16_t)v;
        break;
    case CELLS_FORTNIGHT:
        l->fortnight[cell] = (uint16_t)v;
        break;
    case CELLS_COLUMNS:
        break;
    }
}

/* The mark of a cell whose count goes on in the table. */
static unsigned mark_of(enum cells_column column)
{
    return column <= CELLS_HOUR ? UINT8_MAX : UINT16_MAX;
}

uint64_t cells_value(const struct cells *c, uint64_t line, unsigned cell,
                     enum cells_column column)
{
    unsigned raw = raw_of(&c->lines[line], cell, column);

    if (raw != mark_of(column)) {
        return raw;
    }
    const uint64_t *large = tally_find(&c->large, cell_name(line, cell, column));
    return large ? *large : CELLS_SATURATED;
}

/* Any value, and CELLS_SATURATED. False: it should have gone into the table and found no room. */
static bool set_value(struct cells *c, uint64_t line, unsigned cell,
                      enum cells_column column, uint64_t v)
{
    struct cells_line *l = &c->lines[line];
    unsigned mark = mark_of(column);
    uint64_t name = cell_name(line, cell, column);
    uint64_t *large =
        raw_of(l, cell, column) == mark ? tally_find(&c->large, name) : NULL;

    if (v < mark || v == CELLS_SATURATED) {
        if (large) {
            tally_remove(&c->large, name);
        }
        set_raw(l, cell, column, v < mark ? (unsigned)v : mark);
        return true;
    }
    set_raw(l, cell, column, mark);
    if (large) {
        *large = v;
        return true;
    }
    return tally_add(&c->large, name, v);
}

/* Without room in the table the running count is lost, so no share of this bucket can ever be
 * taken off: all columns stay saturated. */
static void saturate(struct cells *c, uint64_t line, unsigned cell)
{
    for (unsigned col = CELLS_RUNNING; col < CELLS_COLUMNS; col++) {
        (void)set_value(c, line, cell, (enum cells_column)col, CELLS_SATURATED);
    }
}

static bool has_fortnight(const struct cells_line *l)
{
    static const uint16_t none[CELLS_OF_LINE];

    return memcmp(l->fortnight, none, sizeof(none)) != 0;
}

static void raise_window(struct cells *c, uint64_t line, unsigned cell,
                         enum cells_column column, uint64_t delta)
{
    struct cells_line *l = &c->lines[line];
    unsigned raw = raw_of(l, cell, column);

    if (raw + delta < mark_of(column) && delta < mark_of(column)) {
        set_raw(l, cell, column, raw + (unsigned)delta);
        return;
    }
    uint64_t v = cells_value(c, line, cell, column);
    v = v > CELLS_SATURATED - delta ? CELLS_SATURATED : v + delta;
    (void)set_value(c, line, cell, column, v); /* without room: saturated */
}

/* H1 and H2 for one cell: up to target. */
static void raise_cell(struct cells *c, uint64_t line, unsigned cell, uint64_t target,
                       unsigned windows)
{
    uint64_t before = cells_value(c, line, cell, CELLS_RUNNING);

    if (before >= target) {
        return;
    }
    if (!set_value(c, line, cell, CELLS_RUNNING, target) || target == CELLS_SATURATED) {
        saturate(c, line, cell);
        return;
    }
    for (unsigned w = 0; w < CELLS_WINDOWS; w++) {
        if (windows & 1U << w) {
            raise_window(c, line, cell, (enum cells_column)(w + 1), target - before);
        }
    }
}

static void touch(struct cells *c, uint64_t line)
{
    struct cells_line *l = &c->lines[line];

    if (l->next == 0) {
        l->next = c->figures->first;
        c->figures->first = (uint32_t)line + 1;
        c->figures->ntouched++;
    }
}

static void read_place(const struct cells *c, const struct place *p,
                       uint64_t ret[CELLS_WINDOWS])
{
    for (unsigned w = 0; w < CELLS_WINDOWS; w++) {
        uint64_t least = CELLS_SATURATED;
        for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
            uint64_t v =
                cells_value(c, p->line, p->cell[i], (enum cells_column)(w + 1));
            least = v < least ? v : least;
        }
        ret[w] = least;
    }
}

void cells_init(struct cells *c, struct cells_line *lines, uint64_t nlines,
                struct cells_figures *figures)
{
    *figures = (struct cells_figures){.first = CHAIN_END};
    *c = (struct cells){.lines = lines, .nlines = nlines, .figures = figures};
    tally_init_bounded(&c->large, nlines); /* a quarter of the lines' bytes at most */
}

void cells_fini(struct cells *c)
{
    tally_fini(&c->large);
}

void cells_clear(struct cells *c)
{
    memset(c->lines, 0, c->nlines * sizeof(*c->lines));
    tally_fini(&c->large);
    c->figures->first = CHAIN_END;
    c->figures->ntouched = 0;
    figure_set(&c->figures->nused, 0);
}

void cells_prefetch(const struct cells *c, uint64_t hash)
{
    __builtin_prefetch(&c->lines[line_of(c, own_hash(hash))], 1);
}

void cells_add(struct cells *c, uint64_t hash, uint64_t amount, unsigned windows,
               uint64_t ret[CELLS_WINDOWS])
{
    struct place p = key_place(c, hash);
    uint64_t least = CELLS_SATURATED;
    bool was_used = has_fortnight(&c->lines[p.line]);

    for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
        uint64_t v = cells_value(c, p.line, p.cell[i], CELLS_RUNNING);
        least = v < least ? v : least;
    }
    uint64_t target =
        least > CELLS_SATURATED - amount ? CELLS_SATURATED : least + amount;
    for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
        raise_cell(c, p.line, p.cell[i], target, windows);
    }
    touch(c, p.line);
    if (!was_used && has_fortnight(&c->lines[p.line])) {
        figure_set(&c->figures->nused, c->figures->nused + 1);
    }
    read_place(c, &p, ret);
}

void cells_read(const struct cells *c, uint64_t hash, uint64_t ret[CELLS_WINDOWS])
{
    struct place p = key_place(c, hash);

    read_place(c, &p, ret);
}

uint64_t cells_line(const struct cells *c, uint64_t hash)
{
    return line_of(c, own_hash(hash));
}

void cells_add_late(struct cells *c, uint64_t hash, uint64_t amount, unsigned windows,
                    uint64_t late[CELLS_OF_LINE])
{
    struct place p = key_place(c, hash);
    uint64_t least = CELLS_SATURATED;
    bool was_used = has_fortnight(&c->lines[p.line]);

    for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
        least = late[p.cell[i]] < least ? late[p.cell[i]] : least;
    }
    uint64_t most = CELLS_SATURATED - 1; /* what is saturated can never be taken off */
    uint64_t target = least >= most || amount > most - least ? most : least + amount;
    for (unsigned i = 0; i < CELLS_OF_KEY; i++) {
        uint64_t before = late[p.cell[i]];
        for (unsigned w = 0; before < target && w < CELLS_WINDOWS; w++) {
            if (windows & 1U << w) {
                raise_window(c, p.line, p.cell[i], (enum cells_column)(w + 1),
                             target - before);
            }
        }
        late[p.cell[i]] = before < target ? target : before;
    }
    if (!was_used && has_fortnight(&c->lines[p.line])) {
        figure_set(&c->figures->nused, c->figures->nused + 1);
    }
}

void cells_take(struct cells *c, uint64_t line, unsigned cell, uint64_t amount,
                unsigned windows)
{
    bool was_used = has_fortnight(&c->lines[line]);

    for (unsigned w = 0; w < CELLS_WINDOWS; w++) {
        enum cells_column column = (enum cells_column)(w + 1);
        uint64_t v = cells_value(c, line, cell, column);
        if ((windows & 1U << w) && v != CELLS_SATURATED) {
            /* smaller than before: if it was in the table it has its place there */
            (void)set_value(c, line, cell, column, v > amount ? v - amount : 0);
        }
    }
    if (was_used && !has_fortnight(&c->lines[line])) {
        figure_set(&c->figures->nused, c->figures->nused - 1);
    }
}

bool cells_next(struct cells *c, uint64_t *retline, uint64_t ret[CELLS_OF_LINE])
{
    if (c->figures->first == CHAIN_END) {
        return false;
    }
    uint64_t line = c->figures->first - 1;
    struct cells_line *l = &c->lines[line];
    for (unsigned i = 0; i < CELLS_OF_LINE; i++) {
        uint64_t v = cells_value(c, line, i, CELLS_RUNNING);
        ret[i] = v == CELLS_SATURATED ? 0 : v;
        (void)set_value(c, line, i, CELLS_RUNNING, 0);
    }
    c->figures->first = l->next;
    c->figures->ntouched--;
    l->next = 0;
    *retline = line;
    return true;
}

void cells_over(const struct cells *c, uint64_t line, uint64_t threshold,
                uint64_t ret[CELLS_WINDOWS])
{
    for (unsigned cell = 0; cell < CELLS_OF_LINE; cell++) {
        for (unsigned w = 0; w < CELLS_WINDOWS; w++) {
            ret[w] +=
                cells_value(c, line, cell, (enum cells_column)(w + 1)) > threshold;
        }
    }
}

uint64_t cells_used(const struct cells *c)
{
    return figure_get(&c->figures->nused);
}

uint64_t cells_overflowed(const struct cells *c)
{
    return tally_used(&c->large);
}
