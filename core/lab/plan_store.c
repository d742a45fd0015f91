/* plan_store - `gillnet plan --store`: memory, traffic, servers and price of the store that the
 * servers of a ring share. */
#include <math.h>
#include <sysexits.h>

#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/count/size.h"
#include "core/lab/plan_command.h"
#include "core/lab/prices.h"

enum {
    BUCKETS_A_DAY = 144,
    BUCKETS_KEPT =
        151, /* 25 hours from a bucket's end (shared_counts.h), and the running one */
    DAYS_KEPT = 16, /* the same of days */
    HOSTS_MOST = 1000,
    REPLICAS_MOST = 5,
    CLUSTER_LEAST = 3, /* masters */
    DAY_S = 86400
};

/* Bytes of a counter in a packed hash, its share of the hash's name and expiry included. */
static const double counter_bytes = 15;
/* Bytes of an increment on its way to the store and back: key, amount, totals, and its share of
 * batch, answer, hot keys and questions. */
static const double update_bytes = 25;
/* Updates that one master takes in a second. */
static const double node_updates = 200000;
/* The busiest minute of a day beside its mean. */
static const double peak = 3;
/* Share of a machine's memory that maxmemory may have: copies of pages while a snapshot is written,
 * buffers, fragments. */
static const double usable = 0.75;
/* Data of one master where the price file names no machine: its snapshots and a replica's first
 * copy then take minutes. */
static const double master_gb = 25;
static const double gb = 1e9;

static const double messages_default = 1e6;

struct store_plan {
    double hosts;
    double replicas;
    double messages; /* a day, of one host */
    double counters;
    double memory; /* bytes of the masters together */
    double masters;
    double machines;   /* with replicas */
    double maxmemory;  /* of each */
    double host_bytes; /* a day */
    double updates;    /* a second, mean, of all */
    double price;      /* a month */
};

/* ---- figures ---- */

/* Above the most that sizes are computed for, the keys grow as the messages do: too high rather
 * than too low, since keys come again. */
static void keys_for(double messages, double *retbucket, double *retday)
{
    const double most = (double)COUNT_SIZE_MESSAGES_MOST;
    const double planned = fmin(messages, most);
    struct count_size s;

    if (count_size_for((uint64_t)planned, &s) != ERR_OK) {
        s = (struct count_size){.bucket_keys = 0};
    }
    *retbucket = (double)s.bucket_keys * messages / planned;
    *retday = (double)s.day_keys * messages / planned;
}

static void reckon_servers(struct store_plan *p, const struct prices *prices)
{
    const double room =
        prices->instance_gb > 0 ? prices->instance_gb * usable * gb : master_gb * gb;
    const double busy = p->updates * peak / node_updates;

    p->masters = fmax(1, ceil(fmax(p->memory / room, busy)));
    if (p->masters > 1) {
        p->masters = fmax(p->masters, CLUSTER_LEAST);
    }
    p->maxmemory = p->memory / p->masters / usable;
    p->machines = p->masters * (1 + p->replicas);
    p->price = p->machines * prices->instance +
               p->memory / usable * (1 + p->replicas) / gb * prices->memory_gb;
}

static void reckon(struct store_plan *p, const struct prices *prices)
{
    double bucket = 0;
    double day = 0;

    keys_for(p->messages, &bucket, &day); /* of one host */
    p->host_bytes = bucket * BUCKETS_A_DAY * update_bytes;
    p->updates = bucket * BUCKETS_A_DAY * p->hosts / DAY_S;
    keys_for(p->messages * p->hosts, &bucket, &day); /* of all */
    p->counters = bucket * BUCKETS_KEPT + day * DAYS_KEPT;
    p->memory = p->counters * counter_bytes;
    reckon_servers(p, prices);
}

/* ---- showing ---- */

static bool print_store_json(const struct store_plan *p)
{
    return json_line(json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "hosts",
        (json_int_t)p->hosts, "messages_per_day", (json_int_t)p->messages, "replicas",
        (json_int_t)p->replicas, "counters", (json_int_t)p->counters, "memory_bytes",
        (json_int_t)p->memory, "masters", (json_int_t)p->masters, "machines",
        (json_int_t)p->machines, "maxmemory_bytes", (json_int_t)p->maxmemory,
        "host_bytes_per_day", (json_int_t)p->host_bytes, "bytes_per_day",
        (json_int_t)(p->host_bytes * p->hosts), "updates_per_s", (json_int_t)p->updates,
        "price_per_month", p->price));
}

static void print_store_text(const struct store_plan *p)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    (void)printf("A store for %.0f hosts of %s messages a day each:\n\n", p->hosts,
                 humanize_count((uint64_t)p->messages, a));
    (void)printf("  counters  %s, in ten-minute buckets of 25 hours and days of 15\n",
                 humanize_count((uint64_t)p->counters, a));
    (void)printf("  memory    %s of data", humanize_bytes(p->memory, a));
    (void)printf("; set maxmemory to %s on each master\n",
                 humanize_bytes(p->maxmemory, a));
    (void)printf("  servers   %.0f master%s, %.0f with %.0f replica%s each: %s\n",
                 p->masters, p->masters > 1 ? "s" : "", p->machines, p->replicas,
                 p->replicas == 1 ? "" : "s",
                 p->masters > 1    ? "a Cluster"
                 : p->replicas > 0 ? "Sentinel, or a Cluster of three small ones"
                                   : "a single server");
    (void)printf("  traffic   %s a day for each host, %s in all",
                 humanize_bytes(p->host_bytes, a),
                 humanize_bytes(p->host_bytes * p->hosts, b));
    (void)printf("; %s updates a second\n", humanize_count((uint64_t)p->updates, a));
    (void)printf("  price     %.2f a month\n\n", p->price);
    (void)printf(
        "A counter takes %.0f bytes, an update %.0f bytes of traffic. Each host "
        "keeps its own counts\nbesides: gillnet plan --messages-per-day. "
        "Filters of lists with filter_memory = \"store\" come on top.\n",
        counter_bytes, update_bytes);
}

/* ---- the question ---- */

/* A whole number from least to most; text NULL: leaves *ret. An exit status. */
static int read_whole_number(const char *option, const char *text, double least,
                             double most, double *ret)
{
    char why[128];
    double v = 0;

    if (text == NULL) {
        return 0;
    }
    if (!humanize_read(text, &v) || !(v >= least && v <= most) || floor(v) != v) {
        (void)snprintf(why, sizeof(why), "%s takes a whole number from %.0f to %.0f",
                       option, least, most);
        return cli_usage("plan", why);
    }
    *ret = v;
    return 0;
}

int planning_store(const struct planning_store_words *w, const struct prices *prices,
                   bool json)
{
    struct store_plan p = {.replicas = 1, .messages = messages_default};
    int status = 0;

    if (w->hosts == NULL) {
        return cli_usage("plan", "--store needs --hosts");
    }
    status = read_whole_number("--hosts", w->hosts, 1, HOSTS_MOST, &p.hosts);
    THEN(status,
         read_whole_number("--replicas", w->replicas, 0, REPLICAS_MOST, &p.replicas));
    THEN(status, read_whole_number("--messages-per-day", w->messages, 1,
                                   (double)COUNT_SIZE_MESSAGES_MOST, &p.messages));
    if (status != 0) {
        return status;
    }
    reckon(&p, prices);
    if (json) {
        return print_store_json(&p) ? CLI_CLEAN : EX_OSERR;
    }
    print_store_text(&p);
    return CLI_CLEAN;
}
