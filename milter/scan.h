/*
 * scan - messages from the control socket: judged like mail or reported, answered as JSON.
 *
 * One thread reads messages and writes answers, SCAN_WORKERS judge. Mail goes first: the workers
 * are few and have a lower priority, and messages above the limits are refused ("error busy"). A
 * message has the limits of mail in bytes, memory, processor time and deadline; a client has a time
 * limit. Nothing is counted or learnt unless the line requests it. The answer is "ok" and a line
 * with the object of `gillnet check --json`, or "error WHY". A report goes the same way, to report.h.
 * Request lines:
 * core/telemetry/scan_request.h.
 * Threads: scan_take from the control socket's; start and stop from main.   Owns: the clients that
 * it took.
 */
#ifndef MILTER_SCAN_H
#define MILTER_SCAN_H

#include "core/base/slice.h"
#include "core/telemetry/scan_request.h"

enum {
    SCAN_WORKERS = 2,
    SCAN_NICE = 10,
    SCAN_CLIENTS_MAX = 64, /* at once; more are refused */
    SCAN_MEMORY_MAX =
        64 * 1024 * 1024,  /* bytes of messages, as announced, and answers */
    SCAN_READ_MS = 10000,  /* for a whole message to come */
    SCAN_WRITE_MS = 10000, /* for an answer to be taken */
    SCAN_ANSWER_MAX = 16 * 1024 * 1024
};

/* False: no threads; scan_take then refuses. */
bool scan_start(void);
/* Closes all clients, after it has waited for the messages being judged. Works in any state. */
void scan_stop(void);
/* Takes the connection fd (non-blocking), whose request line was "scan " or "report ", and args;
 * rest are the bytes after the line. */
void scan_take(int fd, struct slice args, struct slice rest, bool is_report);

/* Judges the bytes of a message, with the envelope that the request names, as a message of a
 * session is judged. Returns the object of `gillnet check --json` as compact JSON, which the caller
 * frees; NULL: reterr says why. Counts the message only when the request asks for it, and learns
 * nothing from it. Any thread, while the service runs. */
char *scan_message(const struct scan_request *line, struct slice bytes,
                   struct errinfo *reterr);

#endif
