/* doorkeeper: no key is forgotten before its day is over, at any fill; unseen keys rarely pass. */
#include "core/base/prng.h"
#include "core/filter/doorkeeper.h"

#include "tests/unit/unit.h"

enum { LINES_MOST = 64, KEYS = 3000, FIRST_DAY = 20000, STRANGERS = 200000 };

struct room {
    struct doorkeeper door;
    struct doorkeeper_figures figures;
    union doorkeeper_line lines[LINES_MOST];
    uint16_t away[LINES_MOST];
};

static struct room *room_of(uint64_t nlines)
{
    struct room *r = aligned_alloc(64, (sizeof(*r) + 63) / 64 * 64);
    assert_non_null(r);
    memset(r, 0, sizeof(*r));
    r->door = (struct doorkeeper){.lines = r->lines,
                                  .away = r->away,
                                  .nlines = nlines,
                                  .today = FIRST_DAY,
                                  .figures = &r->figures};
    return r;
}

static uint64_t hash_of(uint64_t i)
{
    return prng_mix(i + 1);
}

/* Keys and the day of their last sight, which doorkeeper_find must not be behind. */
static void check_known(const struct doorkeeper *d, const uint64_t *seen, uint64_t seed)
{
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned age = 0;
        if (seen[i] == 0 || d->today - seen[i] >= DOORKEEPER_DAYS) {
            continue;
        }
        enum doorkeeper_answer a = doorkeeper_find(d, hash_of(i), &age);
        if (a == DOORKEEPER_NEW || (a == DOORKEEPER_SEEN && age > d->today - seen[i])) {
            fail_msg("seed %llu: key %u of day %llu is forgotten on day %llu",
                     (unsigned long long)seed, i, (unsigned long long)seen[i],
                     (unsigned long long)d->today);
        }
    }
}

static void live_through(uint64_t nlines, uint64_t seed)
{
    struct room *r = room_of(nlines);
    static uint64_t seen[KEYS];
    struct prng prng;

    prng_init(&prng, seed, nlines);
    memset(seen, 0, sizeof(seen));
    for (unsigned day = 0; day < 60; day++) {
        for (unsigned i = 0; i < 2 * nlines + 3; i++) {
            uint64_t key = prng_below(&prng, KEYS);
            (void)doorkeeper_see(&r->door, hash_of(key), r->door.today);
            seen[key] = r->door.today;
        }
        check_known(&r->door, seen, seed);
        doorkeeper_begin_day(&r->door,
                             r->door.today + 1 +
                                 (prng_below(&prng, 9) ? 0 : prng_below(&prng, 20)));
        check_known(&r->door, seen, seed);
    }
    doorkeeper_begin_day(&r->door, r->door.today + DOORKEEPER_DAYS);
    assert_int_equal(doorkeeper_entries(&r->door), 0);
    for (uint64_t i = 0; i < nlines; i++) {
        assert_int_equal(r->lines[i].entry[DOORKEEPER_ENTRIES], 0);
        assert_int_equal(r->away[i], 0);
    }
    free(r);
}

static void test_door__too_many_keys_for_60_days__none_is_forgotten(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        live_through(1 + seed % 7, seed);
        live_through(LINES_MOST, seed);
    }
}

/* One line, 31 entries: the next one finds no room, and later answers are unsure. */
static void test_door_see__full__turned_away_and_unsure(void **state)
{
    struct room *r = room_of(1);
    unsigned age = 0;
    unsigned n = 0;

    (void)state;
    for (uint64_t i = 0; n < DOORKEEPER_ENTRIES; i++) {
        n += doorkeeper_see(&r->door, hash_of(i), FIRST_DAY) == DOORKEEPER_NEW ? 1 : 0;
    }
    assert_int_equal(doorkeeper_entries(&r->door), DOORKEEPER_ENTRIES);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(KEYS), &age), DOORKEEPER_NEW);
    assert_int_equal(doorkeeper_see(&r->door, hash_of(KEYS), FIRST_DAY),
                     DOORKEEPER_AWAY);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(KEYS), &age), DOORKEEPER_AWAY);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(KEYS + 1), &age),
                     DOORKEEPER_AWAY);
    assert_int_equal(doorkeeper_turned_away(&r->door), 1);
    doorkeeper_begin_day(&r->door, FIRST_DAY + DOORKEEPER_DAYS);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(KEYS), &age), DOORKEEPER_NEW);
    free(r);
}

static void test_door_see__later_days__the_newest_is_kept(void **state)
{
    struct room *r = room_of(4);
    unsigned age = 0;

    (void)state;
    doorkeeper_begin_day(&r->door, FIRST_DAY + 10);
    assert_int_equal(doorkeeper_see(&r->door, hash_of(1), FIRST_DAY), DOORKEEPER_NEW);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(1), &age), DOORKEEPER_SEEN);
    assert_int_equal(age, 10);
    assert_int_equal(doorkeeper_see(&r->door, hash_of(1), FIRST_DAY + 7),
                     DOORKEEPER_SEEN);
    assert_int_equal(doorkeeper_see(&r->door, hash_of(1), FIRST_DAY + 2),
                     DOORKEEPER_SEEN);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(1), &age), DOORKEEPER_SEEN);
    assert_int_equal(age, 3);
    doorkeeper_begin_day(&r->door, FIRST_DAY + 7 + DOORKEEPER_DAYS - 1);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(1), &age), DOORKEEPER_SEEN);
    doorkeeper_begin_day(&r->door, FIRST_DAY + 7 + DOORKEEPER_DAYS);
    assert_int_equal(doorkeeper_find(&r->door, hash_of(1), &age), DOORKEEPER_NEW);
    free(r);
}

/* 24 entries of 31: 0.55 % by 4,369 values, some more by the lines beside home. */
static void test_door_find__strangers__as_seldom_as_is_said(void **state)
{
    struct room *r = room_of(LINES_MOST);
    unsigned taken = 0;

    (void)state;
    for (uint64_t i = 0; i < (uint64_t)24 * LINES_MOST; i++) {
        (void)doorkeeper_see(&r->door, hash_of(i), FIRST_DAY);
    }
    for (uint64_t i = 0; i < STRANGERS; i++) {
        unsigned age = 0;
        taken += doorkeeper_find(&r->door, hash_of(i + KEYS), &age) != DOORKEEPER_NEW
                     ? 1
                     : 0;
    }
    assert_in_range(taken, STRANGERS * 45 / 10000, STRANGERS * 75 / 10000);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_door__too_many_keys_for_60_days__none_is_forgotten),
        cmocka_unit_test(test_door_see__full__turned_away_and_unsure),
        cmocka_unit_test(test_door_see__later_days__the_newest_is_kept),
        cmocka_unit_test(test_door_find__strangers__as_seldom_as_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
