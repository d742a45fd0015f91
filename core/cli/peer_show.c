/* peer_show - `gillnet peer list` and `status`: the members of the ring and their state. */
#include <sysexits.h>

#include "core/base/hash256.h"
#include "core/cli/peer_commands.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/ring/trust/invite.h"
#include "core/store/origins.h"

enum { MS_PER_S = 1000, SHORT_ORIGIN = 8, WARN_DAYS = 14, DAY_MS = 86400000 };

/* ---- list ---- */

static void key_text(const struct manifest_key *k, uint64_t now_ms, char *ret,
                     size_t size)
{
    const char *state = k->is_revoked                               ? " (revoked)"
                        : k->binding.not_before_ms > now_ms         ? " (later)"
                        : k->until_ms != 0 && k->until_ms <= now_ms ? " (over)"
                        : k->until_ms != 0                          ? " (ends)"
                                                                    : "";
    (void)snprintf(ret, size, "%016" PRIx64 "%s", object_key_id(k->binding.key), state);
}

static json_t *cap_json(uint64_t cap)
{
    return cap >= ORIGIN_NO_CAP ? json_null() : json_integer((json_int_t)cap);
}

static int list_json(const struct manifest *m, const struct identity *self,
                     uint64_t now_ms)
{
    char hex[2 * OBJECT_KEY_BYTES + 1];
    bool ok = true;

    hex_print(m->ring.b, OBJECT_ID_BYTES, hex);
    ok = json_line(json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:i, s:i}", "type", "ring",
                             "ring", hex, "kind", ring_kind_name(m->kind), "version",
                             (json_int_t)m->version, "expires",
                             (json_int_t)(m->expires_ms / MS_PER_S), "expired",
                             m->expires_ms <= now_ms ? 1 : 0, "threshold",
                             (int)m->threshold, "administrators", (int)m->nadmins));
    for (unsigned i = 0; ok && i < m->nmembers; i++) {
        const struct manifest_member *p = &m->members[i];
        json_t *keys = json_array();
        for (unsigned j = 0; j < p->nkeys; j++) {
            char text[64];
            key_text(&p->keys[j], now_ms, text, sizeof(text));
            (void)json_array_append_new(keys, json_string(text));
        }
        hex_print(p->origin.b, OBJECT_ID_BYTES, hex);
        ok = json_line(json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:b, s:o}", "type", "member", "name",
            p->name, "origin", hex, "state", member_state_name(p->state), "address",
            p->address, "since", (json_int_t)(p->since_ms / MS_PER_S), "cap",
            cap_json(manifest_cap(m, p)), "self",
            memcmp(&p->origin, &self->origin, sizeof(p->origin)) == 0 ? 1 : 0, "keys",
            keys));
    }
    return ok ? 0 : EX_OSERR;
}

static void list_members(const struct manifest *m, const struct identity *self,
                         uint64_t now_ms)
{
    char hex[2 * OBJECT_ID_BYTES + 1];
    char when[TEXT_TIME_MAX];
    char key[64] = "";

    (void)printf("%-20s %-8s %-8s %-28s %-20s %s\n", "NAME", "ORIGIN", "STATE",
                 "ADDRESS", "SINCE", "KEY");
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_member *p = &m->members[i];
        bool is_self = memcmp(&p->origin, &self->origin, sizeof(p->origin)) == 0;
        hex_print(p->origin.b, OBJECT_ID_BYTES, hex);
        key_text(&p->keys[0], now_ms, key, sizeof(key));
        (void)printf("%-20s %.*s %-8s %-28s %-20s %s%s\n", p->name, SHORT_ORIGIN, hex,
                     member_state_name(p->state),
                     p->address[0] != '\0' ? p->address : "-",
                     text_time(p->since_ms / MS_PER_S, when), key,
                     is_self ? "  this server" : "");
        for (unsigned j = 1; j < p->nkeys; j++) {
            key_text(&p->keys[j], now_ms, key, sizeof(key));
            (void)printf("%88s %s\n", "", key);
        }
    }
}

static void list_ring(const struct manifest *m, uint64_t now_ms)
{
    char hex[2 * OBJECT_ID_BYTES + 1];
    char when[TEXT_TIME_MAX];

    hex_print(m->ring.b, OBJECT_ID_BYTES, hex);
    (void)printf("ring %s (%s), version %" PRIu64
                 ", %u of %u administrators sign, good until "
                 "%s\n",
                 hex, ring_kind_name(m->kind), m->version, m->threshold, m->nadmins,
                 text_time(m->expires_ms / MS_PER_S, when));
    if (m->expires_ms <= now_ms) {
        (void)puts("The manifest has EXPIRED: nobody can join or leave, all else goes "
                   "on. Run `gillnet peer renew`.");
    } else if (m->expires_ms < now_ms + (uint64_t)WARN_DAYS * DAY_MS) {
        (void)puts("The manifest expires soon: run `gillnet peer renew`.");
    }
}

static void list_waiting(const char *dir, uint64_t version)
{
    struct invite_row rows[INVITES_MAX];
    struct manifest next = {.version = 0};
    char when[TEXT_TIME_MAX];
    size_t n = invite_rows(dir, rows);

    for (size_t i = 0; i < n; i++) {
        if (!rows[i].is_used && rows[i].expires_s * MS_PER_S > peer_now_ms()) {
            (void)printf("invited: %s, until %s\n", rows[i].name,
                         text_time(rows[i].expires_s, when));
        }
    }
    if (ring_next(dir, &next, NULL) == ERR_OK && next.version <= version) {
        (void)printf("A change that waits here (version %" PRIu64 ") was made of an "
                     "older version and can not come into force: gillnet peer "
                     "manifest discard, and make it again.\n",
                     next.version);
        manifest_fini(&next);
    } else if (next.version > 0) {
        (void)printf("version %" PRIu64
                     " waits for signatures (%u so far): gillnet peer "
                     "manifest show --next\n",
                     next.version, manifest_signatures(&next, &next));
        manifest_fini(&next);
    }
}

int peer_cmd_list(struct cli *cli, int argc, char **argv)
{
    struct identity self;
    struct manifest m;
    char dir[FILE_PATH_MAX];
    uint64_t now_ms = peer_now_ms();
    int status =
        cli_arguments(CLI_WORDS("peer", 0, 0, "list takes no arguments"), &argc, argv);

    THEN(status, peer_dir(cli, dir));
    THEN(status, peer_load(dir, &self, &m));
    if (status != 0) {
        return status;
    }
    if (cli->json) {
        status = list_json(&m, &self, now_ms);
    } else {
        list_ring(&m, now_ms);
        list_members(&m, &self, now_ms);
        list_waiting(dir, m.version);
    }
    manifest_fini(&m);
    identity_wipe(&self);
    return status;
}

/* ---- status ---- */

/* "-" for none. */
static const char *text_or_dash(const json_t *row, const char *name)
{
    return json_is_string(json_object_get(row, name)) ? json_text_of(row, name) : "-";
}

/* A line with a text of the row, if it has one. */
static void print_row_text(const json_t *row, const char *name, const char *before,
                           size_t most)
{
    const char *text = json_text_of(row, name);

    if (*text != '\0') {
        (void)fputs(before, stdout);
        text_print(stdout, slice_str(text), most);
        (void)putchar('\n');
    }
}

static void print_cell(const char *text, int width)
{
    text_print(stdout, slice_str(text), (size_t)width);
    int pad = width - (int)strlen(text);
    (void)printf("%*s ", pad > 0 ? pad : 0, "");
}

static void print_refusals(const json_t *row)
{
    const char *reason = NULL;
    json_t *n = NULL;

    json_object_foreach(json_object_get(row, "refused"), reason, n)
    {
        if (json_integer_value(n) > 0) {
            (void)printf("    refused, %s: %" PRIu64 "\n", reason,
                         (uint64_t)json_integer_value(n));
        }
    }
    print_row_text(row, "last_refusal", "    last: ", 200);
}

static void print_member(const json_t *row)
{
    const char *say = json_is_true(json_object_get(row, "is_distrusted"))
                          ? "DISTRUSTED: it signed two histories"
                      : json_is_true(json_object_get(row, "is_stale"))  ? "stale"
                      : json_is_true(json_object_get(row, "connected")) ? "connected"
                                                                        : "";
    uint64_t quota = json_number_of(row, "quota");
    uint64_t used = quota > 0 ? json_number_of(row, "quota_used") * 100 / quota : 0;

    print_cell(text_or_dash(row, "name"), 20);
    print_cell(text_or_dash(row, "state"), 8);
    (void)printf("%6" PRIu64 " %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %12" PRIu64
                 " %6" PRIu64 "%% %s\n",
                 json_number_of(row, "heads"), json_number_of(row, "lag_s"),
                 json_number_of(row, "applied"), json_number_of(row, "bytes_in"),
                 json_number_of(row, "bytes_out"), used, say);
    if (!json_is_true(json_object_get(row, "connected"))) {
        print_row_text(row, "last_failure", "    not reached: ", 400);
    }
    print_refusals(row);
}

/* Prints a subscription. */
static void print_subscription(const json_t *row)
{
    print_cell(text_or_dash(row, "subscription"), 20);
    (void)printf("%-8s publication %" PRIu64 ", %" PRIu64 " lists, %" PRIu64
                 " entries, %" PRIu64 " refused, %" PRIu64 " bytes in\n",
                 text_or_dash(row, "state"), json_number_of(row, "publications"),
                 json_number_of(row, "lists"), json_number_of(row, "entries"),
                 json_number_of(row, "refused"), json_number_of(row, "bytes_in"));
    print_row_text(row, "last_failure", "    last: ", 400);
}

static void print_status(json_t *rows)
{
    json_t *row = NULL;
    size_t i = 0;

    (void)printf("%-20s %-8s %6s %8s %8s %12s %12s %7s\n", "NAME", "STATE", "HEADS",
                 "LAG s", "APPLIED", "IN bytes", "OUT bytes", "QUOTA");
    json_array_foreach(rows, i, row)
    {
        if (json_object_get(row, "name") != NULL) {
            print_member(row);
        } else if (json_object_get(row, "subscription") != NULL) {
            print_subscription(row);
        }
    }
}

/* Prints the effect of the ring's kind on counts. */
static void print_kind(struct cli *cli)
{
    struct manifest m = {.version = 0};
    char dir[FILE_PATH_MAX];

    if (peer_dir(cli, dir) != 0 || manifest_load(dir, &m, NULL) != ERR_OK) {
        return;
    }
    if (m.kind == RING_OWN) {
        (void)puts("ring of kind own: all members' counts add up");
    } else {
        (void)printf("ring of kind federation: of each member at most %" PRIu64
                     " counts, once %u members counted it\n",
                     m.default_cap, m.quorum);
    }
    manifest_fini(&m);
}

int peer_cmd_status(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX] = "";
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;
    int status = cli_arguments(CLI_WORDS("peer", 0, 0, "status takes no arguments"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    const char *hub = cli->config->hub.control_socket;
    enum err e = control_ask_rows(hub, "status", first, &rows, &why);
    if (e != ERR_OK) {
        return e == ERR_NOT_FOUND
                   ? cli_error(
                         EX_UNAVAILABLE,
                         "%s: the hub does not run; start gillnet-hub. gillnet peer "
                         "list shows the members",
                         hub)
                   : cli_fail(&why);
    }
    if (strncmp(first, "ok", 2) != 0) {
        status = cli_error(EX_UNAVAILABLE, "the hub: %s", first);
    } else if (cli->json) {
        json_array_foreach(rows, i, row)
        {
            status = json_line(json_incref(row)) ? status : EX_OSERR;
        }
    } else {
        print_kind(cli);
        print_status(rows);
    }
    json_decref(rows);
    return status;
}
