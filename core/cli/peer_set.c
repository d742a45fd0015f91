/* peer_set - `gillnet peer set`: what the ring's manifest says of a member, or allows all of them. */

#include "core/cli/options.h"
#include "core/cli/peer_commands.h"

enum { DIGITS_MAX = 15, WHAT_MAX = 128 };

struct wish {
    const char *cap;
    const char *quorum;
    const char *records;
    const char *kind;
    struct ring_terms terms;
};

/* NULL: nothing was said. */
static bool take_number(const char *text, bool *retis_given, uint64_t *ret)
{
    size_t n = text != NULL ? strlen(text) : 0;

    *retis_given = text != NULL;
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || i == DIGITS_MAX) {
            return false;
        }
        *ret = *ret * 10 + (uint64_t)(text[i] - '0');
    }
    return text == NULL || n > 0;
}

static int check_wish(struct wish *w, bool is_ring)
{
    struct ring_terms *t = &w->terms;

    if (!take_number(w->cap, &t->has_cap, &t->cap) ||
        !take_number(w->quorum, &t->has_quorum, &t->quorum) ||
        !take_number(w->records, &t->has_records, &t->records_per_day)) {
        return peer_cmd_usage("--cap, --quorum and --records-per-day: a number");
    }
    t->has_kind = w->kind != NULL;
    if (t->has_kind && !ring_kind_by_name(slice_str(w->kind), &t->kind)) {
        return peer_cmd_usage(peer_kind_usage);
    }
    if (is_ring ? t->address != NULL : t->has_quorum || t->has_kind) {
        return peer_cmd_usage(is_ring
                                  ? "--address is a member's: set NAME"
                                  : "--kind and --quorum are the ring's: set --ring");
    }
    if (t->address == NULL && !t->has_cap && !t->has_quorum && !t->has_records &&
        !t->has_kind) {
        return peer_cmd_usage(is_ring ? "set --ring to what"
                                      : "set what of the member: --address HOST:PORT "
                                        "(none: it has none), --cap N or "
                                        "--records-per-day N (0: as the ring's)");
    }
    if (t->address != NULL && strcmp(t->address, "none") == 0) {
        t->address = "";
    }
    return 0;
}

static int set(struct cli *cli, struct ring_terms *terms)
{
    struct errinfo why = {.code = ERR_OK};
    struct peer_hold hold;
    struct identity self;
    struct manifest m = {.version = 0};
    struct ring_outcome o = {.version = 0};
    char what[WHAT_MAX];
    int status = peer_hold_take(cli, false, &hold);

    if (status == 0) {
        status = peer_load(hold.dir, &self, &m);
    }
    if (status == 0) {
        identity_wipe(&self);
        (void)snprintf(what, sizeof(what), "The terms of %.64s change",
                       terms->name != NULL ? terms->name : "the ring");
        if (peer_change(&hold, ring_edit_terms, terms, &m, &o, &why) == ERR_OK) {
            peer_print_outcome(&o, hold.dir, what);
        } else {
            status = cli_fail(&why);
        }
    }
    manifest_fini(&m);
    peer_hold_drop(&hold);
    return status;
}

int peer_cmd_set(struct cli *cli, int argc, char **argv)
{
    struct wish w = {.cap = NULL};
    bool is_ring = false;
    const struct cli_option table[] = {
        {"--address", &w.terms.address, NULL, NULL},   {"--cap", &w.cap, NULL, NULL},
        {"--quorum", &w.quorum, NULL, NULL},           {"--kind", &w.kind, NULL, NULL},
        {"--records-per-day", &w.records, NULL, NULL}, {"--ring", NULL, &is_ring, NULL},
    };
    int status = cli_options(cli_command("peer"), table, LENGTH(table), &argc, argv);

    if (status == 0 && (is_ring ? argc != 1 : argc != 2)) {
        status = peer_cmd_usage("set NAME, or set --ring");
    }
    if (status == 0) {
        w.terms.name = is_ring ? NULL : argv[1];
        status = check_wish(&w, is_ring);
    }
    return status == 0 ? set(cli, &w.terms) : status;
}
