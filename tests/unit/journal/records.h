/*
 * records - records for the tests of the journal, different for each number.
 */
#ifndef TESTS_UNIT_JOURNAL_RECORDS_H
#define TESTS_UNIT_JOURNAL_RECORDS_H

#include <math.h>
#include <stdio.h>

#include "core/verdict/journal/record.h"

#include "tests/unit/unit.h"

enum { RECORDS_TEXT = 64 };
struct example {
    struct record record;
    char from[RECORDS_TEXT];
    char to[RECORDS_TEXT];
    char queue_id[RECORDS_TEXT];
};

/* A message with some of everything; i sets its ids, addresses and numbers. */
static inline void example_fill(struct example *e, uint64_t i)
{
    struct record *r = &e->record;

    record_init(r, RECORD_MESSAGE);
    (void)snprintf(e->from, sizeof(e->from), "sender%llu@sender.example",
                   (unsigned long long)i);
    (void)snprintf(e->to, sizeof(e->to), "joe%llu@rcpt.example",
                   (unsigned long long)i % 10);
    (void)snprintf(e->queue_id, sizeof(e->queue_id), "4Q%06llx", (unsigned long long)i);
    r->time_us = UINT64_C(1700000000000000) + i * 1000;
    r->case_id = (UINT64_C(122163200) << 28) + i;
    r->queue_id = slice_str(e->queue_id);
    r->message_id = i * 7919 + 1;
    r->has_addr = i % 2 == 0;
    r->addr[15] = (uint8_t)i;
    r->bytes = 1000 + i;
    r->nrcpt = 1;
    r->config_id = 77;
    r->identity = i % 16;
    r->limits = 1;
    r->wanted = i % 3 == 0;
    r->done = r->wanted;
    r->bulk_alone = 1;
    r->score = r->wanted ? 7.5 : 2.0;
    r->sure = r->score;
    r->firm = r->wanted ? 6.0 : 2.0;
    for (size_t k = 0; k < RECORD_THRESHOLDS; k++) {
        r->threshold[k] = k == 1 ? 5.0 : HUGE_VAL;
    }
    r->ntraits = 2;
    r->trait[0] = 3;
    r->trait[1] = 1;
    r->nsymbols = 2;
    r->symbol[0] = (struct record_symbol){SLICE_LIT("LIST_PHISH"), r->firm, 0,
                                          SLICE_LIT("url_domain=evil.example")};
    r->symbol[1] = (struct record_symbol){SLICE_LIT("BULK_REPLICA"), r->score - r->firm,
                                          1, SLICE_LIT("text_band seen 57 times")};
    r->nhits = 1;
    r->hit[0] = (struct record_hit){SLICE_LIT("phish"),
                                    SLICE_NONE,
                                    SLICE_LIT("phish"),
                                    SLICE_LIT("evil.example"),
                                    r->firm,
                                    1,
                                    24,
                                    2,
                                    0};
    r->ntypes = 1;
    r->type[0] = (struct record_type){61, 30, 1};
    r->ncounts = 1;
    r->count[0] = (struct record_count){
        61, 0x1234567, {5, 50 + i % 50, 57 + i % 50, 300}, true, {1, 2, 3}};
    r->nhashes = 30;
    for (uint32_t k = 0; k < 30; k++) {
        r->hash[k] = (k * 34567 + (uint32_t)i) & 0xfffff;
    }
    r->nitems = i % 3;
    for (size_t k = 0; k < r->nitems; k++) {
        r->item[k] = (struct record_item){i * 77777777777 + k, 61, (uint8_t)(1 + k)};
    }
    r->from = slice_str(e->from);
    r->header_from = slice_str(e->from);
    r->subject = SLICE_LIT("hello");
    r->ntexts_rcpt = 1;
    r->rcpt[0] = slice_str(e->to);
}

/* Its frame with a number; the caller frees ret. */
static inline void example_frame(uint64_t i, uint64_t number, struct buf *ret)
{
    struct example *e = calloc(1, sizeof(*e));

    assert_non_null(e);
    example_fill(e, i);
    record_print(&e->record, ret);
    assert_false(buf_failed(ret));
    record_number(ret->p, number);
    free(e);
}

#endif
