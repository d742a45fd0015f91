/*
 * milterload_process - CPU time and memory of the measured processes, from /proc.
 */
#ifndef TESTS_BENCH_MILTERLOAD_PROCESS_H
#define TESTS_BENCH_MILTERLOAD_PROCESS_H

struct process_use {
    double cpu_s;   /* of all processes together */
    double rss_mb;  /* resident now */
    double peak_mb; /* resident at the most */
};

/* pids: comma-separated numbers, or NULL for none. A process that is gone counts as zero. */
void process_read(const char *pids, struct process_use *ret);

#endif
