/*
 * entry - the rule that applies one log record to the known state; the only place with that rule.
 *
 * The state of a digest is the fold of its records in log order; index, memtable, rebuild
 * and verify all fold with entry_fold and so agree.
 * Depends: base, filter, store, segment.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LIST_ENTRY_H
#define CORE_LIST_ENTRY_H

#include "core/filter/exacttable.h"
#include "core/list/segment.h"
#include "core/store/index.h"

enum { ENTRY_FLAG_EXPLICIT = 1 }; /* index_record.flags bit 0 */

/* Expiry of an entry that was taken out (core/list/mirror.h): past for everybody, and counted by no
 * total. */
enum { ENTRY_GONE_S = 1 };

/* An expiry lies behind now_s. */
bool entry_is_expired(const struct index_record *r, uint64_t now_s);

/* Applies a record (not of kind RECORD_SOURCE) to *state; has: *state holds something. False: the
 * record changes nothing (an import or feed record for an entry of a person, or an import of an
 * entry that is listed for at least as long). A changed state refers to the record's segment and
 * offset. */
bool entry_fold(struct index_record *state, bool has, const struct log_record *r);

/* How the totals of listed and revoked entries move from one state to another. */
struct entry_totals {
    uint64_t listed;
    uint64_t revoked;
};
void entry_count(struct entry_totals *t, const struct index_record *before,
                 bool has_before, const struct index_record *after);
/* An entry that is left out. */
void entry_uncount(struct entry_totals *t, const struct index_record *r);

/* The form in the memtable. */
struct exact_value entry_pack(const struct index_record *r);
struct index_record entry_unpack(const struct exact_value *v);

#endif
