/* peer_set - `gillnet peer set`: the terms of one member, or of all, in the ring's manifest. */

#include "core/cli/peer_commands.h"

enum { WHAT_MAX = 128 };

/* 15 digits. */
static const uint64_t number_max = 999999999999999;

struct wish {
    const char *cap;
    const char *quorum;
    const char *records;
    const char *kind;
    struct ring_terms terms;
};

/* NULL: the option is not given. */
static bool take_number(const char *text, bool *retis_given, uint64_t *ret)
{
    *retis_given = text != NULL;
    *ret = 0;
    return text == NULL || slice_to_u64(slice_str(text), 10, number_max, ret);
}

static int check_wish(struct wish *w, bool is_ring)
{
    struct ring_terms *t = &w->terms;

    if (!take_number(w->cap, &t->has_cap, &t->cap) ||
        !take_number(w->quorum, &t->has_quorum, &t->quorum) ||
        !take_number(w->records, &t->has_records, &t->records_per_day)) {
        return cli_usage("peer", "--cap, --quorum and --records-per-day: a number");
    }
    t->has_kind = w->kind != NULL;
    if (t->has_kind && !ring_kind_by_name(slice_str(w->kind), &t->kind)) {
        return cli_usage("peer", peer_kind_usage);
    }
    if (is_ring ? t->address != NULL : t->has_quorum || t->has_kind) {
        return cli_usage("peer",
                         is_ring ? "--address is a member's: set NAME"
                                 : "--kind and --quorum are the ring's: set --ring");
    }
    if (t->address == NULL && !t->has_cap && !t->has_quorum && !t->has_records &&
        !t->has_kind) {
        return cli_usage("peer", is_ring
                                     ? "set --ring to what"
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
    struct peer_change c = PEER_CHANGE_NONE;
    char what[WHAT_MAX];
    int status = peer_change_begin(&c, cli);

    (void)snprintf(what, sizeof(what), "The terms of %.64s change",
                   terms->name != NULL ? terms->name : "the ring");
    THEN(status, peer_change_make(&c, ring_edit_terms, terms, what));
    peer_change_end(&c);
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
        status = cli_usage("peer", "set NAME, or set --ring");
    }
    if (status == 0) {
        w.terms.name = is_ring ? NULL : argv[1];
        status = check_wish(&w, is_ring);
    }
    return status == 0 ? set(cli, &w.terms) : status;
}
