/* store_findings - what is to be mended in the store, and how. */
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/store_commands.h"

enum {
    VERSION_LEAST = 7,  /* recommended; the client refuses what is older than 6 */
    PACKED_LEAST = 400, /* fields of a hash of counts, at most */
    CLOCK_MOST_MS = 5000,
    LAG_MOST_S = 60,
    MS_PER_S = 1000,
    PERCENT = 100,
    DECIMAL = 10
};

struct finding_place {
    store_finding_fn *fn;
    void *context;
};

static void add_finding(const struct finding_place *to, bool is_broken,
                        const char *advice, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add_finding(const struct finding_place *to, bool is_broken,
                        const char *advice, const char *format, ...)
{
    struct store_finding f = {.is_broken = is_broken, .advice = advice};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(f.text, sizeof(f.text), format, args);
    va_end(args);
    to->fn(to->context, &f);
}

static bool is_false(const json_t *row, const char *name)
{
    return json_is_false(json_object_get(row, name));
}

static bool is_text(const json_t *row, const char *name, const char *text)
{
    return strcmp(json_text_of(row, name), text) == 0;
}

/* ---- one server ---- */

static void find_fault(const json_t *s, const struct finding_place *to)
{
    static const struct {
        const char *fault;
        const char *advice;
    } known[] = {
        {"name", "does DNS or /etc/hosts have the name? see store.servers"},
        {"connect", "does the server run, and may this host reach it?"},
        {"tls", "see store.tls, tls_ca and tls_name, and the server's certificate"},
        {"login", "see store.user and store.password_file, and the ACL of the server"},
        {"protocol", "is it Redis 6 or newer, or Valkey? is TLS wanted there?"},
        {"timeout", "it is overloaded, stands still, or the network loses packets"},
        {"topology", "see store.mode; otherwise a failover is under way"},
    };
    const char *advice = "see the log of the server";

    for (size_t i = 0; i < LENGTH(known); i++) {
        if (is_text(s, "fault", known[i].fault)) {
            advice = known[i].advice;
        }
    }
    if (!is_text(s, "fault", "none")) {
        add_finding(to, false, advice, "%s does not answer: %s (%s)",
                    json_text_of(s, "address"), json_text_of(s, "why"),
                    json_text_of(s, "fault"));
    }
}

static void find_memory(const json_t *s, const struct finding_place *to)
{
    const uint64_t used = json_number_of(s, "memory_bytes");
    const uint64_t limit = json_number_of(s, "memory_limit");
    const char *policy = json_text_of(s, "policy");
    char had[HUMANIZE_MAX];
    char of[HUMANIZE_MAX];

    if (*policy != '\0' && strcmp(policy, "noeviction") != 0) {
        add_finding(
            to, true, "set maxmemory-policy noeviction, there and in its file",
            "%s has the maxmemory-policy %s: it throws counts away and says nothing",
            json_text_of(s, "address"), policy);
    }
    if (*policy != '\0' && limit == 0) {
        add_finding(
            to, false, "set maxmemory; gillnet plan --store --hosts N says how much",
            "%s has no maxmemory: when the machine has no more, the kernel ends it",
            json_text_of(s, "address"));
    } else if (limit > 0 &&
               used / PERCENT >= limit / PERCENT / PERCENT * STORE_BAD_SHARE) {
        add_finding(
            to, false, "raise maxmemory, or add servers",
            "%s has %s of %s in use: when it is full, counts stay on their hosts",
            json_text_of(s, "address"), humanize_bytes((double)used, had),
            humanize_bytes((double)limit, of));
    }
}

static void find_safety(const json_t *s, bool is_single, const struct finding_place *to)
{
    if (is_false(s, "persistent")) {
        add_finding(
            to, false, "set appendonly yes and appendfsync everysec, or save",
            "%s keeps nothing over a restart: it has no append-only file and no "
            "snapshots",
            json_text_of(s, "address"));
    }
    if (is_false(s, "can_write")) {
        add_finding(
            to, true, "see its log, and the room on its disk",
            "%s loads its data, or could not write it to disk: it takes no writes",
            json_text_of(s, "address"));
    }
    if (!is_single && json_number_of(s, "replicas") == 0) {
        add_finding(
            to, false, "give it a replica",
            "%s is a master without a replica: if it dies, its part of the store is "
            "down until it is back",
            json_text_of(s, "address"));
    }
}

static void find_settings(const json_t *s, const struct finding_place *to)
{
    const uint64_t packed = json_number_of(s, "listpack_entries");
    const long long clock_ms = json_integer_value(json_object_get(s, "clock_ms"));
    const long version = strtol(json_text_of(s, "version"), NULL, DECIMAL);

    if (version > 0 && version < VERSION_LEAST) {
        add_finding(to, false, "use Redis 7 or Valkey",
                    "%s is of version %s: 6 works, 7 is recommended",
                    json_text_of(s, "address"), json_text_of(s, "version"));
    }
    if (packed > 0 && packed < PACKED_LEAST) {
        add_finding(to, false,
                    "set hash-max-listpack-entries 512 (before Redis 7 "
                    "hash-max-ziplist-entries)",
                    "%s packs hashes of at most %" PRIu64
                    " fields: counts take several times the memory",
                    json_text_of(s, "address"), packed);
    }
    if (clock_ms > CLOCK_MOST_MS || clock_ms < -CLOCK_MOST_MS) {
        add_finding(to, false, "see to NTP on both machines",
                    "the clock of %s is %lld s %s that of this host",
                    json_text_of(s, "address"), llabs(clock_ms) / MS_PER_S,
                    clock_ms > 0 ? "before" : "behind");
    }
    if (*json_text_of(s, "denied") != '\0') {
        add_finding(to, true, "give the user the rights that gillnet-store(7) lists",
                    "%s refuses a command: %s", json_text_of(s, "address"),
                    json_text_of(s, "denied"));
    }
}

static void find_server(const json_t *s, bool is_single, const struct finding_place *to)
{
    find_fault(s, to);
    if (is_text(s, "role", "master") && is_text(s, "fault", "none") &&
        *json_text_of(s, "version") != '\0') {
        find_settings(s, to);
        find_memory(s, to);
        find_safety(s, is_single, to);
    }
}

/* ---- the whole ---- */

static void find_state(const json_t *store, const struct finding_place *to)
{
    static const struct {
        const char *state;
        bool is_broken;
        const char *text;
        const char *advice;
    } known[] = {
        {"no_ring", true, "no ring of kind own is open here: the store is not used",
         "gillnet peer ring create --kind own on the first server, gillnet peer join "
         "TOKEN on the others"},
        {"begins", false, "no server of the store has answered yet",
         "ask again in some seconds"},
        {"partly", false,
         "some masters of the store do not answer: the counts of their cells wait here",
         "nothing is to be done if a failover is under way; it takes some seconds"},
        {"down", false,
         "the store is down: verdicts rest on the counts of this host; what it counts "
         "waits in its log",
         "look after the servers that do not answer"},
        {"full", false,
         "the store takes no writes: what this host counts waits in its log",
         "raise maxmemory there, or see to its disk"},
    };

    for (size_t i = 0; i < LENGTH(known); i++) {
        if (is_text(store, "state", known[i].state)) {
            add_finding(to, known[i].is_broken, known[i].advice, "%s", known[i].text);
        }
    }
}

static void find_counts(const json_t *store, const struct finding_place *to)
{
    const json_t *c = json_object_get(store, "counts");
    const uint64_t lost = json_number_of(c, "updates_lost");
    const uint64_t lag_s = json_number_of(c, "lag_s");
    const uint64_t spool = json_number_of(c, "spool_bytes");
    const uint64_t limit = json_number_of(c, "spool_limit");

    if (lost > 0) {
        add_finding(
            to, false, "raise store.spool, so that it holds the longest outage",
            "%" PRIu64
            " increments were dropped because the log was full: the counts of the store "
            "are low by them for 14 days at most",
            lost);
    } else if (limit > 0 &&
               spool / PERCENT >= limit / PERCENT / PERCENT * STORE_BAD_SHARE) {
        add_finding(
            to, false, "raise store.spool, or mend the store soon",
            "the log of counts that wait is nearly full: then the oldest are dropped");
    }
    if (is_text(c, "flow", "refused")) {
        add_finding(to, true,
                    "see the server's log, its memory, and the rights of store.user",
                    "the store takes no counts: %s", json_text_of(c, "why"));
    }
    if (is_text(store, "state", "up") && lag_s > LAG_MOST_S) {
        add_finding(to, false, "see the log of the hub; gillnet store verify says more",
                    "the oldest count that waits for the store is %" PRIu64 " s old",
                    lag_s);
    }
}

void store_findings(const json_t *store, store_finding_fn *fn, void *context)
{
    const struct finding_place to = {fn, context};
    json_t *row = NULL;
    size_t i = 0;

    find_state(store, &to);
    find_counts(store, &to);
    json_array_foreach(json_object_get(store, "servers"), i, row)
    {
        find_server(row, is_text(store, "mode", "single"), &to);
    }
}

void store_summary(const json_t *store, char ret[STORE_TEXT_MAX])
{
    const json_t *memory = json_object_get(store, "memory");
    const char *product = "";
    const char *version = "";
    uint64_t limit = json_number_of(memory, "limit");
    unsigned nmasters = 0;
    char used[HUMANIZE_MAX];
    char most[HUMANIZE_MAX];
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(json_object_get(store, "servers"), i, row)
    {
        if (is_text(row, "role", "master")) {
            nmasters++;
            product = json_text_of(row, "product");
            version = json_text_of(row, "version");
        }
    }
    (void)snprintf(ret, STORE_TEXT_MAX, "%s; %s, %u master%s%s%.32s%s%.32s; %s%s%s",
                   json_text_of(store, "state"), json_text_of(store, "mode"), nmasters,
                   nmasters == 1 ? "" : "s", *version != '\0' ? " of " : "", product,
                   *version != '\0' ? " " : "", version,
                   humanize_bytes((double)json_number_of(memory, "bytes"), used),
                   limit > 0 ? " of " : "",
                   limit > 0 ? humanize_bytes((double)limit, most) : "");
}
