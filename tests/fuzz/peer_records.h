/*
 * peer_records - bytes as the records of a payload: refused with a reason, or records in order that
 * print as the same bytes.
 */
#ifndef TESTS_FUZZ_PEER_RECORDS_H
#define TESTS_FUZZ_PEER_RECORDS_H

#include <string.h>

#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"
#include "core/ring/stream/root.h"

#include "tests/fuzz/fuzz.h"

enum { RECORDS_MAX = 4096 };

static inline void print_again(uint16_t kind, struct payload_reader *r, struct buf *ret)
{
    static struct count_record count[RECORDS_MAX];
    static struct list_record entry[RECORDS_MAX];
    const struct object_id ring = {{0}};
    struct root root = {{0}};
    size_t n = 0;
    while (n < RECORDS_MAX &&
           (kind == OBJECT_COUNT ? payload_next_count(r, &count[n])
                                 : payload_next_list(r, &entry[n]))) {
        if (kind == OBJECT_COUNT) {
            FUZZ_CHECK(count[n].count > 0 && count[n].key > (n ? count[n - 1].key : 0));
            root_add_counts(&root, &ring, &count[n], 1);
        } else {
            FUZZ_CHECK(entry[n].before != entry[n].after);
            FUZZ_CHECK(entry[n].before <= ENTRY_TAKEN_BACK &&
                       entry[n].after <= ENTRY_TAKEN_BACK);
            root_steps(&root, &ring, kind, &entry[n], 1);
        }
        n++;
    }
    FUZZ_CHECK(n == r->n);
    if (kind == OBJECT_COUNT) {
        payload_print_counts(count, n, ret);
    } else if (kind == OBJECT_LIST) {
        payload_print_list(entry, n, ret);
    } else {
        payload_print_texts(entry, n, ret);
    }
}

/* The first two bytes: number of records, DELTA or SNAP. */
static inline void read_records(uint16_t kind, const uint8_t *data, size_t size)
{
    struct payload_reader r;
    struct errinfo info = {.text = ""};
    if (size < 2) {
        return;
    }
    const bool is_snap = (data[1] & 0x80) != 0;
    const uint64_t n = (data[0] | (uint64_t)data[1] << 8) & (RECORDS_MAX - 1);
    struct slice raw = slice_of((const char *)data + 2, size - 2);
    if (payload_reader_init(&r, kind, is_snap, n, raw, &info) != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0');
        return;
    }
    struct buf again;
    buf_init(&again, size);
    print_again(kind, &r, &again);
    FUZZ_CHECK(slice_eq(buf_slice(&again), raw));
    buf_fini(&again);
}

#endif
