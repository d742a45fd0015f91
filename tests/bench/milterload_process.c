/*
 * milterload_process - reads /proc/PID/stat and /proc/PID/status.
 */
#include "tests/bench/milterload_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/milterload.h"

static double cpu_seconds(long pid)
{
    char path[64];
    char line[1024];
    unsigned long user;
    unsigned long sys;
    double cpu = 0;

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        return 0;
    }
    /* the name in brackets may hold anything: the numbers begin after the last bracket */
    char *q = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
    if (q != NULL &&
        sscanf(q + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &sys) == 2) {
        cpu = (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
    }
    (void)fclose(f);
    return cpu;
}

static void add_memory(long pid, struct process_use *u)
{
    char path[64];
    char line[1024];
    unsigned long kb;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        return;
    }
    while (fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "VmRSS: %lu", &kb) == 1) {
            u->rss_mb += (double)kb / 1024;
        }
        if (sscanf(line, "VmHWM: %lu", &kb) == 1) {
            u->peak_mb += (double)kb / 1024;
        }
    }
    (void)fclose(f);
}

void process_read(const char *pids, struct process_use *ret)
{
    struct process_use u = {0};
    for (const char *p = pids; p != NULL && *p != '\0';) {
        char *end;
        long pid = strtol(p, &end, 10);
        if (end == p || (*end != ',' && *end != '\0')) {
            die("not a list of process ids: %s", pids);
        }
        u.cpu_s += cpu_seconds(pid);
        add_memory(pid, &u);
        p = *end == ',' ? end + 1 : end;
    }
    *ret = u;
}
