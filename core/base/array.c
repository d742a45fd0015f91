/* array - growth by doubling, within a bound. */
#include "core/base/array.h"

#include "core/base/std.h"

enum { ROOM_FIRST = 8 };

bool array_room(void *parray, size_t *room, size_t need, size_t most, size_t each)
{
    void *array = NULL;
    size_t grown = 0;

    if (need <= *room) {
        return true;
    }
    most = most < SIZE_MAX / each ? most : SIZE_MAX / each;
    if (need > most) {
        return false;
    }
    grown = *room > most / 2 ? most : 2 * *room;
    grown = grown < ROOM_FIRST ? ROOM_FIRST : grown;
    grown = grown < need ? need : grown;
    grown = grown > most ? most : grown;
    memcpy(&array, parray, sizeof(array)); /* the caller's pointer of any type */
    void *larger = reallocarray(array, grown, each);
    if (larger == NULL) {
        return false;
    }
    memcpy(parray, &larger, sizeof(larger));
    *room = grown;
    /* cppcheck-suppress memleak ; the caller owns it */
    return true;
}

int array_u64_cmp(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}
