/* doctor_journal - whether the journal is on, written and whole, and the log of reports whole. */
#include "core/base/clock.h"
#include "core/cli/doctor.h"
#include "core/report/report_log.h"
#include "core/verdict/journal/journal_read.h"

enum { US_PER_S = 1000000, DAY_S = 86400 };

void doctor_journal(struct doctor *d)
{
    const struct config *c = d->cli->config;
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers n;
    const struct journal_query q = {.state_dir = c->state_dir,
                                    .since_us =
                                        clock_wall_us() - (uint64_t)DAY_S * US_PER_S};

    if (c->journal.keep_s == 0) {
        doctor_say(
            d, DOCTOR_OK, "journal", "",
            "it is off (journal.keep): explain, replay and rules know no message");
        return;
    }
    enum err e = journal_read(&q, &n, &why);
    if (e == ERR_NOT_FOUND) {
        doctor_say(d, DOCTOR_OK, "journal", "", "gillnetd has written none yet");
    } else if (e != ERR_OK) {
        doctor_say_why(d, DOCTOR_WARN, "journal", "run this as root", &why);
    } else if (n.damaged > 0) {
        doctor_say(
            d, DOCTOR_WARN, "journal",
            "the other messages can be read; see to the disk, and remove the file "
            "if it is damaged as a whole",
            "%.300s", n.damage);
    } else {
        doctor_say(d, DOCTOR_OK, "journal", "",
                   "%" PRIu64 " messages in the newest files", n.records);
    }
}

void doctor_reports(struct doctor *d)
{
    struct errinfo why = {.code = ERR_OK};
    struct report_log_numbers n;

    if (report_log_each(d->cli->config->state_dir, NULL, NULL, &n, &why) != ERR_OK) {
        doctor_say_why(d, DOCTOR_WARN, "reports", "run this as root", &why);
    } else if (n.damaged > 0) {
        doctor_say(d, DOCTOR_WARN, "reports",
                   "the other reports count; see to the disk, and restore a backup if "
                   "too many are gone",
                   "damaged places in the log of reports: %" PRIu64, n.damaged);
    } else if (n.entries > 0) {
        doctor_say(d, DOCTOR_OK, "reports", "", "%" PRIu64 " entries in their log",
                   n.entries);
    } else {
        /* there are none */
    }
}
