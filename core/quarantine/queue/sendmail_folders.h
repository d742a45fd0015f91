/*
 * sendmail_folders - the folders of Sendmail's queues, as sendmail.cf names them.
 *
 * Depends: base.   Threads: one.   Allocates: nothing.
 */
#ifndef CORE_QUARANTINE_QUEUE_SENDMAIL_FOLDERS_H
#define CORE_QUARANTINE_QUEUE_SENDMAIL_FOLDERS_H

#include "core/base/err.h"
#include "core/base/file.h"

enum { SENDMAIL_FOLDERS_MAX = 128 };

struct sendmail_folders {
    size_t n;
    struct sendmail_folder {
        char path[FILE_PATH_MAX];
        bool has_qf; /* envelopes lie in its folder qf, and */
        bool has_df; /* bodies in df */
    } v[SENDMAIL_FOLDERS_MAX];
};

/* cf: the text of sendmail.cf. Reads "O QueueDirectory=" and the queue groups ("Q...,P=PATH"); a
 * path may end in "*". ERR_NOT_FOUND: no such folder is there. ERR_LIMIT: too many. */
enum err sendmail_folders_find(struct slice cf, struct sendmail_folders *ret,
                               struct errinfo *reterr);

#endif
