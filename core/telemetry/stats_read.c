/* stats_read - a page as another process sees it. */

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/telemetry/stats.h"
#include "core/telemetry/stats_page.h"

/* Tries, a millisecond apart, to meet the faults while they do not change; a writer that was
 * killed in the middle leaves the number odd for ever, and then the texts are taken as they
 * are. */
enum { FAULT_TRIES = 50, FAULT_WAIT_NS = 1000000 };

/* The page is read, not mapped: a file that somebody truncates must not kill the reader. */
static enum err read_page(int fd, struct stats_page *page, const char *path,
                          struct errinfo *reterr)
{
    size_t n = file_read_at(fd, 0, page, sizeof(*page));
    if (n < sizeof(*page) && errno != 0) {
        return file_sys_fail(reterr, path, "cannot read the statistics page");
    }
    if (n < sizeof(*page) || page->magic != STATS_MAGIC) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is not a statistics page of gillnet");
    }
    if (page->version != STATS_VERSION) {
        return errinfo_set(
            reterr, ERR_VERSION, path, 0,
            "a statistics page of version %u, this program reads version %d; "
            "use the programs of one release",
            page->version, STATS_VERSION);
    }
    if (page->nvalues > STATS_VALUES_MAX || page->fault_text != STATS_FAULT_TEXT ||
        page->faults_max != STATS_FAULTS_MAX) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the header of the statistics page is damaged");
    }
    return ERR_OK;
}

static void copy_values(const struct stats_page *page, struct stats_view *ret)
{
    for (unsigned i = 0; i < STAT_COUNT && i < page->nvalues; i++) {
        ret->value[i] = atomic_load_explicit(&page->value[i], memory_order_relaxed);
    }
}

static void copy_faults(const struct stats_page *page, struct stats_view *ret)
{
    uint32_t n = atomic_load_explicit(&page->nfaults, memory_order_relaxed);
    ret->nfaults = n < STATS_FAULTS_MAX ? n : STATS_FAULTS_MAX;
    for (unsigned i = 0; i < ret->nfaults; i++) {
        for (unsigned w = 0; w < STATS_FAULT_WORDS; w++) {
            uint64_t word =
                atomic_load_explicit(&page->fault[i][w], memory_order_relaxed);
            memcpy(ret->fault[i] + w * sizeof(word), &word, sizeof(word));
        }
        ret->fault[i][STATS_FAULT_TEXT - 1] = '\0';
        for (char *p = ret->fault[i]; *p; p++) {
            if ((unsigned char)*p < ' ' || *p == 0x7f) {
                *p = ' '; /* the page is another user's: no escapes for our terminal */
            }
        }
    }
}

enum err stats_read(const char *path, struct stats_view *ret, struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct stats_page page;
    memset(ret, 0, sizeof(*ret));
    for (int i = 0; i < FAULT_TRIES; i++) {
        e = read_page(fd, &page, path, reterr);
        if (e != ERR_OK) {
            break;
        }
        /* Two reads with the same even number have the texts of one moment between them. */
        uint32_t before = atomic_load_explicit(&page.fault_seq, memory_order_relaxed);
        copy_faults(&page, ret);
        e = read_page(fd, &page, path, reterr);
        if (e != ERR_OK) {
            break;
        }
        uint32_t after = atomic_load_explicit(&page.fault_seq, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            break;
        }
        struct timespec wait = {.tv_nsec = FAULT_WAIT_NS};
        (void)nanosleep(&wait, NULL);
    }
    if (e == ERR_OK) {
        copy_values(&page, ret);
    }
    (void)close(fd);
    return e;
}

bool stats_is_alive(const struct stats_view *view, uint64_t now_s)
{
    uint64_t sign_s = view->value[STAT_alive_time];

    return view->value[STAT_pid] != 0 && sign_s < now_s + STATS_ALIVE_S &&
           now_s < sign_s + STATS_ALIVE_S;
}
