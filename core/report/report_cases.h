/*
 * report_cases - what people said about the messages of the journal: the last report of each case
 * that holds.
 *
 * Threads: one object, one thread.   Owns: the array.
 */
#ifndef CORE_REPORT_REPORT_CASES_H
#define CORE_REPORT_REPORT_CASES_H

#include "core/report/report_log.h"

struct report_cases {
    struct report_case {
        uint64_t case_id;
        uint64_t report; /* id */
        uint64_t number; /* of its entry */
        bool is_spam;
    } * v; /* by case_id */
    size_t n;
    size_t room;
};
enum err report_cases_read(const char *state_dir, struct report_cases *ret,
                           struct errinfo *reterr);
void report_cases_fini(struct report_cases *c);
enum report_opinion { REPORT_NONE, REPORT_SPAM, REPORT_HAM };
enum report_opinion report_of_case(const struct report_cases *c, uint64_t case_id);

#endif
