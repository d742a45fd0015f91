#include "milter/file_reader.h"

#include <stdatomic.h>

#include "core/base/log.h"
#include "core/reader/client/client.h"
#include "core/telemetry/stats.h"

static struct {
    struct reader_client *client; /* constant, as is offer */
    struct reader_ask offer;
    char fault[STATS_FAULT_TEXT]; /* constant: what a dead reader is called */
    _Atomic bool is_away;
} reader;

static void note_presence(bool is_away)
{
    if (atomic_exchange(&reader.is_away, is_away) == is_away) {
        return;
    }
    stats_fault("reader", is_away ? reader.fault : NULL);
    if (is_away) {
        log_warn("event=reader result=away: %s", reader.fault);
    } else {
        log_info("event=reader result=back");
    }
}

static void count(enum reader_outcome outcome)
{
    switch (outcome) {
    case READER_READ:
        stats_add(STAT_files_read, 1);
        break;
    case READER_SLOW:
        stats_add(STAT_files_slow, 1);
        break;
    case READER_DIED:
    case READER_WRONG:
        stats_add(STAT_files_died, 1);
        break;
    case READER_ABSENT:
    case READER_AWAY:
    case READER_OUTCOMES:
        stats_add(STAT_files_unasked, 1);
        break;
    }
}

static enum reader_outcome ask_and_count(void *context, const struct reader_job *job,
                                         uint64_t within_us, record_fn *on_record,
                                         void *record_context)
{
    const enum reader_outcome outcome =
        reader_client_ask(context, job, within_us, on_record, record_context);

    count(outcome);
    note_presence(outcome == READER_AWAY);
    return outcome;
}

void file_reader_open(const struct config *config)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    struct errinfo why;

    (void)snprintf(reader.fault, sizeof(reader.fault),
                   "gillnet-reader does not answer at %s: see systemctl status "
                   "gillnet-reader",
                   config->reader.socket);
    if (reader_client_new(config->reader.socket, &reader.client, &why) != ERR_OK) {
        log_errinfo("reader", &why);
        stats_fault("reader", errinfo_format(&why, text, sizeof(text)));
    }
    reader.offer = (struct reader_ask){.ask = ask_and_count, .context = reader.client};
}

void file_reader_close(void)
{
    reader_client_free(&reader.client);
}

void file_reader_offer(struct extract_limits *limits)
{
    limits->reader =
        limits->reader_us > 0 && reader.client != NULL ? &reader.offer : NULL;
}
